// What decisions.md promises of amounts, the prepaid limit, states, matching, addresses and rates: §1 to §4, §7, §8.

export const words = {
  source: 'decisions: §1',
  sentences: {
    'gateway-off':
      'a gateway may be off until gateways.<id>.enabled is true; nothing is read for one that is off and that no invoice waits for',
    'custom-gateways':
      'custom_blockchains and custom_gateways add EVM networks and further tokens by settings alone, on unless switched off; none replaces what is built in, and one contract has one gateway',
    'custom-checked':
      'the chain id and the decimals of what the settings add are asked of the chain; while they differ nothing is sold and nothing matched',
    'custom-removed':
      'a start is refused while an invoice may still be paid through a gateway that the settings no longer name, or name as another asset',
    'gateway-ids':
      'a gateway is one asset on one blockchain; coins have its name, tokens <blockchain>-<symbol>',
    'currency-entries':
      'a currency entry is a gateway id or a ticker in any case; a ticker means all its gateways',
    'currency-entries-echo': 'entries are validated, deduplicated and echoed as sent; null means all',
    'money-integers': 'USD is integer micros and coins integer atomic units, exact beyond 64 bits',
    'money-wire': 'the wire carries decimal strings without exponent',
    'money-input':
      'amounts are JSON numbers or plain decimals; exponent, _, other digits, NaN, 10+ digits are 422',
    'money-usd-nearest':
      'a USD amount is rounded to the nearest millionth when it is read, and one in coins to the nearest billionth, by its decimal text; what is nothing then is refused',
    'money-rounds-up': 'the buyer’s amount rounds up to the payable precision',
    'money-sum': 'amount = amount_merchant + amount_fee exactly',
    'rate-frozen': 'the rate is frozen in the invoice at creation',
  },
} as const;

export const limit = {
  source: 'decisions: §2',
  sentences: {
    'ledger-double-entry': 'the prepaid balance is the fold of a double-entry ledger',
    'ledger-append-only': 'the database refuses to change or delete an entry',
    'ledger-hash-chain': 'each entry holds the hash of the one before, so that tampering is found',
    'limit-is-prepaid-times-100': 'limit_of_payments = prepaid × 100; a volume V lowers it by V',
    'refill-no-fee': 'a refill has no fee and no income record',
    'income-fee-charged': 'fee_charged of the income record is the fee in USD',
    'platform-invoices-free': 'invoices of the platform key have neither limit nor fee',
    'balances-list': 'balances are the prepaid USD balance and the confirmed income per currency',
    'limit-never-negative': 'the balance never falls below zero, however many confirm at once',
    'limit-held': 'a confirmed transfer over the limit leaves the invoice created and its payment held',
    'limit-402-body': 'the 402 says detail, code limit_exhausted, required_usd, remaining_usd and refill',
    'limit-held-books': 'credit or refill books held payments automatically, oldest first',
    'limit-starts-zero': 'a new merchant starts with limit 0',
    'simulate-demo-credit':
      'simulate is never refused for the limit: what lacks is a demo_credit entry first',
    'limit-noted': 'a sale above the limit is an event of the merchant before anyone pays, once an hour',
    'limit-policy': 'limit_policy refuse answers 402 to a sale above the limit; hold, the default, makes it',
    'limit-not-for-buyers': 'no buyer reads of limits or refills, on pages and in refusals alike',
    'house-free': 'a merchant of the house sells without limit and fee, and its account says so',
    'house-operator-only': 'only the operator marks a merchant of the house; no merchant marks itself',
    'house-mark-books': 'marking a merchant of the house books what the limit held, oldest first',
    'house-unmarked': 'without the mark open invoices need the limit again, and what is booked stays',
  },
} as const;

