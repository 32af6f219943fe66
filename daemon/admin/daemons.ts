// The daemons of this deployment, as the operator sees them, and taking one of them out of work.
import type { z } from 'zod';
import { allCursors } from '../../data/cursors.ts';
import { drainDaemon, listDaemons } from '../../data/daemons.ts';
import type { CursorRow, DaemonRow } from '../../data/schema/tables.ts';
import type { AdminDaemons, DaemonPublic } from '../../src/api/schemas/admin.ts';
import { Refusal } from '../../src/errors.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';
import type { UserContext } from '../http/handler.ts';
import { SILENT_SECONDS } from '../process/instance.ts';
import { operatorName } from './resolve.ts';

/** AdminDaemons; the one that answers describes itself as it is now. */
export async function daemonList(app: App): Promise<z.output<typeof AdminDaemons>> {
  const own = app.instance.describe();
  const others = (await listDaemons(app.db.query)).filter(({ id }) => id !== own.id);
  const cursors = await allCursors(app.db.query);
  return { daemons: [...others, own].map((row) => present(app, row, cursors)) };
}

/** DaemonPublic of the one that is asked to drain. Refuses with `daemon_not_found`. */
export async function drainOne(
  { app, user, log }: UserContext,
  daemon_id: string,
): Promise<z.output<typeof DaemonPublic>> {
  const { instance } = app;
  const drained = await drainDaemon(app.db.query, daemon_id, seconds(app.clock));
  if (daemon_id === instance.id) instance.drain();
  else if (!drained) throw new Refusal('daemon_not_found');
  else app.signals.announce('daemons');
  log.warn({ daemon_id, by: operatorName(user) }, 'a daemon is asked to drain');
  const row = daemon_id === instance.id ? instance.describe() : drained;
  if (!row) throw new Refusal('daemon_not_found');
  return present(app, row, await allCursors(app.db.query));
}

function present(
  { clock, instance }: Pick<App, 'clock' | 'instance'>,
  { reads, secrets: _, ...row }: DaemonRow,
  cursors: readonly CursorRow[],
): z.output<typeof DaemonPublic> {
  const now = seconds(clock);
  const is_silent = now - row.last_seen_at > SILENT_SECONDS;
  const lagOf = (blockchain: string) => {
    const cursor = cursors.find((one) => one.blockchain === blockchain);
    const read_at = cursor?.read_through ?? cursor?.last_ok_at ?? null;
    return read_at === null ? null : Math.max(0, now - read_at);
  };
  return {
    ...row,
    status: is_silent ? 'silent' : row.draining_at === null ? 'running' : 'draining',
    is_this: row.id === instance.id,
    reads: reads
      .split(' ')
      .filter((blockchain) => blockchain !== '')
      .map((blockchain) => ({ blockchain, lag_seconds: lagOf(blockchain) })),
  };
}
