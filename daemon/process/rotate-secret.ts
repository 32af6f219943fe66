// Replaces the secret of a deployment while its daemons run: they all know the new one before anything is sealed with it, and
// the old one goes when nothing is sealed with it any more. Each step may be the last: the next run continues there.
import { daemonsSeenSince } from '../../data/daemons.ts';
import type { Db } from '../../data/db/open.ts';
import { findMeta } from '../../data/meta.ts';
import type { DaemonRow } from '../../data/schema/tables.ts';
import {
  changeSecret,
  endSecretChange,
  isWrittenSince,
  putRetiredKeys,
  replaceMeta,
  replaceSealed,
  sealedValues,
  secretState,
  serverTime,
} from '../../data/secret.ts';
import { type Clock, seconds } from '../clock.ts';
import { ConfigError } from '../settings/config.ts';
import { followSecret } from './data-dir.ts';
import { LEDGER_KEY, LEDGER_KEY_PURPOSE } from './ledger-key.ts';
import type { Runtime } from './runtime.ts';
import {
  apiKeyPurpose,
  previousWebhookSecretPurpose,
  type Secrets,
  webhookSecretPurpose,
} from './secrets.ts';

/** As long as a bearer token lives. */
const TOKENS_SECONDS = 8 * 24 * 3600;
/** As after a change of a merchant's webhook secret. */
const WEBHOOKS_SECONDS = 24 * 3600;
/** Merchants whose values are sealed again in one transaction. */
const BATCH_MERCHANTS = 50;
const ASK_MS = 200;
/** Daemons report each 3 s, by their own clocks; one that was not seen for so long has ended. */
const ENDED_SECONDS = 30;
/** Longer than that; those that run follow within seconds. */
const FOLLOW_WAIT_MS = 40_000;
/** What a daemon sealed before it followed is on its way to the database no longer than this. */
const SETTLE_MS = 1_000;
/** Passes over all merchants; each after the first finds only what was written meanwhile. */
const MAX_PASSES = 100;

const purposes = {
  api_key_sealed: apiKeyPurpose,
  webhook_secret_sealed: webhookSecretPurpose,
  previous_webhook_secret_sealed: previousWebhookSecretPurpose,
};

export interface RotateOptions {
  db: Db;
  secrets: Secrets;
  clock: Clock;
  runtime: Pick<Runtime, 'sleep' | 'elapsed_ms'>;
  /** Whether a daemon runs on this SQLite file; they share a PostgreSQL database by their descriptions there. */
  is_running(): boolean;
  /** Nothing that the old secret has signed counts any more. */
  at_once: boolean;
  /** Whether running daemons learn of a new secret: it is in a file. */
  is_followed: boolean;
  /** What the operator of daemons that do not know the new secret is to do. */
  advice: string;
}

export interface Rotated {
  /** Daemons that follow. */
  daemons: number;
  /** Values that were sealed again. */
  values: number;
  /** Until when what the old secret has signed counts: Unix seconds; null where it no longer does. */
  tokens_until: number | null;
  webhooks_until: number | null;
}

/**
 * Puts the newest of the secrets in force and seals every value with it. Throws ConfigError where a daemon does not know it,
 * and where a value can be opened by neither; what was done until then stays, and nothing is unreadable.
 */
export async function rotateSecret(options: RotateOptions): Promise<Rotated> {
  const { db, secrets, at_once } = options;
  await untilAll(options, 'does not know the new secret', knows, options.is_followed ? FOLLOW_WAIT_MS : 0);
  const now = seconds(options.clock);
  const until = at_once
    ? null
    : { tokens_until: now + TOKENS_SECONDS, webhooks_until: now + WEBHOOKS_SECONDS };
  await putInForce(db, secrets, secrets.retire(until, now));
  if (at_once) await endSignatures(options);
  const first = await sealAll(db, secrets);
  const daemons = await untilAll(options, 'still seals with the old secret', seals, FOLLOW_WAIT_MS);
  await untilWritten(options);
  let values = first;
  for (let pass = 1; ; pass++) {
    const found = await sealAll(db, secrets);
    values += found;
    if (found === 0) break;
    if (pass === MAX_PASSES) throw new ConfigError('values are still being sealed with the old secret');
  }
  await endSecretChange(db.query);
  return {
    daemons,
    values,
    tokens_until: until?.tokens_until ?? null,
    webhooks_until: until?.webhooks_until ?? null,
  };
}

