// This run of the daemon, as the others and the operator see it: a name, a heartbeat, what it does, and whether it drains.
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { dropLeases, forgetLeases, holdLease } from '../../data/cursors.ts';
import { describeDaemon, removeDaemons } from '../../data/daemons.ts';
import type { Db } from '../../data/db/open.ts';
import { INSTANCE_LEASE } from '../../data/idempotency.ts';
import type { DaemonRow } from '../../data/schema/tables.ts';
import { type Clock, seconds } from '../clock.ts';
import { createCauses } from './causes.ts';
import type { Runtime } from './runtime.ts';
import type { Secrets } from './secrets.ts';
import { VERSION } from './version.ts';

/** How often it is renewed, and how long it counts: so soon after its death what a daemon had begun is free. */
const HEARTBEAT_MS = 3_000;
const LEASE_MS = 9_000;
/** One that was not seen for so long is silent: its lease has run out. */
export const SILENT_SECONDS = LEASE_MS / 1000;
/** Leases and descriptions of daemons that are long gone are forgotten. */
const FORGOTTEN_AFTER_MS = 24 * 3600 * 1000;

/** What it does now. */
export interface Doing {
  /** Ids of the blockchains that it reads. */
  reads: readonly string[];
  /** Webhooks under way. */
  delivering: number;
}

export interface Instance {
  id: string;
  /** Makes sure that the others take it for alive, before it begins what they could take over. */
  alive(): Promise<void>;
  /** `doing` is asked at each sign of life. */
  start(doing: () => Doing): void;
  /** As it describes itself now. */
  describe(): DaemonRow;
  /** The operator takes it out of work: it takes no more, until it is started again. */
  drain(): void;
  /** It is being stopped: those that ask for its health hear that others should be asked. */
  leave(): void;
  /** Whether others should be asked. */
  draining(): boolean;
  /** Whether the operator took it out of work. */
  resting(): boolean;
  /** Calls `work` once when it begins to rest. */
  onRest(work: () => void): void;
  /** Describes itself in the database now; rejects where that is away. */
  report(): Promise<void>;
  /** Reads now whether it is to drain. */
  check(): void;
  stop(): Promise<void>;
}

export interface InstanceOptions {
  db: Db;
  clock: Clock;
  log: Logger;
  runtime: Pick<Runtime, 'uuid' | 'after' | 'elapsed_ms'>;
  secrets: Pick<Secrets, 'known'>;
}

export function createInstance({ db, clock, log, runtime, secrets }: InstanceOptions): Instance {
  const id = runtime.uuid();
  const causes = createCauses(log, runtime);
  // A SQLite file has one daemon: any other that is named in it is gone.
  const is_alone = db.dialect === 'sqlite';
  const started_at = seconds(clock);
  const resters: (() => void)[] = [];
  let beat_at = Number.NEGATIVE_INFINITY;
  let callOff = () => {};
  let beating: Promise<unknown> = Promise.resolve();
  let is_leaving = false;
  let draining_at: number | null = null;
  let doing: () => Doing = () => ({ reads: [], delivering: 0 });

  const describe = (): DaemonRow => ({
    id,
    host: hostname(),
    pid: process.pid,
    version: VERSION,
    started_at,
    last_seen_at: seconds(clock),
    reads: doing().reads.join(' '),
    delivering: doing().delivering,
    draining_at,
    secrets: secrets.known().join(' '),
  });

  const drain = (since: number) => {
    if (draining_at !== null) return;
    draining_at = since;
    log.warn('draining: no blockchain is read and no webhook sent here until the next start');
    for (const rest of resters) rest();
  };

  const beat = async () => {
    const now = clock.ms();
    await holdLease(db.query, `${INSTANCE_LEASE}${id}`, id, now, LEASE_MS);
    beat_at = now;
  };
  const report = async () => {
    const { draining_at: _, ...described } = describe();
    const asked_at = await describeDaemon(db.query, described);
    if (asked_at !== null) drain(asked_at);
  };
  /** What those have left that ended while the secret was rotated. */
  const forgetOthers = () => removeDaemons(db.query, { id, seen_before: Number.MAX_SAFE_INTEGER });
  const beatAndReport = async () => {
    await beat();
    await report();
  };
  const logged = (work: Promise<unknown>) =>
    work.then(
      () => causes.over('heartbeat', {}, 'the heartbeat is written again'),
      (error: unknown) =>
        causes.failed(
          'heartbeat',
          'warn',
          { err: error },
          'the heartbeat could not be written; trying again',
        ),
    );

  return {
    id,
    describe,
    async alive() {
      const since = clock.ms() - beat_at;
      if (is_alone || (since >= 0 && since < HEARTBEAT_MS)) return;
      await beat();
    },
    start(what) {
      doing = what;
      if (is_alone) {
        beating = forgetOthers().catch(() => undefined);
        return;
      }
      const again = () => {
        beating = logged(beatAndReport());
        callOff = runtime.after(HEARTBEAT_MS, again);
      };
      again();
      beating = beating
        .then(() => forgetLeases(db.query, clock.ms() - FORGOTTEN_AFTER_MS))
        .catch(() => undefined);
    },
    drain: () => drain(seconds(clock)),
    report,
    leave() {
      is_leaving = true;
    },
    draining: () => is_leaving || draining_at !== null,
    resting: () => draining_at !== null,
    onRest: (work) => void resters.push(work),
    check() {
      if (!is_alone && !is_leaving) beating = beating.then(() => logged(report()));
    },
    async stop() {
      callOff();
      await beating;
      if (is_alone) {
        await forgetOthers().catch(() => undefined);
        return;
      }
      const seen_before = seconds(clock) - FORGOTTEN_AFTER_MS / 1000;
      await Promise.all([dropLeases(db.query, id), removeDaemons(db.query, { id, seen_before })]).catch(
        (error: unknown) => log.warn({ err: error }, 'the sign of life could not be taken back: it runs out'),
      );
    },
  };
}
