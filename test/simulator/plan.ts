// What a seed decides beforehand: which chains, whose faults, how often, and how busy everyone is.
import { type EvmFaults, isEvm, NO_EVM_FAULTS, spaceOf } from './evm-model.ts';
import { type HintFaults, NO_HINT_FAULTS } from './hints.ts';
import { type NetworkFaults, NO_FAULTS } from './network.ts';
import { Random } from './random.ts';
import { NO_SOLANA_FAULTS, type SolanaFaults } from './solana-model.ts';
import { NO_TON_FAULTS, type TonFaults } from './ton-model.ts';
import { NO_UTXO_FAULTS, type UtxoCoin, type UtxoFaults, type UtxoProvider } from './utxo-model.ts';

/** What a buyer may do with an invoice. */
export type Buying =
  | 'exact'
  | 'nothing'
  | 'under'
  | 'topped_up'
  | 'over'
  | 'twice'
  | 'late'
  | 'last_moment'
  | 'no_memo'
  | 'other_memo'
  | 'wrong_asset'
  | 'reference_only'
  | 'forwarded'
  | 'bumped'
  | 'bumped_late'
  | 'bumped_to_exact'
  | 'taken_back'
  | 'batched'
  | 'wrong_network';

/** What anyone may do at a moment. */
export type Action =
  | 'invoice'
  | 'checkout'
  | 'refill'
  | 'credit'
  | 'check'
  | 'cancel'
  | 'switch'
  | 'resolve'
  | 'read'
  | 'operator_income'
  | 'dust'
  | 'flood'
  | 'outage'
  | 'lie'
  | 'trap'
  | 'squat'
  | 'squat_elsewhere'
  | 'mint_credit'
  | 'front_run'
  | 'claim'
  | 'claim_invented';

export interface DaemonFaults {
  /** At each boundary of the process. */
  killed: number;
  /** Mean time between orderly restarts; 0: none. */
  restart_seconds: number;
  /** Longest time that it is not there. */
  away_seconds: number;
  /** Error of its clock from the beginning, and how much it drifts. */
  clock_error_ms: number;
  clock_drift: number;
  /** Mean time between steps of its clock; 0: none. */
  clock_step_seconds: number;
  clock_step_most_ms: number;
}

export interface Plan {
  seed: number;
  /** Names of what is turned off, as `featuresOf` lists them. */
  off: ReadonlySet<string>;
  /** Timers to fire before everything calms down. */
  events: number;
  blockchains: readonly string[];
  utxo_providers: Record<UtxoCoin, UtxoProvider>;
  merchants: number;
  hostile_merchants: number;
  /** Mean time between actions of anyone. */
  action_seconds: number;
  actions: Record<Action, number>;
  buying: Record<Buying, number>;
  /** Share of merchants that have too little credit. */
  poor: number;
  webhook_failures: number;
  ttl_seconds: { fast: number; slow: number };
  /** Requests per second to a provider; null: as the daemon has it by default. */
  requests_per_second: number | null;
  network: NetworkFaults;
  hints: HintFaults;
  outage_seconds: number;
  ton: TonFaults;
  solana: SolanaFaults;
  utxo: UtxoFaults;
  evm: EvmFaults;
  daemon: DaemonFaults;
}

const MENUS: readonly (readonly string[])[] = [
  ['ton'],
  ['solana'],
  ['bitcoin'],
  ['litecoin'],
  ['ton', 'solana'],
  ['ton', 'bitcoin'],
  ['solana', 'bitcoin'],
  ['ton', 'solana', 'bitcoin', 'litecoin'],
  ['polygon'],
  ['tron'],
  ['polygon', 'base'],
  ['base', 'bsc', 'tron'],
  ['polygon', 'base', 'tron', 'ton', 'bitcoin'],
];

const BUYING: Record<Buying, number> = {
  exact: 40,
  nothing: 8,
  under: 4,
  topped_up: 5,
  over: 4,
  twice: 4,
  late: 6,
  last_moment: 8,
  no_memo: 3,
  other_memo: 3,
  wrong_asset: 2,
  reference_only: 4,
  forwarded: 4,
  bumped: 6,
  bumped_late: 4,
  bumped_to_exact: 2,
  taken_back: 4,
  // Where the blockchains have it.
  batched: 0,
  wrong_network: 0,
};
const BATCHED = 6;
/** How many times as fast blocks may come after an upgrade. */
const PACES = [0.1, 0.3, 3, 10] as const;
const WRONG_NETWORK = 8;
/** Share of the seeds whose providers say that something has moved. */
const HINTED = 0.3;

const ACTIONS: Record<Action, number> = {
  invoice: 40,
  checkout: 10,
  refill: 4,
  credit: 3,
  check: 10,
  cancel: 4,
  switch: 6,
  resolve: 1,
  read: 4,
  operator_income: 3,
  dust: 2,
  flood: 1,
  outage: 1,
  lie: 1,
  trap: 1,
  squat: 1,
  mint_credit: 2,
  // Where the blockchains have it.
  squat_elsewhere: 0,
  front_run: 0,
  claim: 0,
  claim_invented: 0,
};
/** What means harm where an amount names an invoice, and a branch of a chain is easy to show. */
const HARMFUL_TO_EVM: Partial<Record<Action, number>> = { front_run: 3, claim: 6, claim_invented: 2 };
const SQUAT_ELSEWHERE = 2;

