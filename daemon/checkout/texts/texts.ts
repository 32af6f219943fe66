// What pages and mails say: every sentence by name, the same in each language.

/** `{names}` are filled in. Sentences end with a full stop, labels and buttons do not. */
export interface Texts {
  pay_to: string;
  refill_title: string;
  direct: string;

  waiting: string;
  waiting_text: string;
  closing: string;
  closing_text: string;
  seen: string;
  seen_text: string;
  orphaned: string;
  orphaned_text: string;
  underpaid: string;
  underpaid_text: string;
  processing: string;
  processing_text: string;
  confirmed: string;
  confirmed_text: string;
  overpaid: string;
  overpaid_text: string;
  expired: string;
  expired_text: string;
  cancelled: string;
  cancelled_text: string;
  failed: string;
  failed_text: string;
  late: string;
  late_text: string;
  incomplete: string;
  incomplete_text: string;
  already_sent: string;

  help: string;
  amount: string;
  rest: string;
  received: string;
  address: string;
  memo: string;
  network: string;
  order: string;
  rate: string;
  fee: string;
  transaction: string;
  paid_at: string;
  confirmations: string;
  time_left: string;
  pay_before: string;
  minute_left: string;

  warn_memo: string;
  warn_exact: string;
  warn_network: string;
  warn_direct: string;
  compare: string;
  testnet: string;
  demo_rate: string;

  copy: string;
  copied: string;
  selected: string;
  copy_what: string;
  open_wallet: string;
  wallet_hint: string;
  scan: string;
  scan_address: string;
  qr_alt: string;
  qr_rest: string;
  qr_address: string;
  cancel: string;
  cancel_sure: string;
  cancel_yes: string;
  print: string;
  receipt: string;
  refreshes: string;
  offline: string;
  blind: string;
  simulate_only: string;
  again: string;

  /** The way back, the receipt, and the first page. */
  return_to: string;
  return_soon: string;
  stay: string;
  explorer: string;
  receipt_number: string;
  receipt_from: string;
  receipt_mail: string;
  item: string;
  total: string;
  landing_text: string;
  landing_buyer: string;
  landing_up: string;
  landing_down: string;
  landing_docs: string;
  landing_reference: string;
  landing_agents: string;
  /** The step where the buyer pays. */
  pay_with: string;
  wallet_confirm: string;
  wallet_again: string;
  wallet_sent: string;
  wallet_declined: string;
  wallet_network: string;
  wallet_cannot: string;
  wallet_failed: string;
  formerly: string;
  other_wallets: string;
  by_hand: string;
  usual_time: string;
  time_second: string;
  time_seconds: string;
  time_minute: string;
  time_minutes: string;
  time_range: string;
  fee_about: string;
  no_rate: string;
  another_way: string;
  another_sent: string;
  another_back: string;
  rest_code: string;
  open_page: string;
  close: string;

  choose: string;
  inactive: string;
  unavailable: string;
  only_simulated: string;
  no_coins: string;
  try_another: string;
  try_later: string;
  /** Where it is known when: `{time}` is such as “in 14 minutes”. */
  try_then: string;
  too_many_open: string;
  not_found: string;
  not_found_text: string;
  withheld_text: string;

  /** The page and the mail that set a new password. */
  password_title: string;
  password_label: string;
  password_save: string;
  password_done: string;
  password_length: string;
  password_invalid: string;
  password_scripts: string;
  recovery_asked: string;
  recovery_valid: string;
  recovery_ignore: string;
  /** The page and the mail that prove an address; the page says of its link what the one of a password says. */
  email_title: string;
  email_text: string;
  email_confirm: string;
  email_done: string;
  email_asked: string;
  email_ignore: string;
  /** The mail that says that a way in has changed: to what, and what to do. */
  changed_title: string;
  changed_email: string;
  changed_password: string;
  changed_key: string;
  changed_alarm: string;
  test_mail_title: string;
  test_mail_text: string;

  /** The form of a payer who has paid and is not seen, and what was found of it. */
  claim_open: string;
  claim_hint: string;
  claim_label: string;
  claim_check: string;
  claim_partial: string;
  claim_late: string;
  claim_unmatched: string;
  claim_memo_missing: string;
  claim_memo_other: string;
  claim_other_asset: string;
  claim_other_network: string;
  claim_look_alike: string;
  claim_amount_differs: string;
  claim_unclear: string;
  claim_noted: string;
  claim_nothing: string;
  claim_not_found: string;
  claim_not_an_id: string;
  claim_not_readable: string;
}
