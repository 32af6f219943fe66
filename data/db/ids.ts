// Ids of rows: they sort in the order in which they were made, which times in whole seconds cannot tell.
import { randomUUID } from 'node:crypto';

/** What 12 bits can count. */
const IDS_PER_MS = 4096;
let source = { ms: (): number => Date.now(), uuid: (): string => randomUUID() };
let ms = 0;
let count = 0;

/**
 * A UUID of version 7 (RFC 9562, section 5.7): milliseconds since 1970, a counter of 12 bits, 62 random bits.
 * Those of one process only ever rise, also when its clock is set back; each is as hard to guess as its random bits.
 */
export function newId(): string {
  const now = source.ms();
  if (now > ms) {
    ms = now;
    count = 0;
  } else if (++count === IDS_PER_MS) {
    ms++;
    count = 0;
  }
  const time = ms.toString(16).padStart(12, '0');
  const order = count.toString(16).padStart(3, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${order}${source.uuid().slice(18)}`;
}

/** Takes the time (Unix milliseconds) and the random bits of all ids of this process from elsewhere, and counts from the beginning. */
export function takeIdsFrom(given: typeof source): void {
  source = given;
  ms = 0;
  count = 0;
}
