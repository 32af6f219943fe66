// What each observer has read and what it could not: providers, tip, lag, ranges, and the transfers left over.
import type { z } from 'zod';
import { type SharedAddress, sharedAddresses } from '../../data/addresses.ts';
import { countContradictions } from '../../data/contradictions.ts';
import { allCursors, latestRanges } from '../../data/cursors.ts';
import { latestDust } from '../../data/dust.ts';
import { troubledProofs, unreadableAssets } from '../../data/proofs.ts';
import type { AccountProofRow, CursorRow } from '../../data/schema/tables.ts';
import { watchCounts } from '../../data/views/admin-detail.ts';
import { latestUnapplied } from '../../data/views/admin-list.ts';
import { type Rollup, rollups } from '../../data/views/rollups.ts';
import type {
  AccountBehind,
  AdminObservers,
  HintsPublic,
  ObserverPublic,
  ProviderPublic,
} from '../../src/api/schemas/admin.ts';
import type { Blockchain } from '../../src/chains/catalogue.ts';
import type { Pace } from '../../src/chains/family.ts';
import { offPace } from '../../src/chains/usual.ts';
import { type Sight, type SightStatus, statusOf } from '../../src/sight.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';
import type { HintStatus } from '../observer/hints/hints.ts';
import { shortDepths, storedPace } from '../observer/pace.ts';
import type { ProviderStatus } from '../observer/providers/rpc.ts';
import { DUST_SHOWN, presentDust } from './dust.ts';
import { presentEntry } from './present.ts';

/** Late and unmatched transfers that an observer shows. */
const UNAPPLIED_SHOWN = 20;
const RANGES_SHOWN = 50;
/** Accounts in trouble that an observer shows. */
const BEHIND_SHOWN = 50;

type PollerStatus = ReturnType<App['observer']['status']>[number];

/** Names of the rollups of payments that wait for a person; their keys are blockchains. */
export const unappliedRollups = {
  held: 'payments:held',
  late: 'payments:late',
  unmatched: 'payments:unmatched',
  orphaned: 'payments:orphaned',
} as const;

export interface ObserverState {
  blockchain: string;
  status: SightStatus;
  /** Age of the last complete reading; null where nothing is watched or was ever read. */
  lag_seconds: number | null;
  watched: number;
  pending: number;
  poller: PollerStatus;
  cursor: CursorRow | undefined;
}

/** How each observer stands, in the order of the gateways. */
export async function observerStates(
  app: Pick<App, 'db' | 'clock' | 'observer' | 'blindness'>,
): Promise<ObserverState[]> {
  const { query } = app.db;
  const now = seconds(app.clock);
  const cursors = await allCursors(query);
  const states: ObserverState[] = [];
  for (const poller of app.observer.status()) {
    const { blockchain } = poller;
    const cursor = cursors.find((row) => row.blockchain === blockchain);
    const { watched, pending } = await watchCounts(query, blockchain, now);
    const read_at = cursor?.read_through ?? cursor?.last_ok_at ?? null;
    const lag_seconds = watched === 0 || read_at === null ? null : Math.max(0, now - read_at);
    const is_watched = watched > 0;
    const status = statusOf(sightOf(app, poller, { is_watched, lag_seconds }));
    states.push({ blockchain, status, lag_seconds, watched, pending, poller, cursor });
  }
  return states;
}

/** What is known of how a blockchain is read. */
export const sightOf = (
  { blindness }: Pick<App, 'blindness'>,
  { blockchain, providers, gateways }: PollerStatus,
  read: Pick<Sight, 'is_watched' | 'lag_seconds'>,
): Sight => ({
  ...read,
  unavailable_since: blindness.of(blockchain),
  is_answered: blindness.isAnswered(blockchain),
  is_read_elsewhere: blindness.heardAt(blockchain) !== null,
  providers,
  poll_interval_seconds: Math.min(...gateways.map((gateway) => gateway.poll_interval_seconds)),
});

/** AdminObservers. */
export async function presentObservers(app: App): Promise<z.output<typeof AdminObservers>> {
  const states = await observerStates(app);
  const { query } = app.db;
  const findings: Findings = {
    unapplied: await rollups(query, [unappliedRollups.late, unappliedRollups.unmatched]),
    unreadable: await unreadableAssets(query),
    shared: await sharedAddresses(query),
    contradictions: await countContradictions(
      query,
      states.map(({ blockchain }) => blockchain),
    ),
  };
  const observers = await Promise.all(states.map((state) => presentObserver(app, state, findings)));
  return { clock: presentClock(app), observers };
}

/** How the clock of this daemon stands to the chains. */
export function presentClock({ clock_check }: Pick<App, 'clock_check'>) {
  const trouble = clock_check.trouble();
  const offset = clock_check.offset();
  return {
    trusted: trouble === null,
    offset_seconds: trouble?.offset_seconds ?? (offset === null ? null : Math.round(offset)),
    message: trouble?.message ?? null,
  };
}

/** What was found on all blockchains, read at once. */
interface Findings {
  unapplied: readonly Rollup[];
  unreadable: Awaited<ReturnType<typeof unreadableAssets>>;
  shared: readonly SharedAddress[];
  contradictions: ReadonlyMap<string, number>;
}

