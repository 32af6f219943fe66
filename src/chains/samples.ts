// What descriptions show for people to recognise ids by. It imports nothing: the command line has descriptions, and no family.

/** Of gateways: a coin, a token on the same blockchain, and a coin elsewhere. */
export const sampleIds = ['ton', 'ton-usdt', 'bitcoin'] as const;
/** What the token is called, whatever it is on. */
export const sampleTicker = 'USDT';
export const sampleBlockchains = ['ton', 'solana', 'bitcoin'] as const;
/** The name of the first. */
export const sampleName = 'TON';
