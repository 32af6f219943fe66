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
    'list-totals':
      'A list without a count says how many it has where that is asked for, counted up to a bound; a person reads below every page how many there are',
  },
} as const;
