// What decisions.md promises of paying another way, and of more time for a part.
export const switching = {
  source: 'decisions: §16',
  sentences: {
    'switch-coin':
      'Its buyer may have an unpaid invoice ask for the same price in another coin of its unit, or of those that its merchant named: it keeps id, price, order and webhook, and gets its usual time again, once at most in all',
    'switch-refused':
      'A coin is not changed once anything has come, after the end, where the merchant chose the coin, beyond 5 coins or 10 changes; back to a former coin it asks for what it did then',
    'switch-former-counts':
      'What was asked for before is a frozen quote of the same sale: paid in time, and since it was asked for, it counts, and the invoice asks for that coin again',
    'switch-both-once':
      'Two coins of one invoice are never added up: one counts, with one booking, fee, event and webhook, and the other is listed as late with its own coin, whatever is seen, gone or back first',
    'switch-full-first':
      'A part in one coin does not keep the whole amount in another from counting: what came in full and in time counts, and the part is listed as late',
    'switch-operator-books':
      'An operator books what came in any coin of an invoice, whichever it shows; each payment keeps coin, amount and transaction, also when it is gone and back',
    'switch-waits-for-former':
      'An invoice ends only when the accounts of its former coins are read past its end, too; what is found later shows in its coin, and an operator can book it',
    'switch-amount-safe':
      'An amount that was asked for before stays reserved while the invoice is open and then as long as those of ended invoices, and counts in the limits of unpaid amounts, as asked for without credentials; the database refuses it to any other',
    'switch-amount-back':
      'What was asked for before is given back soon after the end where a limit is reached, once its own account is read so far, and never while it could count',
    'switch-shown':
      'Its owner and the operator read what it asked for before, in their account export, too; each payment and transfer shows in its own coin',
    'switch-log':
      'Each change of the coin is a line in the log of the invoice, and an event `invoice.switched`; no webhook is sent for it',
    'switch-page':
      'The page of the invoice leads to its other coins, with amount, fee, time and what cannot be chosen, with scripts and without',
    'part-prolongs':
      'A part of at least half of the amount, paid in time, makes the invoice expire its usual time later, once; everyone reads the new `expires_at`',
  },
} as const;
