// What the daemon does with an EVM family, in memory: stores pages and cursors, rechecks what is pending.
import { assets } from '../../src/chains/assets.ts';
import { evm } from '../../src/chains/evm/family.ts';
import type { EvmNetwork } from '../../src/chains/evm/networks.ts';
import {
  type AccountProof,
  type Gateway,
  type Json,
  type Network,
  type Page,
  type PendingTransfer,
  ProviderError,
  type ReadContext,
  type Rpc,
  type Tip,
  type Transfer,
  type TransferUpdate,
  type UnreadableAsset,
  type WatchedAddress,
} from '../../src/chains/family.ts';
import { rightClock, unasked } from '../helpers/reading.ts';

interface GatewayChoice {
  chain: string;
  token_contract?: string;
  decimals?: number;
  min_confirmations?: number;
}

/** A gateway of a network for tests: a coin, or a token where it has a contract. */
export function gatewayOf(
  network: EvmNetwork,
  { chain, token_contract, decimals = 6, min_confirmations = 12 }: GatewayChoice,
): Gateway {
  return {
    chain,
    currency: assets.USDC.currency,
    name: chain,
    network: 'testnet',
    blockchain: 'evm-test',
    blockchain_name: network.name,
    decimals,
    payable_decimals: 4,
    min_confirmations,
    block_seconds: network.block_seconds,
    payment_ttl_seconds: 1200,
    poll_interval_seconds: 6,
    usual_fee_usd: '0.01',
    supports_memo: false,
    unique_amount: true,
    is_token: token_contract !== undefined,
    token_contract: token_contract ?? null,
    exits: [],
    family: evm(network),
    asset: assets.USDC,
  };
}

export interface ObserverChoice {
  network: EvmNetwork;
  gateways: readonly Gateway[];
  rpc: Rpc;
  /** Another provider, for second opinions; by default the same once more. */
  other?: Rpc;
  /** Unix seconds. */
  now(): number;
  side?: Network;
}

const serial = { address: 0 };
/** A wallet that no one used before. */
export const freshAddress = (): string =>
  `0x${(0xa11ce00000000000n + BigInt(++serial.address)).toString(16).padStart(40, 'b')}`;

export type EvmObserver = ReturnType<typeof createEvmObserver>;

