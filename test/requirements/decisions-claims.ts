// What decisions.md promises of payers' own claims.
export const claims = {
  source: 'decisions: §15',
  sentences: {
    'claim-answers':
      'A payer may claim to have paid, with a transaction or without: the chain is read at once, and the answer says in a closed set of words what was found, why it counts for nothing, or that the chain cannot be asked now',
    'claim-shows-own':
      "A claim shows nothing of another's money: what is matched to or booked for another invoice, was made before this one, or paid another address, is not found",
    'claim-books-nothing':
      'A claim books and matches nothing: what it finds unread is stored as reading would have it, never dated earlier than reading has proved, and goes to whichever invoice it pays by the usual rules',
    'claim-reads':
      'What is looked up for a claim or for resolve is stored as seen, in no block, by whatever word of one provider; only a reading confirms it, where its block stands on the chain that was read, what is read otherwise than it was stated is stored as it is read and the statement is gone, and what the provider that is read has not had for a day is given up',
    'claim-listed':
      'Shop and operator list what is claimed; the claimed invoices come first among those that a payment could mean, and its log has one line for each, by the buyer',
    'claim-limits':
      'Claims are limited for each address, invoice and blockchain over all daemons, one at a time for an invoice; at most 20 are stored for it, and what can be no transaction asks no one',
    'claim-former-coin':
      'A claim finds what was paid for a coin that the invoice asked for before, and speaks of it in that coin; it counts once for each of its blockchains',
    'claim-page':
      'The page of an ended or stuck payment has a small form for it, in every language, with scripts and without',
    'form-refused':
      'A browser whose form is refused gets a page in its language that leads back, with the status and headers of the refusal; a program gets the refusal',
  },
} as const;
