// Makes backups while daemons run: one daemon of those that share a database, as often as is set; old ones go.
import { createReadStream } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { dropLeases, holdLease } from '../../data/cursors.ts';
import type { Db } from '../../data/db/open.ts';
import { changeMeta, DEPLOYMENT, findMeta, keepMeta, LAST_BACKUP_AT } from '../../data/meta.ts';
import { type Clock, seconds } from '../clock.ts';
import { repeat } from '../loop.ts';
import type { Runtime } from '../process/runtime.ts';
import type { Config } from '../settings/config.ts';
import { durationSeconds } from '../settings/schema.ts';
import { backupDirectory, backupName, makeBackup, openBackupDirectory } from './backup.ts';
import { readBackup } from './container.ts';
import { outdated } from './keep.ts';

const LEASE = 'backup';
/** Another daemon may begin so long after the one that does it has vanished. */
const LEASE_MS = 60_000;
const RENEW_MS = 20_000;
/** How often the time of the last one is read, at most. */
const ASK_MS = 60_000;
const RETRY_MS = 300_000;
/** The clocks of daemons that share a database are no further apart. */
const AHEAD_MS = 60_000;

export interface Backups {
  /** Returns at once; without `backup.every` nothing happens. */
  start(): void;
  /** One that is under way is called off, and leaves nothing. */
  stop(): Promise<void>;
}

export interface BackupsOptions {
  config: Config;
  db: Db;
  clock: Clock;
  log: Logger;
  runtime: Pick<Runtime, 'sleep' | 'after' | 'uuid'>;
}

export function openBackups({ config, db, clock, log, runtime }: BackupsOptions): Backups {
  const ended = new AbortController();
  const holder = runtime.uuid();
  let running: Promise<unknown> = Promise.resolve();

  const hold = () => holdLease(db.query, LEASE, holder, clock.ms(), LEASE_MS);

  async function make(now: number): Promise<void> {
    let callOff = () => {};
    const renew = () => {
      void hold().catch(() => undefined);
      callOff = runtime.after(RENEW_MS, renew);
    };
    callOff = runtime.after(RENEW_MS, renew);
    try {
      const file = join(openBackupDirectory(config), backupName(config.network, now));
      const { passphrase } = config.backup;
      const deployment = await keepMeta(db.query, DEPLOYMENT, runtime.uuid());
      const made = await makeBackup({ config, file, passphrase, now, signal: ended.signal });
      await changeMeta(db.query, LAST_BACKUP_AT, String(now));
      const removed = await removeOld(config, { deployment, now });
      log.info({ file: made.file, bytes: made.bytes, encrypted: made.encrypted, removed }, 'backup made');
    } finally {
      callOff();
      await dropLeases(db.query, holder).catch(() => undefined);
    }
  }

  /** Milliseconds until the next question. */
  async function step(every_seconds: number): Promise<number> {
    const dueIn = async () => {
      const last = Number((await findMeta(db.query, LAST_BACKUP_AT)) ?? 0);
      // A clock that was ahead has noted it; until then there would be none.
      if (last * 1000 > clock.ms() + AHEAD_MS) return 0;
      return (last + every_seconds) * 1000 - clock.ms();
    };
    const due_ms = await dueIn();
    if (due_ms > 0) return Math.min(due_ms, ASK_MS);
    // Another may have made one since it was asked.
    if ((await hold()) && (await dueIn()) <= 0) await make(seconds(clock));
    return Math.min(every_seconds * 1000, ASK_MS);
  }

  return {
    start() {
      const { every } = config.backup;
      if (every === undefined) return;
      running = repeat(() => step(durationSeconds(every)), {
        runtime,
        signal: ended.signal,
        onError(error) {
          const again_ms = Math.min(RETRY_MS, durationSeconds(every) * 1000);
          if (!ended.signal.aborted)
            log.error(
              { alert: 'backup', reason: (error as Error).message, again_seconds: again_ms / 1000 },
              'no backup could be made',
            );
          return again_ms;
        },
      });
    },
    async stop() {
      ended.abort();
      await running;
    },
  };
}

/** Of those that were made here for this network, by their names, and are of no other deployment; returns how many went. */
async function removeOld(
  config: Config,
  { deployment, now }: { deployment: string; now: number },
): Promise<number> {
  const directory = backupDirectory(config);
  const named = new RegExp(`^gatewayd-${config.network}-\\d{8}T\\d{6}Z\\.backup$`);
  const ours: string[] = [];
  for (const name of await readdir(directory))
    if (named.test(name) && (await isOf(deployment, join(directory, name)))) ours.push(name);
  const old = outdated(ours, config.backup, now);
  for (const name of old) await rm(join(directory, name), { force: true });
  return old.length;
}

/** Earlier versions noted no deployment. What cannot be read stays: it may be another's. */
async function isOf(deployment: string, file: string): Promise<boolean> {
  const stream = createReadStream(file);
  try {
    const { header } = await readBackup(stream as AsyncIterable<Buffer>);
    return (header.deployment ?? deployment) === deployment;
  } catch {
    return false;
  } finally {
    stream.destroy();
  }
}
