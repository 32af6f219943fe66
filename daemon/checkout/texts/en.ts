// English.
import type { Texts } from './texts.ts';

export const en: Texts = {
  pay_to: 'Payment to {merchant}',
  refill_title: 'Prepaid limit top-up',
  direct: 'You pay {merchant} directly, from your wallet to theirs. No one holds the money in between.',

  waiting: 'Waiting for your payment',
  waiting_text:
    'Send the amount below before the time is up. This page updates automatically when your payment arrives.',
  closing: 'Time is up',
  closing_text:
    'Do not send anything now. We are still checking whether a payment you sent in time is on its way.',
  seen: 'Payment detected',
  seen_text:
    'Your transaction has arrived and is being confirmed. There is nothing more you need to do: you can close this page.',
  orphaned: 'Your transaction disappeared',
  orphaned_text:
    'The network dropped or replaced it. Check your wallet: if the money is still there, pay again.',
  underpaid: 'Not fully paid yet',
  underpaid_text:
    '{received} has arrived, but {due} is still due. Send the rest to the same address before the time is up.',
  processing: 'Payment received, being processed',
  processing_text:
    'Your money is safe. Do not pay again: your payment will be confirmed automatically, and this page will show it.',
  confirmed: 'Paid',
  confirmed_text: '{merchant} has received your payment. You can keep this page as your receipt.',
  overpaid: 'Paid, but you sent too much',
  overpaid_text:
    '{merchant} has received your payment. You sent {extra} more than was due: ask {merchant} to return the difference.',
  expired: 'Time has run out',
  expired_text:
    'No payment arrived in time. Do not send anything to this address anymore. If you still want to pay, go back to {merchant} and start a new payment.',
  cancelled: 'Payment cancelled',
  cancelled_text:
    'Do not send anything to this address anymore. If you still want to buy, go back to {merchant} and start a new payment.',
  failed: 'Payment failed',
  failed_text:
    'This payment could not be completed. Do not send anything to this address anymore. If you still want to pay, go back to {merchant} and start a new payment.',
  late: 'Your payment came too late',
  late_text:
    '{received} arrived after this payment had ended, so it was not credited. It is not lost: ask {merchant} to accept or return it.',
  incomplete: 'Not fully paid in time',
  incomplete_text:
    'Only {received} of {amount} arrived in time, so this payment was not completed. The money is not lost: ask {merchant} how to complete the payment, or ask for the money back.',
  already_sent:
    'If you have already sent money, it is not lost: it goes straight to {merchant}. Ask them about it.',

  help: 'Questions? Contact {merchant} and quote this payment number:',
  amount: 'Amount',
  rest: 'Still due',
  received: 'Received',
  address: 'Address',
  memo: 'Memo (comment)',
  network: 'Network',
  order: 'Order',
  rate: 'Exchange rate',
  fee: 'Service fee, included',
  transaction: 'Transaction',
  paid_at: 'Paid on',
  confirmations: '{n} of {m} confirmations',
  time_left: 'Time left',
  pay_before: 'Pay before {time}',
  minute_left: 'Less than a minute left',

  warn_memo: 'Add this memo to your payment. Without it, no one can tell that the money is yours.',
  warn_exact: 'Send exactly this amount: it identifies your payment. Network fees are extra.',
  warn_network: 'Send only {currency} on the {network} network. Anything else may be lost.',
  warn_direct:
    'Pay {currency} from your own wallet: payments from exchanges and smart contract wallets may not be recognized.',
  compare: 'Before you confirm, check that the bold characters match the address shown in your wallet.',
  testnet: 'Test network: coins here have no value.',
  demo_rate: 'Demo exchange rate, not a market price.',

  copy: 'Copy',
  copied: 'Copied',
  selected: 'Selected: now copy it',
  copy_what: 'Copy: {what}',
  open_wallet: 'Open in wallet app',
  open_in: 'Open in {wallet}',
  open_paste: 'Open {wallet}, then paste',
  wallet_hint: 'Nothing opened? Scan the code, or copy the details into your wallet.',
  scan: 'Scan with your wallet',
  scan_address:
    'The code holds only the address. Enter the rest yourself: {amount} on the {network} network.',
  qr_alt: 'QR code with all payment details',
  qr_rest: 'QR code for the remaining amount',
  qr_address: 'QR code of the address',
  cancel: 'Cancel payment',
  cancel_sure: 'Cancel only if you have not sent anything. This cannot be undone.',
  cancel_yes: 'Yes, cancel this payment',
  print: 'Print receipt',
  receipt: 'Receipt',
  refreshes: 'This page refreshes automatically every {n} seconds.',
  offline: 'No connection. Trying again…',
  blind:
    'We can’t see the {network} network right now. What you have sent is not lost: it is recognized as soon as we can see the network again.',
  simulate_only:
    'Simulate only: the {network} network cannot be seen right now. Do not send anything: it would not be noticed in time.',
  again: 'Start a new payment',

  choose: 'How do you want to pay?',
  inactive: 'This offer is currently not available.',
  unavailable: 'Not available right now',
  only_simulated: 'Simulate only',
  no_coins: 'No payment method is available at the moment. Please come back later.',
  try_another: 'You cannot pay with this currency right now. Please choose another one.',
  try_later: 'Something went wrong. Please try again in a minute.',
  not_found: 'Not found',
  not_found_text: 'There is nothing at this address. Please check the link you were given.',

  password_title: 'Set a new password',
  password_label: 'New password',
  password_save: 'Save password',
  password_done: 'Your password has been changed. You can sign in with it now.',
  password_length: 'The password must be {min} to {max} characters long.',
  password_invalid: 'This link has expired or has already been used. Ask for a new one.',
  password_scripts: 'This page needs JavaScript. Turn it on and reload the page.',
  recovery_asked: 'Someone, probably you, asked for a new password for the account {email} at {site}.',
  recovery_valid: 'The link works once and expires after {n} hours.',
  recovery_ignore: 'If it was not you, ignore this email: your password stays as it is.',
  email_title: 'Confirm your email address',
  email_text: 'Press the button to confirm that this email address is yours.',
  email_confirm: 'Confirm',
  email_done: 'Your email address is confirmed.',
  email_asked: 'Someone, probably you, gave {email} as the address of an account at {site}.',
  email_ignore: 'If it was not you, ignore this email: the address will not be used.',
  test_mail_title: 'Test email',
  test_mail_text: 'This email was sent by the payment gateway at {site}. Sending email works.',

  claim_open: 'I have already paid',
  claim_hint:
    'We check the network right away. If you add the transaction ID from your wallet, we can find your payment even without its memo.',
  claim_label: 'Transaction ID (optional)',
  claim_check: 'Check now',
  claim_partial: '{amount} arrived on {time}. That is less than was asked for.',
  claim_late: '{amount} arrived on {time}, after this payment had ended.',
  claim_unmatched: '{amount} arrived on {time}, but it could not be matched to this payment.',
  claim_memo_missing: 'The memo is missing.',
  claim_memo_other: 'It carries a different memo.',
  claim_other_asset: 'It is not the currency that was asked for.',
  claim_other_network: 'It was sent on a different network: {network}.',
  claim_look_alike: 'It is a different token with a similar name.',
  claim_amount_differs: 'The amount is not the one that was asked for.',
  claim_unclear: 'It is not clear which payment it was meant for.',
  claim_noted: '{merchant} has been informed. Contact them and quote the payment number on this page.',
  claim_nothing:
    'Nothing has arrived for this payment so far. If you have sent it, enter the transaction ID.',
  claim_not_found:
    'No such transaction was found for this payment. Check the ID in your wallet, or try again in a few minutes.',
  claim_not_an_id: 'This is not a transaction ID. Copy it from the payment details in your wallet.',
  claim_not_readable: 'We cannot check the network right now. Please try again in a few minutes.',
};