/** Where everything is as it should be. */
const NEUTRAL: Record<string, number> = {
  'ton.page_cap': 1000,
  'solana.page_cap': 1000,
  'utxo.replicas': 1,
  'evm.range_cap': NO_EVM_FAULTS.range_cap,
  'evm.batch_cap': NO_EVM_FAULTS.batch_cap,
  'evm.providers': 1,
  requests_per_second: 50,
};
/** Not faults: how bad they are, and how time goes. */
const MEASURES = /_ms$|\.(block_seconds|away_seconds)$/;
const FAULTS = ['network', 'hints', 'ton', 'solana', 'utxo', 'evm', 'daemon'] as const;
/** Without these nothing would happen. */
const NEEDED = ['actions.invoice', 'buying.exact', 'buying.nothing'];

/** What a plan has that can be turned off: every fault, every manner of acting and of buying. */
export function featuresOf(plan: Plan): string[] {
  const names: string[] = [];
  for (const group of FAULTS)
    for (const [name, value] of Object.entries(plan[group])) {
      const path = `${group}.${name}`;
      const isFault = !MEASURES.test(path) || path === 'daemon.clock_error_ms';
      if (isFault && value !== (NEUTRAL[path] ?? 0)) names.push(path);
    }
  for (const name of ['poor', 'webhook_failures', 'requests_per_second'] as const)
    if (plan[name] !== (NEUTRAL[name] ?? 0)) names.push(name);
  for (const group of ['actions', 'buying'] as const)
    for (const [name, weight] of Object.entries(plan[group])) if (weight > 0) names.push(`${group}.${name}`);
  return names.filter((name) => !plan.off.has(name) && !NEEDED.includes(name));
}

/** The same plan without some of its features. What is drawn for the others stays as it was. */
export function without(plan: Plan, names: readonly string[]): Plan {
  const changed = structuredClone({ ...plan, off: [] }) as unknown as Plan & Record<string, unknown>;
  for (const path of names) {
    const [group = '', name] = path.split('.');
    const value = NEUTRAL[path] ?? 0;
    if (name === undefined) changed[group] = value;
    else if ((FAULTS as readonly string[]).includes(group))
      (changed[group] as Record<string, number>)[name] = value;
  }
  return { ...changed, off: new Set([...plan.off, ...names]) };
}

/** What a seed decides. */
export function planOf(
  seed: number,
  { off = [], blockchains }: { off?: readonly string[]; blockchains?: readonly string[] } = {},
): Plan {
  const drawn = drawPlan(seed);
  const played = { ...drawn, blockchains: blockchains ?? drawn.blockchains };
  const { buying, actions } = onBlockchains(played);
  return without({ ...played, buying, actions }, off);
}

function onBlockchains({ blockchains, actions }: Plan): Pick<Plan, 'buying' | 'actions'> {
  const relatives = blockchains.filter(isEvm);
  const sharing = relatives.filter((id) =>
    relatives.some((each) => each !== id && spaceOf(each) === spaceOf(id)),
  );
  return {
    buying: {
      ...BUYING,
      batched: relatives.length > 0 ? BATCHED : 0,
      wrong_network: sharing.length > 0 ? WRONG_NETWORK : 0,
    },
    actions: {
      ...actions,
      ...(relatives.length > 0 && HARMFUL_TO_EVM),
      squat_elsewhere: sharing.length > 0 ? SQUAT_ELSEWHERE : 0,
    },
  };
}

