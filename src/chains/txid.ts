// Transaction ids that are hashes of 32 bytes: spellings of one transaction must not count as two.
import { cleanText } from '../clean.ts';

const HEX = /^(?:0x)?([0-9a-f]{64})$/i;

/** As lower-case hex without `0x`; null where the text is no such hash. */
export const hexHash = (text: string): string | null => HEX.exec(cleanText(text))?.[1]?.toLowerCase() ?? null;
