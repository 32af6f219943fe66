// What decisions.md promises of fair shares.
export const shares = {
  source: 'decisions: §19',
  sentences: {
    'picture-drawn-once':
      'The code of an invoice is drawn once for each payload, also for those who ask at the same time; as a PNG it has one bit for each pixel',
    'public-get-budget':
      'Each public GET has a budget of processor time, also where a caller makes up whatever may be made up',
    'rate-limit-pages':
      'Pages and pictures that have to be made are counted by address, an IPv6 one by its /64; beyond the share is 429 with a true Retry-After, and what is made already is answered all the same',
    'looks-not-rendered':
      'Colours and sizes of a page are no part of what is rendered: they are put into it, without scripts and under the same policy',
    'streams-shared':
      'Live streams have a share for each address and each invoice; a page whose stream is refused fetches its state instead and shows no error',
    'keyed-first':
      'A call with good credentials waits for no queue of public requests; credentials that are none gain nothing by it',
    'addresses-in-turn':
      'Public requests are worked at a few at a time, each address in its turn; of one address so many wait, and beyond it is 429 with the time it takes until there is room',
    'connection-few':
      'Requests of one connection are worked at a few at a time, in their order, and while others of it wait nothing more is read from it',
    'refused-as-page':
      'A browser that is to come again later is shown a page in its language, with the status and headers of the refusal; a program gets the refusal',
  },
} as const;
