// argon2id hashing of passwords, off the event loop and only a few at a time.
import { spellingsOf } from '../../src/clean.ts';
import { Refusal } from '../../src/errors.ts';

/** OWASP's minimum for argon2id; one hash takes some 20 ms of one core. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1, outputLen: 32 } as const;
const ARGON2ID = 2;
/** More at once would starve the rest of the process of memory and of libuv's four threads. */
const MAX_RUNNING = 2;
const MAX_WAITING = 100;
const RETRY_AFTER_SECONDS = 2;

let running = 0;
const waiting: (() => void)[] = [];

/** The hash to be stored. Throws `rate_limited` while too many others wait. */
export const hashPassword = (password: string): Promise<string> =>
  inTurn(async () => {
    const { hash } = await import('@node-rs/argon2');
    return hash(spellingsOf(password)[0], { ...COST, algorithm: ARGON2ID });
  });

let unknownUserHash: Promise<string> | undefined;

/**
 * Whether the password belongs to the hash. Null (unknown user, or one without a password) costs
 * the same time and is always false. Throws `rate_limited` while too many others wait.
 */
export async function verifyPassword(hash: string | null, password: string): Promise<boolean> {
  if (!unknownUserHash) {
    unknownUserHash = hashPassword('the password of no one');
    unknownUserHash.catch(() => {
      unknownUserHash = undefined;
    });
  }
  const against = hash ?? (await unknownUserHash);
  const matches = await inTurn(async () => {
    const { verify } = await import('@node-rs/argon2');
    for (const spelling of spellingsOf(password))
      if (spelling !== undefined && (await verify(against, spelling))) return true;
    return false;
  });
  return matches && hash !== null;
}

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= MAX_RUNNING) {
    if (waiting.length >= MAX_WAITING)
      throw new Refusal('rate_limited', { retry_after: RETRY_AFTER_SECONDS });
    // The turn is handed over by the one that finishes; `running` stays as it is meanwhile.
    await new Promise<void>((resolve) => waiting.push(resolve));
  } else running++;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running--;
  }
}
