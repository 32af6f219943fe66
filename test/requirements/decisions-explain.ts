// What decisions.md promises of explaining what became of anything, and of what waits for a merchant.
export const explaining = {
  source: 'decisions: §18',
  sentences: {
    'explain-anything':
      'An id or eight characters of it, an order, a memo, a transaction, an address, a mail address or a link that holds one is explained: one match with its story in time and the command that is next, several as a list, none with what was searched',
    'explain-own':
      "What is another's is explained to a merchant like what does not exist: the same answer after the same statements; an operator finds everything",
    'explain-references':
      'Every argument of a command that takes an id takes the same references, which the service resolves; a whole id costs no other request, and what could be several is refused with them',
    'inbox-own':
      'A merchant lists his money that waits, with his own open invoices that it may mean, scored and the likeliest first, his events that no receiver accepted, and blockchains that cannot be read, each with what he may do',
    'payment-dismiss':
      'An operator closes a late or unmatched payment without booking it, with a reason: it leaves the inbox, its status in the list and what is counted as waiting; it is listed as dismissed and explained, and neither books nor balances change; asked again, nothing is written',
    'payment-reopen': 'What was dismissed waits again where the operator says so',
    'payment-dismiss-own':
      'A merchant closes and reopens his own late and unmatched payments, with notes of which there is an end; what is paid at an address that another account uses too, and what an operator has dismissed, the operator decides; another account reads of it like of what does not exist',
    'payment-dismiss-booked':
      'A dismissed payment can be booked, which ends the dismissal, also where both happen at once',
    'payment-dismiss-named':
      'what was closed without booking is booked only where its transaction is named, and stays closed alongside what is booked',
    'payment-dismiss-reorg':
      'A dismissed payment whose transaction leaves the chain is orphaned, and waits again once the transaction is back',
    'list-totals':
      'A list without a count says how many it has where that is asked for, counted up to a bound; a person reads below every page how many there are',
  },
} as const;
