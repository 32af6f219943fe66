// What decisions.md promises of fair shares.
export const shares = {
  source: 'decisions: §19',
  sentences: {
    'picture-drawn-once':
      'The code of an invoice is drawn once for each payload, also for those who ask at the same time; as a PNG it has one bit for each pixel',
    'rate-limit-pages':
      'Pages and pictures that are made anew are counted by address, an IPv6 one by its /64; beyond the share is 429 with a true Retry-After, and what is made already is answered all the same',
  },
} as const;
