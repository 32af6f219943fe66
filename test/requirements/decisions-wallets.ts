// What decisions.md promises of payments that the payer's wallet signs: §17.

export const wallets = {
  source: 'decisions: §17',
  sentences: {
    'compose-pays':
      "what the daemon makes for the payer's wallet pays the invoice when it is signed and sent, in every asset whose wallets take it",
    'compose-unsigned': 'the daemon signs nothing: the payer pays the fee and is the only one who signs',
    'compose-alone':
      "a payment for a wallet to sign holds memo, transfer and reference, and nothing else but the shop's token account where it is missing",
    'compose-payer':
      'who is no wallet, is the shop itself or has too little is refused with the reason, before a wallet is asked',
    'compose-missing':
      'it asks for what is missing now; where nothing is to be paid it is refused, saying whether the invoice has ended or is paid',
    'compose-limits':
      'payments for wallets to sign are limited by address, and by blockchain over all callers and daemons; those that use them up leave others theirs',
    'compose-lapsed':
      'a payment for a wallet to sign says for how long the network takes it; where the wallet took longer it is made again on the page, which says why, after what may have been sent would be seen',
    'transaction-request':
      'a transaction request is offered only where wallets reach it by https; the code stays a transfer request',
    'found-wallets':
      'a page on our own site offers the wallets of its browser that pay on the network of the invoice, and hands them exactly what the daemon made',
    'found-words':
      'what became of it is shown in words: not confirmed, another network, too little, failed, sent; what is sent is not sent again, not after a reload either',
    'found-foreign':
      'names and icons of wallets are text and pictures in themselves: nothing of theirs runs or is loaded, and a wallet that cannot be read keeps no other from being offered',
    'wallet-manifest':
      'wallets read name and icon of the operator from one manifest of our own, the same for all invoices',
  },
} as const;