export const payments = {
  source: 'decisions: §3',
  sentences: {
    'one-door': 'observer, check, simulate, cancel and resolve pass through one decision and one transaction',
    'exactly-once': 'a payment books once: one fee, one income, one confirmed event, by unique keys',
    'settled-filter': 'settled is accepted as a filter for confirmed and never stored',
    'payment-statuses': 'payments are detected, confirming, held, confirmed, orphaned, late or unmatched',
    'payment-log':
      'every change of a payment is a log row of from, to, txid, confirmations, note, actor, time',
    'amount-match': 'amount_match is none, exact, over or under',
    'sum-of-transfers': 'transfers to one memo add up; final money of at least the amount confirms',
    underpaid: 'less stays created with under and received_amount',
    overpaid: 'more is confirmed with over',
    'ton-txid': 'the txid of TON is the hex hash of the transaction on the receiving account',
    'expire-not-while-paid':
      'an invoice paid in time waits past expiry for confirmations or limit, at most 24 h',
    'expire-not-while-blind':
      'nothing expires that could have been paid while its provider was away, at most 24 h',
    'expire-before-limit': 'expiry is judged before the limit',
    'watch-24h': 'addresses stay watched 24 h after an invoice ends',
    'late-listed': 'a transfer for an ended invoice is a late payment, never booked automatically',
    'unmatched-listed': 'a transfer that matches nothing is an unmatched payment, never booked automatically',
    'address-sum': 'for each watched address: sum on chain = matched + late + unmatched + dust',
    'dust-counted':
      'a transfer below a cent, and below all that open invoices at its address ask for, that names no invoice by memo, reference or amount is counted by address and day, and is neither listed nor notified of; so is what is below a cent and names an invoice that 100 transfers name already, and a look-alike is in no sum',
    'dust-once':
      'dust is counted once however often and by however many daemons it is read, no more once it left the chain or an operator gave it to an invoice',
    'dust-shown':
      'operators read the sums of dust by blockchain, merchants those of addresses that are theirs alone',
    'page-slices':
      'a page of any length is stored in transactions of a bounded number of rows, and whatever interrupts it between two of them leaves what the next reading corrects',
    'unapplied-to-operator': 'late and unmatched payments are listed to the operator, who can resolve',
    'cancel-detected-409': 'cancel of an invoice with a detected transfer is 409',
    'ended-simulate': 'simulate of a confirmed invoice returns it, of another ended one is 409',
    'ended-check': 'check of an ended invoice returns it unchanged',
    'ended-cancel': 'cancel of a cancelled invoice returns it, of another ended one is 409',
    'check-paced':
      'a check that cannot have the chain read in time answers what is known, while others read or the provider takes no more; 503 is for one that is down',
    'resolve-recheck': 'recheck polls now',
    'resolve-end': 'expire and fail end a created, failed or expired invoice',
    'resolve-confirm':
      'confirm books from any state but confirmed, which it returns unchanged; txid is recorded',
    'output-books-once': 'one transaction output books once, ever',
    'resolve-pays-fee': 'resolve bypasses neither fee, limit nor the log',
    'vanished-alert': 'a confirmed transaction that vanishes is an alert and a log row; no money goes back',
  },
} as const;

export const matching = {
  source: 'decisions: §4',
  sentences: {
    'memo-exact': 'a memo matches exactly, after trimming',
    'memo-form': 'a memo is memo_length (10) characters of an unambiguous upper-case alphabet',
    'memo-unique': 'a memo is unique per address for ever',
    'memo-plain-price': 'with a memo the amount is the plain price',
    'memo-unknown':
      'no memo or an unknown one is unmatched, with the open invoices it could mean; never guessed',
    'amount-unique': 'without memo the amount is unique per address and asset over open and watched invoices',
    'amount-tail':
      'the tail is the smallest steps wallets keep, zero where free, at most 1 %, the merchant’s',
    'amount-none-left': 'when no amount is free the answer is 409 and says so',
    'amount-exact-only': 'the closest amount never matches',
    'amount-setting': 'unique_amount turns the same on for a memo chain, besides the memo',
    'solana-reference': 'a Solana transfer that carries the invoice’s reference matches without memo',
    'assets-ton':
      'on TON only genuine coins and jettons count: forged, foreign, bounced and aborted ones do not',
    'assets-solana':
      'on Solana only what the wallet gained in the listed mint counts, final and without error',
    'assets-utxo':
      'on UTXO chains outputs count once each; replaced, double-spent, reorganised, coinbase do not',
  },
} as const;

