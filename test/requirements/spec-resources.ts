// What spec.md promises of the service as a whole, of the resources and their fields, and of an invoice's states.

export const service = {
  source: 'spec: What the service does',
  sentences: {
    'service-own-wallet': 'buyers pay into the merchant’s own wallet, one address per blockchain',
    'service-invoice-shows': 'an invoice shows address, memo, amount and expiry',
    'service-match': 'the chain is watched and transfers are matched by memo and amount',
    'service-prepaid': 'a paid refill of S adds S × 100 to limit_of_payments',
    'service-fee': 'each confirmed payment debits the platform fee of 1 % from the prepaid balance',
    'service-limit-402': 'below the invoice volume the check endpoint answers 402',
    'service-surcharge': 'the service fee percent, 0 by default, is added to the payer’s total',
    'service-network-named': 'fiat is USD, and the public config names network and demo mode',
    'service-simulate-demo-only': 'simulate is allowed only on testnet with demo mode on',
    'service-agents': 'a program with plain HTTP gets from sign-up to a settled invoice; no CAPTCHA',
    'service-refill-wait': 'refills wait 5 minutes on TON and Solana, 1 hour on Bitcoin',
  },
} as const;

export const resources = {
  source: 'spec: Resources and their fields',
  sentences: {
    'res-decimal-string':
      'a decimal string has an optional sign, digits and at most one point, and a digit at all',
    'res-unix-seconds': 'created_at, expires_at and paid_at of invoices and income are integer Unix seconds',
    'res-invoice': 'InvoicePublic has every field of its table with its type; optional ones may be absent',
    'res-invoice-defaults': 'a new invoice has amount_match none, 0 confirmations, and ask_donation false',
    'res-invoice-urls': 'pay_url, embed_url, page_url, div_url, qr_url and qr_png_url lead to buyer pages',
    'res-payment': 'a payment has status, txid, confirmations, received_amount, amount_match and a log',
    'res-gateway': 'GatewayPublic has every field of its table',
    'res-gateway-groups': 'gateways are also grouped by blockchain: id, name, logo_url, network, currencies',
    'res-gateways-answer':
      'GatewaysResponse has data, groups, count, network, service_fee_percent, default_fiat, usd_precision, memo_length',
    'res-account': 'MerchantAccountPublic has every field of its table, the merchant key among them',
    'res-balance': 'a balance is a currency and an amount, both strings',
    'res-income': 'an income record has every field of its list, in pages of data, count, skip, limit',
    'res-unit':
      'a unit shows title, description, price, currencies, wait time, page and embed URLs, surfaces',
    'res-unit-list': 'the unit list has units, max_payment_units, available_currencies and the wait window',
    'res-wallet': 'a merchant has one receive wallet per blockchain',
    'res-user': 'UserPublic has its fields; source is read-only',
    'res-users': 'UsersPublic has data and count',
    'res-message': 'Message is {message}',
    'res-token': 'Token is access_token and token_type bearer',
    'res-identity': 'IdentityDetectResponse is identity and source',
  },
} as const;

export const states = {
  source: 'spec: States and transitions',
  sentences: {
    'state-created': 'created is the state of a new invoice',
    'state-terminal': 'confirmed, expired, cancelled and failed are terminal: observation moves none of them',
    'state-cancel': 'created → cancelled by a public cancel; observation stops',
    'state-confirm': 'created → confirmed when the payment is seen on-chain and the limit covers the volume',
    'state-confirm-effects': 'confirming fires the webhook, debits the fee and creates the income record',
    'state-confirm-by-check': 'the observer’s cadence and /check confirm alike',
    'state-expire': 'created → expired when expires_at is reached without payment',
    'state-simulate': 'simulate runs the real settlement: confirmed, fee debit, webhook',
    'state-resolve': 'an operator resolves by recheck, expire, fail or confirm',
    'state-settled-word': 'a confirmed invoice is confirmed; settled is its synonym',
  },
} as const;
