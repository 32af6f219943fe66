// Reads the chains again, in memory and from their beginning, for every address that is watched, and compares the books with it.

import type { Snapshot } from '../../data/db/snapshot.ts';
import { watchedAddresses, watchedOn } from '../../data/invoices.ts';
import { unreadableAssets } from '../../data/proofs.ts';
import {
  type AccountBalance,
  blockRanges,
  compareAccount,
  readUntil,
  type StoredAccount,
  storedAccount,
} from '../../data/verify/chain.ts';
import type { Blockchain } from '../../src/chains/catalogue.ts';
import {
  type AccountProof,
  type AccountRef,
  type Gateway,
  type Json,
  type Page,
  ProviderError,
  type ReadContext,
  type ReadRequest,
  type Rpc,
  type Tip,
  type Transfer,
  type WatchedAddress,
} from '../../src/chains/family.ts';
import { type SteadyClock, seconds } from '../clock.ts';
import { readGateways } from '../observer/gateways.ts';
import { openRpc, type RpcSource } from '../observer/providers/rpc.ts';
import { providersOf } from '../observer/quorum.ts';
import { withElsewhere } from '../observer/watches.ts';
import { type ClockCheck, createClockCheck } from '../process/clock-check.ts';
import { runtimeOf } from '../process/runtime.ts';
import type { Config } from '../settings/config.ts';

/** Nothing else waits for this reading: single accounts may have all they need. */
const SPARE_REQUESTS = 1_000;
/** A reading that brings nothing new for so long is given up: what it lacks is reported. */
const PATIENCE_MS = 120_000;
/** Between two readings; a provider's index may be behind its accounts for a while. */
const PAUSE_MS = 1_000;
/** What providers prove lags behind their tip by less. */
const RECENT_SECONDS = 150;
/** By so much may a block's time be behind what is reported of its transactions, where a chain keeps no time. */
const BLOCK_BEHIND_SECONDS = 600;

export interface ChainOptions {
  config: Pick<Config, 'network' | 'proxies' | 'gateways' | 'blockchains' | 'chains'>;
  clock: SteadyClock;
  /** Where a blockchain is read from instead of the configured providers. */
  source?: (blockchain: string) => RpcSource | undefined;
  /** Nothing before is read or compared, Unix seconds; null: from the beginning of each watch. */
  since: number | null;
  sleep(ms: number): Promise<void>;
  patience_ms?: number;
  onProgress?(text: string): void;
}

/** Compares every watched address in every asset that is read, blockchain by blockchain. Writes nothing. */
export async function verifyChains(
  books: Pick<Snapshot, 'query'>,
  options: ChainOptions,
): Promise<AccountBalance[]> {
  const balances: AccountBalance[] = [];
  for (const blockchain of options.config.chains.blockchains)
    balances.push(...(await verifyChain(books, blockchain, options)));
  return balances;
}

async function verifyChain(
  { query }: Pick<Snapshot, 'query'>,
  blockchain: Blockchain,
  options: ChainOptions,
): Promise<AccountBalance[]> {
  const { config, clock, since, onProgress = () => {} } = options;
  const { id } = blockchain;
  const of = (all: readonly Gateway[]) => all.filter((gateway) => gateway.blockchain === id);
  const gateways = await readGateways(
    { db: { query }, clock },
    id,
    of(config.chains.enabled(config.network, config.gateways)),
    of(config.chains.disabled(config.network, config.gateways)),
  ).current();
  const now = seconds(clock);
  const here = await watchedAddresses(query, id, now);
  const elsewhere = await watchedOn(query, config.chains.sharingAddresses(id), now);
  const watched = withElsewhere(here, elsewhere, now).map((each) => ({
    ...each,
    since: Math.max(each.since, since ?? 0),
    open: true,
  }));
  const stored: StoredAccount[] = [];
  for (const address of watched)
    for (const { chain } of gateways)
      stored.push(await storedAccount(query, { blockchain: id, chain, watched: address }));
  if (stored.length === 0) return [];
  const source = options.source?.(id) ?? sourceOf(blockchain, options);
  const again = createReading({ blockchain, gateways, watched, source, options });
  try {
    const unreadable = new Set((await unreadableAssets(query, id)).map(({ chain }) => chain));
    const wanted = stored.filter(({ chain }) => !unreadable.has(chain));
    await again.read(wanted, (text) => onProgress(`${id}: ${text}`));
  } finally {
    await source.close();
  }
  const ranges = await blockRanges(query, id);
  const until = await readUntil(query, id);
  const slack_seconds = blockchain.family.keeps_time ? 0 : BLOCK_BEHIND_SECONDS;
  return stored.map((account) => {
    const proved_through = Math.max(account.proved_through, until(again.accountOf(account)));
    // What the books do not call proved is shown, and nothing is held against it.
    const unread = proved_through === 0 ? null : again.whyUnread(account);
    const credits = again.creditsOf(account);
    return compareAccount({ ...account, proved_through }, { credits, ranges, slack_seconds, unread });
  });
}