async function presentObserver(
  app: App,
  state: ObserverState,
  { unapplied, unreadable, shared, contradictions }: Findings,
): Promise<z.output<typeof ObserverPublic>> {
  const { query } = app.db;
  const { blockchain, cursor } = state;
  const found = app.config.chains.find(blockchain);
  const gateways = app.gateways.filter((gateway) => gateway.blockchain === blockchain);
  const providers = state.poller.providers.map(presentProvider);
  const usable = providers.filter((provider) => provider.state !== 'wrong_network');
  const used = usable.find((provider) => provider.state === 'ok') ?? usable[0] ?? null;
  const ranges = await latestRanges(query, blockchain, RANGES_SHOWN);
  const latest = async (status: 'late' | 'unmatched') =>
    (await latestUnapplied(query, blockchain, status, UNAPPLIED_SHOWN)).map(presentEntry);
  const count = (name: string) =>
    unapplied.find((rollup) => rollup.name === name && rollup.key === blockchain)?.count ?? 0;
  const here = <T extends { blockchain: string }>(all: readonly T[]): T[] =>
    all.filter((each) => each.blockchain === blockchain);
  const total = (of: 'requests' | 'failures') => providers.reduce((sum, one) => sum + one[of], 0);
  return {
    blockchain,
    name: found?.name ?? blockchain,
    provider: used?.provider ?? null,
    status: state.status,
    providers,
    hints: presentHints(state.poller.hints),
    tip_height: cursor?.tip_height ?? null,
    tip_time: cursor?.tip_time ?? null,
    cursor_height: found?.family.cursorHeight(cursor?.cursor ?? null) ?? null,
    positions: [...(found?.family.positions?.(cursor?.cursor ?? null, gateways) ?? [])],
    lag_seconds: state.lag_seconds,
    watched_addresses: state.watched,
    pending: state.pending,
    last_ok_at: cursor?.last_ok_at ?? null,
    unavailable_since: app.blindness.of(blockchain),
    ...lastError(cursor, providers),
    ranges: ranges.map(({ scope, from_position, to_position }) => ({
      scope,
      from: from_position,
      to: to_position,
    })),
    unmatched: await latest('unmatched'),
    unmatched_count: count(unappliedRollups.unmatched),
    late: await latest('late'),
    late_count: count(unappliedRollups.late),
    dust: (await latestDust(query, blockchain, DUST_SHOWN)).map((row) => presentDust(app, row)),
    requests: total('requests'),
    failures: total('failures'),
    read_through: cursor?.read_through ?? null,
    accounts_behind: (await troubledProofs(query, blockchain, BEHIND_SHOWN)).map(presentBehind),
    unreadable_assets: here(unreadable).map(({ chain, reason, since }) => ({ chain, reason, since })),
    shared_addresses: here(shared).map(({ address_key, owners }) => ({ address_key, owner_ids: owners })),
    contradictions: contradictions.get(blockchain) ?? 0,
    pace: found ? presentPace(app, found, storedPace(cursor)) : null,
  };
}

function presentPace(
  { config }: Pick<App, 'config'>,
  blockchain: Blockchain,
  pace: Pace | null,
): z.output<typeof ObserverPublic>['pace'] {
  if (!pace) return null;
  const short = shortDepths(config, (id) => (id === blockchain.id ? pace : null)).flatMap((each) =>
    each.blockchain === blockchain.id ? [`${each.says}: ${each.remedy}`] : [],
  );
  const says = [offPace(blockchain, pace), ...short].filter((each) => each !== null);
  return {
    seconds: pace.recent_seconds,
    hour_seconds: pace.hour_seconds,
    usual_seconds: blockchain.block_seconds,
    warning: says.length === 0 ? null : says.join('; '),
  };
}

const presentBehind = (row: AccountProofRow): z.output<typeof AccountBehind> => ({
  chain: row.chain,
  address_key: row.address_key,
  account: row.account,
  read_through: row.read_through,
  trouble: row.trouble ?? '',
  failures: row.failures,
  failed_since: row.failed_since,
  retry_at: row.retry_at,
});

const secondsOf = (ms: number | null): number | null =>
  ms === null || !Number.isFinite(ms) ? null : Math.floor(ms / 1000);

const presentHints = (hints: HintStatus | null): z.output<typeof HintsPublic> | null =>
  hints && {
    source: hints.source,
    connected_since: secondsOf(hints.connected_since),
    last_hint_at: secondsOf(hints.last_hint_at),
  };

const presentProvider = (status: ProviderStatus): z.output<typeof ProviderPublic> => ({
  provider: status.provider,
  state: status.state,
  requests: status.requests,
  failures: status.failures,
  last_ok_at: secondsOf(status.last_ok_at),
  last_error: status.last_error,
  last_error_at: secondsOf(status.last_error_at),
  backoff_until: secondsOf(status.backoff_until),
});

/** The latest failure: of a reading, which any daemon may have recorded, or of a provider of this one. */
function lastError(cursor: CursorRow | undefined, providers: readonly z.output<typeof ProviderPublic>[]) {
  const errors = [
    { last_error: cursor?.last_error ?? null, last_error_at: cursor?.last_error_at ?? null },
    ...providers.map(({ last_error, last_error_at }) => ({ last_error, last_error_at })),
  ];
  return errors.reduce((latest, error) =>
    (error.last_error_at ?? -1) > (latest.last_error_at ?? -1) ? error : latest,
  );
}