/** Not every fault in every run: alone it goes deeper, and what it does is easier to see. */
function drawPlan(seed: number): Plan {
  const random = new Random(`plan ${seed}`);
  const sometimes = (least: number, most: number, share = 0.4): number =>
    random.chance(share) ? least * (most / least) ** random.unit() : 0;
  const blockchains = random.pick(MENUS);
  const network = Object.fromEntries(
    Object.keys(NO_FAULTS).map((name) => [name, sometimes(0.001, 0.05, 0.3)]),
  ) as unknown as NetworkFaults;
  const actions = { ...ACTIONS };
  for (const rare of ['trap', 'squat', 'mint_credit', 'lie', 'outage', 'dust', 'resolve', 'cancel'] as const)
    if (random.chance(0.5)) actions[rare] = 0;
    else if (random.chance(0.2)) actions[rare] *= 4;
  // A flood is much to read: where it is the only trouble, what it does to the others is seen.
  const has_flood = random.chance(0.15);
  if (!has_flood) actions.flood = 0;
  else for (const name of Object.keys(network) as (keyof NetworkFaults)[]) network[name] = 0;
  return {
    seed,
    off: new Set(),
    events: random.int(8_000, 30_000),
    blockchains,
    utxo_providers: {
      bitcoin: random.pick(['esplora', 'core']),
      litecoin: random.pick(['esplora', 'core']),
    },
    merchants: random.int(2, 6),
    hostile_merchants: random.int(0, 2),
    action_seconds: 1.5 * 20 ** random.unit(),
    actions,
    buying: BUYING,
    poor: random.chance(0.3) ? 0.5 : 0,
    webhook_failures: sometimes(0.01, 0.5),
    ttl_seconds: { fast: random.pick([30, 60, 300]), slow: random.pick([300, 900, 3600]) },
    requests_per_second: has_flood ? 4 : random.chance(0.6) ? 50 : null,
    network,
    hints: drawHints(new Random(`plan hints ${seed}`)),
    outage_seconds: random.pick([20, 120, 900]),
    ton: {
      ...NO_TON_FAULTS,
      far_behind: sometimes(0.002, 0.3),
      behind_ms: random.pick([20_000, 150_000, 900_000]),
      late_index: sometimes(0.005, 0.2),
      late_ms: random.pick([10_000, 60_000, 300_000]),
      omits_row: sometimes(0.005, 0.1, 0.25),
      repeats_page: sometimes(0.005, 0.1, 0.2),
      lacks_masters: sometimes(0.05, 0.5, 0.25),
      page_cap: random.pick([1000, 1000, 256, 100]),
    },
    solana: {
      ...NO_SOLANA_FAULTS,
      far_behind: sometimes(0.002, 0.3),
      behind_ms: random.pick([2_000, 20_000, 120_000]),
      late_listing: sometimes(0.005, 0.3),
      late_ms: random.pick([5_000, 20_000, 90_000]),
      late_giving: sometimes(0.005, 0.2),
      never_given: sometimes(0.05, 0.5),
      omits_entry: sometimes(0.005, 0.05, 0.25),
      undone: sometimes(0.002, 0.03, 0.25),
      page_cap: random.pick([1000, 1000, 100]),
    },
    utxo: {
      ...NO_UTXO_FAULTS,
      block_seconds: random.pick([60, 150, 600]),
      replicas: random.int(1, 2),
      evicted: sometimes(0.01, 0.2),
      forks: sometimes(0.02, 0.2),
      late_block: sometimes(0.02, 0.3),
      late_ms: random.pick([20_000, 300_000]),
      left: random.pick([0, 0.2, 0.6]),
    },
    evm: drawEvm(new Random(`plan evm ${seed}`)),
    daemon: {
      killed: sometimes(0.00002, 0.001),
      restart_seconds: random.chance(0.2) ? 600 : 0,
      away_seconds: random.pick([2, 30, 600]),
      clock_error_ms: random.chance(0.25) ? random.pick([-20_000, 20_000, -310_000, 310_000]) : 0,
      clock_drift: random.chance(0.2) ? random.pick([-0.0005, 0.0005, 0.005]) : 0,
      clock_step_seconds: random.chance(0.15) ? 1_800 : 0,
      clock_step_most_ms: random.pick([25_000, 3_600_000, 172_800_000]),
    },
  };
}

/** Drawn apart, so that a seed is the same for the others as it was before there were any. */
function drawHints(random: Random): HintFaults {
  const sometimes = (least: number, most: number): number =>
    random.chance(0.5) ? least * (most / least) ** random.unit() : 0;
  return random.chance(HINTED)
    ? {
        sent: 1,
        lost: sometimes(0.05, 0.9),
        doubled: sometimes(0.05, 0.9),
        late: sometimes(0.05, 0.5),
        late_ms: random.pick([20_000, 120_000]),
        invented: sometimes(0.1, 0.9),
        garbled: sometimes(0.1, 0.9),
        broken: sometimes(0.1, 0.9),
      }
    : NO_HINT_FAULTS;
}

/** Drawn apart, so that a seed is the same for the others as it was before there was this family. */
function drawEvm(random: Random): EvmFaults {
  const sometimes = (least: number, most: number, share = 0.4): number =>
    random.chance(share) ? least * (most / least) ** random.unit() : 0;
  return {
    far_behind: sometimes(0.002, 0.3),
    behind_ms: random.pick([5_000, 30_000, 300_000]),
    late_index: sometimes(0.005, 0.3),
    late_ms: random.pick([5_000, 20_000, 40_000]),
    slow: sometimes(0.01, 0.3),
    slow_ms: random.pick([20_000, 120_000, 600_000]),
    forks: sometimes(0.05, 0.8, 0.6),
    deep: random.pick([0, 0.1, 0.4]),
    fails_again: sometimes(0.01, 0.1, 0.25),
    stalls: sometimes(0.05, 0.5, 0.25),
    lacks_contracts: sometimes(0.02, 0.2, 0.15),
    overloaded: sometimes(0.002, 0.05, 0.25),
    range_cap: random.pick([1000, 1000, 100, 10, 5]),
    batch_cap: random.pick([100, 100, 20, 5, 1]),
    providers: random.int(1, 2),
    pace: random.chance(0.3) ? random.pick(PACES) : 0,
  };
}
