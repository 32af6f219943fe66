// What decisions.md promises of money under enemies, faulty providers and crashes: §12.

export const times = {
  source: 'decisions: §12',
  sentences: {
    'time-interval':
      'a transfer pays where its interval meets created_at to expires_at, by memo and amount alike',
    'time-replacement': 'a replacement of the same inputs to the same script keeps the interval',
    'time-propagation': 'on chains with a mempool 30 s of propagation are taken off the early bound',
    'clock-alert': 'a clock over 30 s off raises an alert, and nothing ends while it lasts',
    'clock-offset': 'times of the chain are compared through the measured offset of our clock',
  },
} as const;

export const proofs = {
  source: 'decisions: §12',
  sentences: {
    'end-proved': 'an invoice ends only when its own account is proved read past its end',
    'gone-needs-proof':
      'a payment is orphaned by a conflicting spend or an expired blockhash, never by absence',
    'grace-in-log': 'what ends by the outer bound of 24 h says so in its log',
    'asset-unreadable': 'an asset that cannot be read holds its invoices open and refuses new ones',
    'account-own-trouble': 'one account’s trouble delays no other account, nor any confirmation',
    'question-no-outage':
      'what a provider cannot answer about one account or question counts against no provider, and holds up no other question',
    'refusals-known':
      'a provider’s refusal is taken for what it speaks of; what it answered of a batch stands, and what it takes at once is learnt',
    'lone-operator':
      'the start and gatewayd doctor name blockchains that are read from public providers of one operator alone',
    'answers-bounded':
      'an answer that is too large, or counts falsely, costs a bounded time; what makes reading it throw is a failure of who gave it, and the next provider is asked',
    'answers-held':
      'an answer of a provider, however large, holds the thread that answers everyone for no longer than 50 ms',
    quorum: 'above quorum_above_usd two providers must agree, where two are configured',
    'confirmations-by-value': 'min_confirmations may be steps by value',
    'seconds-decide':
      'a payment counts by the age of its block in seconds where a gateway has them, whatever the pace of its chain; shown confirmations are complete then, and not before',
    'steps-by-default':
      'Litecoin waits for 3, 12 or 24 blocks by value, Base above 1,000 USD until its chain calls the block final; what the settings say of a gateway replaces both',
    'pace-warning':
      'a pace that differs from the usual one by over 30 % is notified of once, shown in doctor and observers, and stops nothing',
    'depth-warning':
      'where the settings count blocks that take less time than is usual on their chain, doctor, observers and notify say so, with what to set',
    'usual-measured': 'what pages say of the usual time follows from the measured pace',
    'upgrades-known':
      'doctor says which announced upgrades of the chains this build knows, and warns of those that are near',
    'urls-failover': 'blockchains.<id>.urls is a list, and the next one takes over',
    'pace-own-url': 'own URLs start at 50 requests per second and adapt to 429',
  },
} as const;

export const claims = {
  source: 'decisions: §12',
  sentences: {
    'amount-nearest':
      'a unique amount is the nearest free step above the price where an account asks for itself at an address that it alone has, or where it sells most',
    'amount-drawn':
      'a unique amount is drawn by chance where someone else may choose it: for refills, for what buyers ask for or change, and at an address that is another account’s too',
    'amount-before':
      'what was on its way before an invoice was asked for does not pay it, on chains without a pool to read either',
    'amount-quota':
      'before a confirmed sale 20 reservations, an anonymous caller 5 per unit without those cancelled before anything was seen, 10 with them',
    'host-once': 'a request with two Host headers is 400',
    'amount-quota-refills': 'refills have a quota of their own: unpaid sales refuse none',
    'buyer-same-invoice':
      'one open, undetected invoice of the same buyer, unit, coin and price is shown again, also to two requests at once',
    'retry-true': 'Retry-After and the sentence on the page say when an unpaid amount is given back',
    'amount-given-back': 'unpaid and cancelled amounts are given back soon, sooner where a quota is used up',
    'address-shared': 'an address may serve several accounts, and gives none power over another',
    'final-left':
      'blocks that a chain had called final and that leave it are listed; nothing booked is taken back',
    'booked-left':
      'a booked payment whose block leaves the chain is listed at once; that is closed when it is in a block again, or gone',
    'wallet-warned':
      'an address that runs code is taken as a wallet, with a warning in the reply, on every blockchain that it is set on',
    'address-no-wallet': 'a jetton wallet, token account or mint is refused as a wallet',
    'resolve-unchanged':
      'a resolve that changes nothing writes nothing into the log, and gw says so with the txid that was named',
    'resolve-looks-up':
      'resolve confirm looks the transaction up; else 409 transaction_unknown, or force with a note',
    'refill-events': 'events and webhooks of refills say kind refill, and are sent only where asked for',
  },
} as const;

export const books = {
  source: 'decisions: §12',
  sentences: {
    'ledger-keyed': 'who can write the database cannot write history: the hash chain of the ledger is keyed',
    'laws-in-schema': 'the database itself refuses what the laws of the books forbid, for every writer',
    'events-never-overtaken': 'no reader of a feed of events can overtake an event that commits later',
    'idempotency-after-kill': 'after kill -9 a repeated Idempotency-Key is answered at once, or with when',
    'one-lock-order': 'all writers lock merchant, then invoice, then transfers',
    'verify-laws': 'gatewayd verify finds each law that is broken, by its number',
    'verify-chain': 'gatewayd verify --chain holds the books against what the chain has',
  },
} as const;

export const agreements = {
  source: 'decisions: §12',
  sentences: {
    'rates-two-agree': 'a coin price needs two agreeing sources where two or more are configured',
    'rates-jump': 'a jump beyond 20 % in a minute needs a third source',
  },
} as const;
