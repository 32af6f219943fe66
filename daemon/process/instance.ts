// This run of the daemon, as the others see it: a name, and a sign of life where several share one database.
import type { Logger } from 'pino';
import { dropLeases, forgetLeases, holdLease } from '../../data/cursors.ts';
import type { Db } from '../../data/db/open.ts';
import { INSTANCE_LEASE } from '../../data/idempotency.ts';
import type { Clock } from '../clock.ts';
import type { Runtime } from './runtime.ts';

/** How often it is renewed, and how long it counts: so soon after its death what a daemon had begun is free. */
const HEARTBEAT_MS = 3_000;
const LEASE_MS = 9_000;
/** Leases of daemons that are long gone are forgotten. */
const FORGOTTEN_AFTER_MS = 24 * 3600 * 1000;

export interface Instance {
  id: string;
  /** Makes sure that the others take it for alive, before it begins what they could take over. */
  alive(): Promise<void>;
  start(): void;
  /** From now on those that ask for its health hear that others should be asked. */
  drain(): void;
  draining(): boolean;
  stop(): Promise<void>;
}

export interface InstanceOptions {
  db: Db;
  clock: Clock;
  log: Logger;
  runtime: Pick<Runtime, 'uuid' | 'after'>;
}

export function createInstance({ db, clock, log, runtime }: InstanceOptions): Instance {
  const id = runtime.uuid();
  // A SQLite file has one daemon: any other that is named in it is gone.
  const is_alone = db.dialect === 'sqlite';
  let beat_at = Number.NEGATIVE_INFINITY;
  let callOff = () => {};
  let is_draining = false;
  let beating: Promise<unknown> = Promise.resolve();

  const beat = async () => {
    const now = clock.ms();
    await holdLease(db.query, `${INSTANCE_LEASE}${id}`, id, now, LEASE_MS);
    beat_at = now;
  };

  return {
    id,
    async alive() {
      const since = clock.ms() - beat_at;
      if (is_alone || (since >= 0 && since < HEARTBEAT_MS)) return;
      await beat();
    },
    start() {
      if (is_alone) return;
      const again = () => {
        beating = beat().catch((error: unknown) =>
          log.warn({ err: error }, 'the heartbeat could not be written; trying again'),
        );
        callOff = runtime.after(HEARTBEAT_MS, again);
      };
      again();
      beating = beating
        .then(() => forgetLeases(db.query, clock.ms() - FORGOTTEN_AFTER_MS))
        .catch(() => undefined);
    },
    drain() {
      is_draining = true;
    },
    draining: () => is_draining,
    async stop() {
      callOff();
      await beating;
      if (is_alone) return;
      await dropLeases(db.query, id).catch((error: unknown) =>
        log.warn({ err: error }, 'the sign of life could not be taken back: it runs out'),
      );
    },
  };
}
