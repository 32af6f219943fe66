// What the TON tests share: a chain with a merchant and a buyer, and a reader that stores as the observer does.
import { afterEach, beforeEach } from 'vitest';
import type {
  AccountProof,
  AccountRef,
  ChainReader,
  Gateway,
  Json,
  Page,
  ReadContext,
  Transfer,
  UnreadableAsset,
  WatchedAddress,
} from '../../../src/chains/family.ts';
import { gatewaysOf } from '../../../src/chains/gateways.ts';
import { ton } from '../../../src/chains/ton/family.ts';
import { rightClock, unasked } from '../../helpers/reading.ts';
import { createTestRpc, type TestRpc } from '../rpc.ts';
import { startTonChain, type TestJetton, type TonChain, type TonWallet } from '../ton-chain.ts';

export const ONE_TON = 1_000_000_000n;
export const ONE_USDT = 1_000_000n;
export const [coin, usdt] = gatewaysOf('testnet').filter(({ blockchain }) => blockchain === 'ton') as [
  Gateway,
  Gateway,
];

export let chain: TonChain;
export let rpc: TestRpc;
export let jetton: TestJetton;
export let merchant: TonWallet;
export let buyer: TonWallet;

/** A new chain before each test, with a buyer who has both assets; ends it afterwards. */
export function useTonChain(): void {
  beforeEach(async () => {
    chain = await startTonChain({ clock: 'manual' });
    rpc = createTestRpc({ provider: 'toncenter', url: chain.url });
    jetton = await chain.deployJetton({ address: usdt.token_contract ?? undefined });
    merchant = await chain.createWallet();
    buyer = await chain.createWallet({ version: 'v5' });
    await chain.mintTo({ jetton, to: buyer, amount: 1000n * ONE_USDT });
    chain.advanceTime(600);
  });
  afterEach(() => chain.stop());
}

/** What the observer stores of its readings, and what its process caches between them. */
export interface Store {
  cursor: Json | null;
  accounts: Map<string, Json>;
  transfers: Map<string, Transfer>;
  pages: Page[];
  /** By address and gateway, as `account_proofs` has them. */
  proofs: Map<string, AccountProof>;
  unreadable: UnreadableAsset[];
  reader: ChainReader;
}
export const emptyStore = (): Store => ({
  cursor: null,
  accounts: new Map(),
  transfers: new Map(),
  pages: [],
  proofs: new Map(),
  unreadable: [],
  reader: ton.open(),
});

const proofKey = ({ address_key, chain }: AccountRef) => `${address_key} ${chain}`;

/** How far an asset at an address is proved, and what is wrong with it. */
export const proofOf = (store: Store, { key }: { key: string }, { chain }: Gateway = coin) =>
  store.proofs.get(proofKey({ address_key: key, chain }));

/** Stores what a page proves: what was proved once stays so. */
function putProofs(store: Store, { proofs = [], caught_up = [], unreadable }: Page): void {
  for (const proof of proofs) {
    const before = store.proofs.get(proofKey(proof))?.read_through ?? null;
    const read_through =
      before === null || proof.read_through === null
        ? (proof.read_through ?? before)
        : Math.max(before, proof.read_through);
    store.proofs.set(proofKey(proof), { ...proof, read_through });
  }
  for (const ref of caught_up) store.proofs.delete(proofKey(ref));
  if (unreadable) store.unreadable = unreadable;
}

export const watch = (wallet: TonWallet, since = chain.now()): WatchedAddress => {
  const { address, key } = ton.normalizeAddress(wallet.address, 'testnet');
  return { address, key, since, open: true };
};

interface ReadOptions {
  gateways?: Gateway[];
  context?: Partial<ReadContext>;
  /** Accounts to be proved. */
  urgent?: readonly AccountRef[];
  /** Whether accounts that failed are left alone. */
  paused?: boolean;
  /** After so many pages the process dies; what was stored stays. */
  pages?: number;
}

/** The coin and the jetton of a wallet. */
export const refsOf = ({ key }: TonWallet): AccountRef[] =>
  [coin, usdt].map(({ chain }) => ({ address_key: key, chain }));

/** One reading, stored page by page as the observer does. */
export async function readInto(
  store: Store,
  watched: WatchedAddress[],
  options: ReadOptions = {},
): Promise<Transfer[]> {
  const { gateways = [coin, usdt], urgent = [], paused = false } = options;
  const now = () => chain.now();
  const context = {
    rpc,
    network: 'testnet',
    blockchain: 'ton',
    gateways,
    now,
    ...rightClock,
    ...options.context,
  };
  const behind = async () =>
    [...store.proofs.values()]
      .filter(({ trouble }) => trouble !== null)
      .map((proof) => ({ ...proof, paused: paused && proof.failed }));
  const accounts = async (keys: readonly string[]) => {
    const known = keys.flatMap((key): [string, Json][] => {
      const marker = store.accounts.get(key);
      return marker === undefined ? [] : [[key, marker]];
    });
    return new Map(known);
  };
  const request = {
    addresses: async () => watched,
    cursor: store.cursor,
    accounts,
    urgent: async () => urgent,
    behind,
    pending: unasked.pending,
    read_through: null,
  };
  const seen: Transfer[] = [];
  let pages = 0;
  for await (const page of store.reader.read(context as ReadContext, request)) {
    store.pages.push(page);
    putProofs(store, page);
    for (const transfer of page.transfers) {
      store.transfers.set(`${transfer.txid} ${transfer.index}`, transfer);
      seen.push(transfer);
    }
    if (page.cursor !== undefined) store.cursor = page.cursor;
    for (const [account, cursor] of page.accounts ?? []) store.accounts.set(account, cursor);
    if (++pages === options.pages) break;
  }
  return seen;
}

export const readAll = (watched = [watch(merchant, chain.now() - 60)]) => readInto(emptyStore(), watched);

export const memosOf = (transfers: Transfer[]) => transfers.map(({ memo }) => memo);
/** Requests to a path so far. */
export const requestsTo = (path: string) => rpc.requests.filter((request) => request.startsWith(path)).length;
