// The routes of this daemon that are dead, on record: others tell of them, and it knows them after a restart.
import { hostname } from 'node:os';
import type { Executor } from '../../data/db/database.ts';
import { type DeadRoute, deadRoutes, forgetDeadRoute, noteDeadRoute } from '../../data/dead-routes.ts';
import { type Clock, seconds } from '../clock.ts';
import type { Config } from '../settings/config.ts';

/** How often it is noted again that one is dead; of a daemon that has not done so for a day no one knows. */
const NOTED_SECONDS = 3600;
export const UNKNOWN_SECONDS = 86_400;

/** One that is dead, or too slow, and why. */
export interface FailedRoute {
  blockchain: string;
  providers: string;
  error: string;
  /** Whether it failed again while another daemon read the blockchain. */
  is_news: boolean;
}

export interface DeadRoutes {
  /** Blockchains whose route was dead before the start. */
  load(): Promise<string[]>;
  /** Puts on record which are dead now; nothing is written while that is as it was. */
  note(failed: readonly FailedRoute[]): Promise<void>;
}

export interface DeadRoutesOptions {
  db: { query: Executor };
  clock: Clock;
  config: Pick<Config, 'data_dir'>;
  daemon_id: string;
}

export function openDeadRoutes({ db, clock, config, daemon_id }: DeadRoutesOptions): DeadRoutes {
  const { data_dir } = config;
  const host = hostname();
  const own = new Map<string, DeadRoute>();

  async function noteOne(failed: FailedRoute): Promise<void> {
    const { blockchain } = failed;
    const now = seconds(clock);
    const before = own.get(blockchain);
    const is_news = failed.is_news || (before?.is_news ?? false);
    const is_same = before?.daemon_id === daemon_id && before.is_news === is_news;
    if (is_same && Math.abs(now - before.noted_at) < NOTED_SECONDS) return;
    const since = before?.since ?? now;
    const route: DeadRoute = { host, data_dir, daemon_id, ...failed, is_news, since, noted_at: now };
    await noteDeadRoute(db.query, route);
    own.set(blockchain, route);
  }

  return {
    async load() {
      const found = (await deadRoutes(db.query)).filter(
        (route) => route.host === host && route.data_dir === data_dir,
      );
      for (const route of found) own.set(route.blockchain, route);
      return found.map(({ blockchain }) => blockchain);
    },
    async note(failed) {
      for (const one of failed) await noteOne(one);
      for (const [blockchain, route] of own) {
        if (failed.some((one) => one.blockchain === blockchain)) continue;
        await forgetDeadRoute(db.query, route);
        own.delete(blockchain);
      }
    },
  };
}