function sourceOf(blockchain: Blockchain, { config, clock }: ChainOptions): RpcSource {
  const configured = config.blockchains[blockchain.id];
  return openRpc({
    blockchain: blockchain.id,
    family: blockchain.family,
    network: config.network,
    providers: providersOf(blockchain, config.network, configured),
    requests_per_second: configured?.requests_per_second ?? blockchain.requests_per_second,
    clock,
    runtime: runtimeOf(config),
  });
}

interface ReadingOptions {
  blockchain: Blockchain;
  gateways: readonly Gateway[];
  watched: readonly WatchedAddress[];
  source: RpcSource;
  options: ChainOptions;
}

const keyOf = ({ address_key, chain }: AccountRef): string => `${address_key} ${chain}`;
const refOf = ({ watched, chain }: StoredAccount): AccountRef => ({ address_key: watched.key, chain });

/** What a reader would store, in memory: cursors, proofs and credits. */
class Memory {
  cursor: Json | null = null;
  read_through: number | null = null;
  readonly cursors = new Map<string, Json>();
  readonly proofs = new Map<string, AccountProof>();
  readonly credits = new Map<string, Transfer>();
  readonly unreadable = new Map<string, string>();
  /** Blocks read so far, or whatever else its positions count. */
  readonly reached = new Map<string, number>();

  take(page: Page): void {
    if (page.cursor !== undefined) this.cursor = page.cursor;
    this.read_through = page.read_through ?? this.read_through;
    for (const [account, cursor] of page.accounts ?? []) this.cursors.set(account, cursor);
    for (const proof of page.proofs ?? []) {
      const before = this.proofs.get(keyOf(proof))?.read_through ?? 0;
      const read_through = Math.max(before, proof.read_through ?? 0) || null;
      this.proofs.set(keyOf(proof), { ...proof, read_through });
    }
    for (const account of page.caught_up ?? []) this.proofs.delete(keyOf(account));
    if (page.unreadable) this.unreadable.clear();
    for (const { chain, reason } of page.unreadable ?? []) this.unreadable.set(chain, reason);
    for (const { scope, to } of page.ranges ?? [])
      this.reached.set(scope, Math.max(to, this.reached.get(scope) ?? 0));
    const orphaned = new Set(page.orphaned_blocks);
    for (const [key, credit] of this.credits)
      if (orphaned.has(credit.block_hash ?? '')) this.credits.set(key, { ...credit, height: null });
    for (const { txid, index, state } of page.updates ?? [])
      for (const [key, credit] of this.credits)
        if (state === 'gone' && credit.txid === txid && credit.index === index) this.credits.delete(key);
    for (const credit of page.transfers) this.credits.set(`${credit.txid} ${credit.index}`, credit);
  }

  provedThrough(account: AccountRef): number {
    if (this.unreadable.has(account.chain)) return 0;
    const own = this.proofs.get(keyOf(account));
    return (own ? own.read_through : this.read_through) ?? 0;
  }

  /** Grows with everything that brings the reading nearer to its end, and with nothing else. */
  progress(tip_height: number): string {
    const blocks = [...this.reached.values()].reduce(
      (most, to) => Math.max(most, Math.min(to, tip_height)),
      0,
    );
    return `${this.credits.size} ${blocks} ${this.cursors.size}`;
  }
}