export function createEvmObserver({ network, gateways, rpc, other, now, side = 'testnet' }: ObserverChoice) {
  const family = evm(network);
  const context: ReadContext = {
    rpc,
    network: side,
    blockchain: 'evm-test',
    gateways,
    now,
    ...rightClock,
    askOther: (work) => work(other ?? rpc),
  };
  let reader = family.open();
  let idle = family.open();
  const watched = new Map<string, WatchedAddress>();
  const idOf = ({ txid, index }: { txid: string; index: string }) => `${txid} ${index}`;

  function pending(): PendingTransfer[] {
    return [...observer.transfers.entries()].flatMap(([id, transfer]) =>
      observer.gone.has(id) || transfer.final
        ? []
        : { ...transfer, first_seen_at: transfer.latest_at, blockhash: null },
    );
  }

  function follow(update: TransferUpdate): void {
    const { state, height, block_hash, confirmations, depth_seconds = null, reason } = update;
    if (state === 'gone') observer.gone.set(idOf(update), reason ?? '');
    const known = observer.transfers.get(idOf(update));
    if (!known) throw new Error(`${idOf(update)} is not stored, and became ${state}`);
    Object.assign(known, { height, block_hash, confirmations, depth_seconds, final: state === 'final' });
  }

  function store(page: Page): void {
    for (const transfer of observer.transfers.values())
      if (page.orphaned_blocks?.includes(transfer.block_hash ?? ''))
        Object.assign(transfer, { height: null, block_hash: null, confirmations: 0, final: false });
    for (const transfer of page.orphaned_transfers ?? [])
      if (!observer.transfers.has(idOf(transfer))) observer.transfers.set(idOf(transfer), { ...transfer });
    for (const transfer of page.transfers) {
      const known = observer.transfers.get(idOf(transfer));
      if (known && known.amount_atomic !== transfer.amount_atomic) throw new Error('another amount');
      const { earliest_at, latest_at } = transfer;
      observer.transfers.set(idOf(transfer), {
        ...transfer,
        earliest_at: Math.min(earliest_at, known?.earliest_at ?? earliest_at),
        latest_at: Math.min(latest_at, known?.latest_at ?? latest_at),
      });
      observer.gone.delete(idOf(transfer));
    }
    for (const update of page.updates ?? []) follow(update);
    if (page.cursor !== undefined) observer.cursor = JSON.parse(JSON.stringify(page.cursor)) as Json;
    for (const [account, cursor] of page.accounts ?? [])
      observer.accounts.set(account, JSON.parse(JSON.stringify(cursor)) as Json);
    for (const proof of page.proofs ?? []) {
      const before = observer.proofs.get(proof.address_key)?.read_through ?? 0;
      const read_through = Math.max(before, proof.read_through ?? 0) || null;
      observer.proofs.set(proof.address_key, { ...proof, read_through });
    }
    for (const { address_key } of page.caught_up ?? []) observer.proofs.delete(address_key);
    if (page.unreadable) observer.unreadable = page.unreadable;
    observer.is_unfinished = page.is_unfinished ?? false;
    observer.tip = page.tip ?? observer.tip;
    observer.pages.push(page);
  }

  const observer = {
    family,
    context,
    transfers: new Map<string, Transfer>(),
    /** Why transfers are gone. */
    gone: new Map<string, string>(),
    unreadable: [] as readonly UnreadableAsset[],
    pages: [] as Page[],
    /** Whether the last reading left something to the next one, which follows it at once. */
    is_unfinished: false,
    accounts: new Map<string, Json>(),
    /** By address, where its coin has a proof of its own. */
    proofs: new Map<string, AccountProof>(),
    cursor: null as Json | null,
    tip: null as Tip | null,
    read_through: null as number | null,
    /** What is about to end. */
    urgent: [] as { address_key: string; chain: string }[],
    errors: [] as ProviderError[],
    /** Whether the daemon dies once a page is stored, before the next one is asked for. */
    dies_after: null as ((page: Page) => boolean) | null,
    watch(address = freshAddress(), since = now()): string {
      const { key, address: shown } = family.normalizeAddress(address, side);
      watched.set(key, { key, address: shown, since, open: true });
      return key;
    },
    unwatch: (key: string) => watched.delete(key),
    /** One reading and what follows it; throws where the provider fails. */
    async read(changed: Partial<ReadContext> = {}): Promise<void> {
      let stated: number | null = null;
      const request = {
        ...unasked,
        addresses: async () => [...watched.values()],
        cursor: observer.cursor,
        accounts: async (keys: readonly string[]) =>
          new Map(
            keys.flatMap((key) =>
              observer.accounts.has(key) ? [[key, observer.accounts.get(key) as Json]] : [],
            ),
          ),
        urgent: async () => observer.urgent,
        pending: async () => pending(),
        read_through: observer.read_through,
      };
      for await (const page of reader.read({ ...context, ...changed }, request)) {
        store(page);
        stated = page.read_through ?? stated;
        if (observer.dies_after?.(page)) throw new Error('killed');
      }
      if (stated !== null) observer.read_through = Math.max(stated, observer.read_through ?? 0);
      for (const update of await reader.recheck({ ...context, ...changed }, pending(), observer.tip))
        follow(update);
    },
    /** The same; a failure of the provider is noted. Whether there was none. */
    async tryRead(changed: Partial<ReadContext> = {}): Promise<boolean> {
      try {
        await observer.read(changed);
        return true;
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
        observer.errors.push(error);
        return false;
      }
    },
    lookUp: (txid: string, address_key: string, gateway = gateways[0] as Gateway) =>
      reader.lookUp(context, { txid, address_key, gateway }),
    /** What is stored for one address and not gone, in order of amount. */
    to: (key: string): Transfer[] =>
      [...observer.transfers.entries()]
        .flatMap(([id, each]) => (each.address_key === key && !observer.gone.has(id) ? [each] : []))
        .sort((one, other) => Number(one.amount_atomic - other.amount_atomic)),
    amounts: (key: string): bigint[] => observer.to(key).map(({ amount_atomic }) => amount_atomic),
    /** Up to when everything that was paid in the coin is stored, as the daemon has it; 0 where that is not known. */
    provedThrough(key: string): number {
      if (observer.unreadable.some(({ chain }) => chain === 'a-coin')) return 0;
      const own = observer.proofs.get(key);
      return (own ? own.read_through : observer.read_through) ?? 0;
    },
    height: () => family.cursorHeight(observer.cursor),
    /** Forgets what a restart forgets. */
    restart(): void {
      reader = family.open();
    },
    /** Another daemon of the same database reads from now on; the next call changes back. */
    change(): void {
      [reader, idle] = [idle, reader];
    },
  };
  return observer;
}
