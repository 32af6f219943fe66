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
/** In the order in which they came. A caller has one of them: however often it asks, it fills no one's place but its own. */
const waiting: { caller: Caller; begin: () => void }[] = [];

/** Who asks: a user, or the network address of one who has not signed in yet; null for the operator's own machine. */
type Caller = string | null;

/** The hash to be stored. Throws `rate_limited` while another of this caller waits, or too many of others do. */
export const hashPassword = (password: string, caller: Caller = null): Promise<string> =>
  inTurn(caller, async () => {
    const { hash } = await import('@node-rs/argon2');
    return hash(spellingsOf(password)[0], { ...COST, algorithm: ARGON2ID });
  });

let unknownUserHash: Promise<string> | undefined;

/**
 * Whether the password belongs to the hash. Null (unknown user, or one without a password) costs
 * the same time and is always false. Throws `rate_limited` as `hashPassword` does.
 */
export async function verifyPassword(
  hash: string | null,
  password: string,
  caller: Caller = null,
): Promise<boolean> {
  if (!unknownUserHash) {
    unknownUserHash = hashPassword('the password of no one');
    unknownUserHash.catch(() => {
      unknownUserHash = undefined;
    });
  }
  const against = hash ?? (await unknownUserHash);
  const matches = await inTurn(caller, async () => {
    const { verify } = await import('@node-rs/argon2');
    for (const spelling of spellingsOf(password))
      if (spelling !== undefined && (await verify(against, spelling))) return true;
    return false;
  });
  return matches && hash !== null;
}

async function inTurn<T>(caller: Caller, work: () => Promise<T>): Promise<T> {
  if (running >= MAX_RUNNING) {
    const has_one = caller !== null && waiting.some((each) => each.caller === caller);
    if (has_one || waiting.length >= MAX_WAITING)
      throw new Refusal('rate_limited', { retry_after: RETRY_AFTER_SECONDS });
    // The turn is handed over by the one that finishes; `running` stays as it is meanwhile.
    await new Promise<void>((begin) => waiting.push({ caller, begin }));
  } else running++;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next.begin();
    else running--;
  }
}