/** Reads a blockchain from the beginning of its watches until all accounts are proved as far as the books are. */
function createReading({ blockchain, gateways, watched, source, options }: ReadingOptions) {
  const { clock, sleep, patience_ms = PATIENCE_MS, config } = options;
  const clock_check = createClockCheck(clock);
  const chain_reader = blockchain.family.open();
  let memory = new Memory();
  let failure: string | null = null;
  let tip_height = 0;

  const started_at = seconds(clock);
  /** Not read as far as the books are proved, nor nearly as far as now. */
  const isUnread = (account: StoredAccount) =>
    memory.provedThrough(refOf(account)) < Math.max(account.proved_through, started_at - RECENT_SECONDS);

  async function readOnce(rpc: Rpc, wanted: readonly StoredAccount[]): Promise<void> {
    const context: ReadContext = {
      rpc,
      network: config.network,
      blockchain: blockchain.id,
      gateways,
      now: () => seconds(clock),
      local: (chain_time) => clock_check.local(blockchain.id, chain_time),
      spare_requests: SPARE_REQUESTS,
    };
    const request: ReadRequest = {
      addresses: async () => watched,
      cursor: memory.cursor,
      accounts: async (keys) => entriesOf(memory.cursors, keys),
      urgent: async () => wanted.filter(isUnread).map(refOf),
      behind: async () => [...memory.proofs.values()].map((proof) => ({ ...proof, paused: false })),
      pending: async () => [],
      read_through: memory.read_through,
    };
    for await (const page of chain_reader.read(context, request)) {
      if (page.tip) tip_height = page.tip.height;
      if (page.tip && isMistimed(blockchain, clock_check, page.tip)) {
        // What this page says of times was by a clock that is wrong: all is read again.
        memory = new Memory();
        return;
      }
      memory.take(page);
    }
  }

  return {
    async read(wanted: readonly StoredAccount[], onProgress: (text: string) => void): Promise<void> {
      let progress = '';
      let since_ms = clock.monotonic_ms();
      while (wanted.some(isUnread)) {
        const left = wanted.filter(isUnread).length;
        const reached = Math.max(0, ...memory.reached.values());
        onProgress(
          `${wanted.length - left}/${wanted.length} accounts, ${memory.credits.size} credits, at ${reached}`,
        );
        try {
          await source.use((rpc) => readOnce(rpc, wanted));
          failure = null;
        } catch (error) {
          if (!(error instanceof ProviderError)) throw error;
          failure = error.message;
        }
        const now = `${wanted.filter(isUnread).length} ${memory.progress(tip_height)}`;
        if (now !== progress) since_ms = clock.monotonic_ms();
        else if (clock.monotonic_ms() - since_ms >= patience_ms) return;
        progress = now;
        if (wanted.some(isUnread)) await sleep(PAUSE_MS);
      }
    },
    /** Why an account was not read as far as the books are proved; null where it was. */
    whyUnread(account: StoredAccount): string | null {
      if (!isUnread(account)) return null;
      const { chain } = account;
      const trouble = memory.proofs.get(keyOf(refOf(account)))?.trouble;
      return memory.unreadable.get(chain) ?? trouble ?? failure ?? 'the provider does not prove it';
    },
    /** The account on the chain, where the reading has found it out. */
    accountOf: (account: StoredAccount) => memory.proofs.get(keyOf(refOf(account)))?.account,
    creditsOf: ({ watched: { key }, chain }: StoredAccount): Transfer[] =>
      [...memory.credits.values()].filter((credit) => credit.address_key === key && credit.chain === chain),
  };
}

const isMistimed = ({ id, family }: Blockchain, clock_check: ClockCheck, tip: Tip): boolean =>
  family.keeps_time && !clock_check.observe(id, tip.time, tip.age_seconds);

const entriesOf = (all: ReadonlyMap<string, Json>, keys: readonly string[]): Map<string, Json> =>
  new Map(keys.flatMap((key) => (all.has(key) ? [[key, all.get(key) as Json]] : [])));
