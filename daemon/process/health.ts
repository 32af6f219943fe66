// Whether a balancer should send its callers here.
import type { z } from 'zod';
import { type Sighting, sightings } from '../../data/cursors.ts';
import { gathered } from '../../data/db/gather.ts';
import { ping } from '../../data/meta.ts';
import { schemaStanding } from '../../data/migrations/migrate.ts';
import type { Readiness } from '../../src/api/schemas/system.ts';
import { Refusal } from '../../src/errors.ts';
import { statusOf } from '../../src/sight.ts';
import { sightOf } from '../admin/observers.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';
import { settledWithin } from '../loop.ts';

/** How soon another daemon has its place. */
const RETRY_SECONDS = 5;
/** A database that has not answered by then counts as away. */
const DATABASE_MS = 3_000;

/** Those who ask at the same time share an answer: health has no credentials and no limit, and takes no connection from others. */
const pinged = gathered<null, null>(Number.POSITIVE_INFINITY, async (db, all) => {
  await ping(db);
  return all.map(() => null);
});

/** What readiness reads of these blockchains; shared likewise. */
const readStored = gathered(
  Number.POSITIVE_INFINITY,
  async (db, all: readonly { blockchains: readonly string[]; now: number }[]) => {
    const { state: migrations } = await schemaStanding(db.query);
    const newest = all.at(-1);
    const seen = newest ? await sightings(db.query, newest.blockchains, newest.now) : [];
    return all.map(() => ({ migrations, seen }));
  },
  ({ blockchains }) => blockchains.join(' '),
);

type Examined = Pick<App, 'db' | 'instance' | 'database_watch'>;

/** Refuses with `draining`, and throws what the database throws where that cannot be read, or takes no writes. */
export async function assertHealthy({ db, instance, database_watch }: Examined): Promise<void> {
  if (instance.draining()) throw new Refusal('draining', { retry_after: RETRY_SECONDS });
  await pinged(db, null);
  const trouble = database_watch.trouble();
  if (trouble !== null) throw trouble.error;
}

/** The same without waiting, where the database can. */
export const isHealthyNow = ({ db, instance, database_watch }: Examined): boolean =>
  !instance.draining() && database_watch.trouble() === null && ping.now(db) !== undefined;

/**
 * Readiness. Refuses with `draining`, `schema_newer` or `not_ready`, which carry the same members. A blockchain that cannot be read is none of
 * the reasons: a balancer would take all daemons away for it.
 */
export async function assertReady(app: App): Promise<z.output<typeof Readiness>> {
  const stored = await storedState(app);
  const draining = app.instance.draining();
  const { database, migrations } = stored;
  const outdated = app.schema.outdated() !== null || migrations === 'incompatible';
  const extra = {
    ready: database === 'ok' && migrations !== 'pending' && !outdated && !draining,
    database,
    migrations,
    draining,
    blockchains: app.observer.status().map((poller) => presentSight(app, poller, stored.seen)),
  };
  if (extra.ready) return extra;
  const code = draining ? 'draining' : outdated ? 'schema_newer' : 'not_ready';
  throw new Refusal(code, { extra, retry_after: RETRY_SECONDS });
}

interface Stored extends Pick<z.output<typeof Readiness>, 'database' | 'migrations'> {
  seen: readonly Sighting[];
}

/** What the database says, where it answers in time. */
async function storedState({ db, clock, runtime, log, observer, database_watch }: App): Promise<Stored> {
  let found: Stored = { database: 'unreachable', migrations: 'unknown', seen: [] };
  const read = async () => {
    const blockchains = observer.status().map(({ blockchain }) => blockchain);
    const { migrations, seen } = await readStored(db, { blockchains, now: seconds(clock) });
    found = { database: database_watch.trouble() === null ? 'ok' : 'unwritable', migrations, seen };
  };
  const asked = read().catch((error: unknown) => log.debug({ err: error }, 'readiness cannot be read'));
  await settledWithin(DATABASE_MS, asked, runtime);
  return found;
}

function presentSight(
  app: App,
  poller: ReturnType<App['observer']['status']>[number],
  seen: readonly Sighting[],
) {
  const { blockchain } = poller;
  const now = seconds(app.clock);
  const row = seen.find((one) => one.blockchain === blockchain);
  const read_at = row?.read_through ?? row?.last_ok_at ?? null;
  const age = (at: number | null | undefined) => (at == null ? null : Math.max(0, now - at));
  const is_watched = row?.is_watched ?? false;
  const lag_seconds = is_watched ? age(read_at) : null;
  const sight = sightOf(app, poller, { is_watched, lag_seconds });
  return {
    blockchain,
    status: statusOf(sight),
    unavailable_since: sight.unavailable_since,
    lag_seconds,
    tip_age_seconds: row?.is_watched ? age(row.tip_time) : null,
  };
}
