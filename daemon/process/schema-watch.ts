// Watches whether a newer gatewayd has changed the schema under a running daemon: what it could spoil then, it does no more.
import type { Logger } from 'pino';
import type { Db } from '../../data/db/open.ts';
import { newerSchema, schemaStanding } from '../../data/migrations/migrate.ts';
import { repeat } from '../loop.ts';
import { createCauses } from './causes.ts';
import type { Runtime } from './runtime.ts';
import type { Signals } from './signals.ts';

/** How often the steps of the schema are read; the one who changes it also says so to the daemons that listen. */
const WATCH_MS = 10_000;

export interface SchemaWatch {
  /** Why this daemon does nothing more, for its operator; null while it works. Once it is set, only a start of another version ends it. */
  outdated(): string | null;
  /** Calls `work` once, when it is. */
  onOutdated(work: () => void): void;
  start(): void;
  stop(): Promise<void>;
}

export interface SchemaWatchOptions {
  db: Pick<Db, 'query' | 'fence'>;
  signals: Pick<Signals, 'onOthers'>;
  log: Logger;
  runtime: Pick<Runtime, 'sleep' | 'elapsed_ms'>;
}

export function openSchemaWatch({ db, signals, log, runtime }: SchemaWatchOptions): SchemaWatch {
  const causes = createCauses(log, runtime);
  const stopping = new AbortController();
  const followers: (() => void)[] = [];
  let why: string | null = null;
  let logged: string | null = null;
  let running: Promise<void> = Promise.resolve();

  const check = async () => {
    if (why !== null) return;
    const { state, step } = await schemaStanding(db.query);
    causes.over('schema', {}, 'the schema of the database is watched again');
    if (state === 'newer' && step !== logged) {
      logged = step;
      log.info({ step }, 'the schema is newer than this gatewayd, and one that it can continue on');
    }
    if (state !== 'incompatible' || step === null || why !== null) return;
    why = newerSchema(step);
    db.fence();
    log.error(
      { alert: 'schema', step, reason: why },
      'nothing is sold, read or stored by this daemon any more: upgrade it',
    );
    for (const work of followers) work();
  };
  const failed = (error: unknown) =>
    causes.failed('schema', 'warn', { err: error }, 'the schema of the database cannot be watched');

  const callOff = signals.onOthers('schema', () => void check().catch(failed));
  return {
    outdated: () => why,
    onOutdated: (work) => void followers.push(work),
    start() {
      const again = async () => {
        await check().catch(failed);
        return WATCH_MS;
      };
      running = repeat(again, { runtime, signal: stopping.signal });
    },
    async stop() {
      callOff();
      stopping.abort();
      await running;
    },
  };
}
