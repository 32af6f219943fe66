// What decisions.md promises of the step where the buyer pays: §13.

export const payStep = {
  source: 'decisions: §14',
  sentences: {
    'pay-step-phone':
      'a phone shows one button, named after a wallet, on one screen with the whole step; what is paid by hand unfolds, also without scripts',
    'pay-step-desktop':
      'a computer shows the code first, 280 to 320 px wide, with one sentence, and only links that open something there',
    'pay-step-clock': 'the clock is a quiet line until two minutes are left',
    'pay-step-tiny': 'an embed below 300 px shows amount, code and button only',
    'wallet-links':
      'pages offer wallets as their chain lists them, and on a test network none that works on the main network alone',
    'last-wallet':
      'the wallet that was opened last is offered first, as far as the browser’s own storage of our origin knows',
    'coin-names': 'people read the name that wallets give a coin; the wire has its ticker',
    'coin-digits': 'amounts of stablecoins have two decimals at least where people read and copy them',
    'asked-usd': 'the sum in USD next to an amount is that of what is asked for now',
    'memo-by-hand': 'the memo is asked for only where the payment is entered by hand',
    'coin-list':
      'coins are one list, cheapest and fastest first, each with amount, usual fee and time; what cannot be chosen is last, with the reason',
    'embed-states':
      'an embed is closed and opened by its page or its button, and reports what happens to its own page alone',
    'frame-messages':
      'a frame reports what happens to the page that shows it, as far as its origin is known, and to no other',
    'frame-flow':
      'what is chosen in a frame leads to a page that may stand in the frame, with the same looks',
    'embed-theme':
      'pages and fragments take theme, accent and radius, strictly checked, and text stays readable on any accent',
    'pages-keyboard':
      'all that a buyer may do is reached by keys, in the order in which it is read aloud; what has the focus shows it, and keeps it',
    'usual-time': 'a payment on its way is given the time that it usually takes',
  },
} as const;
