// What a provider speaks of where it refuses: how often it is asked, how many calls stand in one request, or what was asked for.
// Providers word the same refusal differently: with HTTP 200, as an error of a call, or as text.

/** How often it is asked, whatever else the text speaks of. */
const TOO_OFTEN =
  /rate.?limit|too many requests?|too many calls|compute units|throughput|quota|lack of computing|over capacity|frequency limit|request (?:count|rate) exceeded|(?:requests?|calls?) (?:per|a|each) (?:second|minute|hour|day)/i;
/** How often it is asked, unless the text speaks of what was asked for. */
const PERHAPS_TOO_OFTEN = /requests? limit|try again later/i;
const ABOUT_WHAT = /block|range|results|\blogs\b|response size|topics|addresses/i;
const ABOUT_BATCH = /\bbatch/i;

/** The words of a provider in a message, without its name and the method of Ethereum's in front of them. */
export const ownWords = (message: string): string => message.replace(/^.*?eth_\w+: /, '');

/** What follows was written by the maker of the contract that was asked, and says nothing of the provider. */
const WORDS_OF_CONTRACT = /\brevert.*$/is;

/** Whether a refusal is for how often the provider is asked. */
export function isTooOften(refusal: string): boolean {
  const words = refusal.replace(WORDS_OF_CONTRACT, '');
  return TOO_OFTEN.test(words) || (PERHAPS_TOO_OFTEN.test(words) && !ABOUT_WHAT.test(words));
}

const WAIT =
  /(?:suspended for|(?:try |retry )?again in|retry (?:after|in))\s+(\d{1,5})\s?(ms|s|sec|seconds?|m|min|minutes?)\b/i;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000 };

/** For how long a refusal says that there will be no answer, in milliseconds; null where it says nothing of that. */
export function namedWait(words: string): number | null {
  const [, digits, unit = ''] = WAIT.exec(words) ?? [];
  if (digits === undefined) return null;
  return Number(digits) * (UNIT_MS[unit.toLowerCase() === 'ms' ? 'ms' : (unit[0] ?? '').toLowerCase()] ?? 0);
}

/** Whether a refusal speaks of how much was asked for at once. */
export const isAboutWhat = (words: string): boolean => ABOUT_WHAT.test(words);

/** Whether a refusal is for how many calls stand in one request. */
export const isAboutBatch = (words: string): boolean => ABOUT_BATCH.test(words);

/** How many calls in one request a refusal says that are allowed; undefined where it says nothing that helps. */
export function allowedCalls(words: string, tried: number): number | undefined {
  if (!isAboutBatch(words)) return undefined;
  const counts = [...words.matchAll(/(?<![\w.-])\d{1,5}(?![\w.]|-\d)/g)].map(([digits]) => Number(digits));
  return counts.find((count) => count > 1 && count < tried);
}
