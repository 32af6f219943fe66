// Which daemons cannot read a blockchain through their providers, as each says of itself: known to all, and to it after a restart.
import { type SqlBool, sql } from 'kysely';
import type { Executor } from './db/database.ts';
import { changeMeta, forgetMeta } from './meta.ts';

export interface DeadRoute {
  /** The machine and its directory, and the blockchain: the same after a restart. */
  host: string;
  data_dir: string;
  blockchain: string;
  daemon_id: string;
  /** Their labels. */
  providers: string;
  error: string;
  /** Whether another daemon reads the blockchain meanwhile: where none does it is blind, and its route is no news. */
  is_news: boolean;
  /** Unix seconds; of the last time it was noted. */
  since: number;
  noted_at: number;
}

type Named = Pick<DeadRoute, 'host' | 'data_dir' | 'blockchain'>;

const PREFIX = 'dead_route ';
const nameOf = ({ host, data_dir, blockchain }: Named) => `${PREFIX}${blockchain} ${host} ${data_dir}`;

export async function noteDeadRoute(query: Executor, route: DeadRoute): Promise<void> {
  await changeMeta(query, nameOf(route), JSON.stringify(route));
}

export const forgetDeadRoute = (query: Executor, route: Named): Promise<void> =>
  forgetMeta(query, nameOf(route));

export async function deadRoutes(query: Executor): Promise<DeadRoute[]> {
  const rows = await query
    .selectFrom('meta')
    .select('value')
    .where(sql<SqlBool>`substr(name, 1, ${PREFIX.length}) = ${PREFIX}`)
    .orderBy('name')
    .execute();
  return rows.map(({ value }) => JSON.parse(value));
}