/** What secrets before have signed counts no more; daemons notice within seconds. */
export const endSignatures = ({ db, secrets, clock }: Pick<RotateOptions, 'db' | 'secrets' | 'clock'>) =>
  putRetiredKeys(db.query, secrets.retire(null, seconds(clock)));

type Test = (proofs: readonly string[], newest: string) => boolean;
const knows: Test = (proofs, newest) => proofs.includes(newest);
const seals: Test = (proofs, newest) => proofs[0] === newest;

/** Waits until all running daemons pass; how many they are. */
async function untilAll(options: RotateOptions, fault: string, test: Test, wait_ms: number): Promise<number> {
  const { secrets, runtime, advice } = options;
  const deadline_ms = runtime.elapsed_ms() + wait_ms;
  for (;;) {
    const daemons = await runningDaemons(options);
    const failing = daemons.filter((one) => !test(one?.secrets.split(' ') ?? [], secrets.newest_check));
    if (failing.length === 0) return daemons.length;
    if (runtime.elapsed_ms() >= deadline_ms)
      throw new ConfigError(
        `${failing.map(nameOf).join(', ')} ${fault}; ${advice}. Nothing is lost: run \`gatewayd secret rotate\` again then (one that was killed counts for ${ENDED_SECONDS} s)`,
      );
    await runtime.sleep(ASK_MS);
  }
}

const nameOf = (daemon: DaemonRow | undefined): string =>
  daemon === undefined ? 'the running daemon' : `the daemon on ${daemon.host} with pid ${daemon.pid}`;

/** Undefined stands for the daemon of a SQLite file that has not described itself yet. */
async function runningDaemons({
  db,
  clock,
  is_running,
}: RotateOptions): Promise<readonly (DaemonRow | undefined)[]> {
  if (db.dialect === 'postgres') return daemonsSeenSince(db.query, seconds(clock) - ENDED_SECONDS);
  // Its only daemon describes itself when it starts and when it follows, and not in between.
  return is_running() ? [(await daemonsSeenSince(db.query, 0)).at(-1)] : [];
}

/** With the key of the ledger in the same transaction. Nothing happens where it is in force already. */
async function putInForce(db: Db, secrets: Secrets, retired: string): Promise<void> {
  const current = secrets.newest_check;
  await db.transaction(async (tx) => {
    const state = await secretState(tx);
    if (state && state.current !== current) await changeSecret(tx, { current, before: state, retired });
    await sealLedgerKey(tx, secrets);
  });
  await followSecret(db.query, secrets);
}

async function sealLedgerKey(tx: Parameters<typeof findMeta>[0], secrets: Secrets): Promise<void> {
  const sealed = await findMeta(tx, LEDGER_KEY);
  const again = sealed === undefined ? null : reseal(secrets, sealed, LEDGER_KEY_PURPOSE);
  if (sealed !== undefined && again !== null) await replaceMeta(tx, LEDGER_KEY, { from: sealed, to: again });
}

function reseal(secrets: Secrets, sealed: string, purpose: string): string | null {
  try {
    return secrets.reseal(sealed, purpose);
  } catch {
    throw new ConfigError(
      `a value (${purpose}) is sealed with neither secret; run \`gatewayd verify\`, which says what to do`,
    );
  }
}

/** One pass over all merchants; how many values it has sealed again. */
async function sealAll(db: Db, secrets: Secrets): Promise<number> {
  let count = 0;
  for (let after = ''; ; ) {
    const { values, last } = await sealedValues(db.query, after, BATCH_MERCHANTS);
    if (last === null) return count;
    const changed = values.flatMap((value) => {
      const by = reseal(secrets, value.sealed, purposes[value.column](value.id));
      return by === null ? [] : [{ value, by }];
    });
    if (changed.length > 0)
      await db.transaction(async (tx) => {
        for (const { value, by } of changed) await replaceSealed(tx, value, by);
      });
    count += changed.length;
    after = last;
  }
}

/** Waits for what was sealed before all followed, and is not committed yet. */
async function untilWritten({ db, runtime }: RotateOptions): Promise<void> {
  await runtime.sleep(SETTLE_MS);
  if (db.dialect === 'sqlite') return;
  const time = await serverTime(db.query);
  const deadline_ms = runtime.elapsed_ms() + FOLLOW_WAIT_MS;
  while (await isWrittenSince(db.query, time)) {
    if (runtime.elapsed_ms() >= deadline_ms)
      throw new ConfigError(
        'a transaction has been writing for a long time; run `gatewayd secret rotate` again when it is over',
      );
    await runtime.sleep(ASK_MS);
  }
}
