// What decisions.md promises of the way back to the shop: §13.

export const wayBack = {
  source: 'decisions: §13',
  sentences: {
    'return-hosts': 'buyers are led only to https addresses on hosts that the account lists',
    'return-checked-again': 'a host that is taken off the list is led to no more, from older invoices too',
    'return-private': 'where buyers return to is shown to the owner alone until the payment has ended',
    'return-signature': 'a return carries the invoice, its status and a signature that the shop verifies',
    'return-buttons': 'every end of a pay page has a button back to the shop',
    'return-automatic':
      'return_automatically leads on after 5 s, without scripts too, in no frame, and only soon after the end',
    'pictures-stored':
      'pictures are uploaded as data, checked by their bytes and served from here; none is fetched',
    'receipt-page': 'a paid invoice has a receipt with what concerns its buyer, and nothing else',
    'receipt-mail': 'customer_email gets one receipt when the invoice is confirmed, and is then forgotten',
    'explorer-links': 'hashes and addresses of ended payments link to an explorer, which the settings choose',
    'unit-listed': 'search engines and the sitemap have the page of a unit only where its merchant lists it',
    'unit-card':
      'Messengers show a unit by its own picture, or else by a card with its price, its names and the code of its page',
    'landing-page': '/ says what this is and whether it works, as a page or as JSON',
    'words-apart':
      'words of merchants and buyers stand apart from ours on pages and in mails: they turn nothing around',
    'ignored-fields': 'X-Ignored-Fields names what a request carries in vain, on every endpoint',
  },
} as const;