export const addresses = {
  source: 'decisions: §7',
  sentences: {
    'wallet-validated': 'wallets are validated per blockchain and network with their checksums',
    'wallet-entry':
      'an entry is blockchain, blockchain_name, address, network, currencies, updated_at; plus missing',
    'wallet-everywhere':
      'with everywhere an address is set on all enabled blockchains that have the same addresses, or on none',
    'deployment-wallets':
      'deployment wallets come from the configuration and are edited by the operator; "" removes',
    'no-signing': 'no private key, seed or signing code is in the product',
    'exits-documented':
      'exits hold only links that wallets document, keyed wallet, web, tg or by the name of a wallet',
    'look-alikes':
      'a token that is easily taken for another is listed with that reason, and neither matched nor added to a sum',
    'wrong-network':
      'what is sent on another enabled network that has the same addresses is listed for whom it was meant, and books nothing',
    'unmatched-notified':
      'a payment that matches nothing is reported to the operator and to whose invoice asked for exactly it elsewhere, else to who alone has the address on all its networks, else to no one',
    'direct-only':
      'where payments that contracts make cannot be seen, gateways say direct_only and pages advise the payer in every language',
    'coin-by-balance':
      'a coin that no log shows is found in whole blocks or by balances; an increase that no transaction explains is listed with its block, and matches nothing',
    'coin-passing':
      'what a wallet gets in a coin that balances tell of, and passes on at once, is found in blocks before an invoice of it ends, or the invoice waits',
    'pace-seconds':
      'what protects money is seconds of the chain’s own time: a payment is as old when it counts whatever blocks take',
    'pace-cost':
      'reading costs no more requests where blocks are faster, and after an outage payments are caught up with at any size of batch',
    'coin-final-balance':
      'where balances are known of final blocks alone, each is held against what those blocks show, and what two looks find beyond that is listed with its blocks, once and to the last unit',
    'coin-apart':
      'what fails in reading a coin holds up no token of its blockchain: the coin counts as unreadable until it is read as far',
    'code-address':
      'where wallets could misread a payment link, its code is the address alone, and pages and terminals say so, with network and amount',
    'exits-answer':
      'exits answer url, links, address, amount, memo, chain, currency for every chain; url may be null',
    'refill-belongs': 'a merchant’s key reads, checks and simulates its refill invoices',
    'unit-available': 'available_currencies are the ids of the enabled gateways',
    'unit-before-wallet': 'units may be made before wallets; then checkout refuses',
    'refuse-unknown-chain': 'an unknown or disabled chain is 400 unknown_chain',
    'refuse-chain-not-accepted': 'a chain that the unit does not accept is 400 chain_not_accepted',
    'refuse-no-wallet': 'no wallet is 400 no_wallet and names the blockchain',
    'refuse-inactive': 'an inactive unit or account is 403',
    'refuse-no-rate': 'no fresh rate is 503',
    'refuse-unit-limit': 'a fourth unit is 403 unit_limit',
  },
} as const;

export const rates = {
  source: 'decisions: §8',
  sentences: {
    'rates-median': 'rates are the median of three or more keyless sources, refreshed every 60 s',
    'rates-outliers': 'quotes over 3 % off are dropped',
    'rates-alias': 'one source alone is never trusted for an aliased ticker',
    'rates-stale': 'a rate over 5 minutes old refuses creation with 503 and Retry-After',
    'rates-pegs': 'stablecoins are 1:1 unless the sources say that the peg is off by over 1 %',
    'rates-fixed': 'rates.source fixed takes figures from the configuration',
    'rates-demo': 'a demo that reaches no source uses built-in rates and says so',
  },
} as const;
