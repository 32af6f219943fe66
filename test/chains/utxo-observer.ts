// What the daemon does with a UTXO family, kept in memory: stores pages and cursors, rechecks what is pending.
import { randomBytes } from 'node:crypto';
import { bech32 } from '@scure/base';
import type { Json, Page, ReadContext, Tip, Transfer, TransferUpdate } from '../../src/chains/chain.ts';
import { findBlockchain, gatewaysOf } from '../../src/chains/gateways.ts';
import { rightClock, unasked } from '../helpers/reading.ts';
import { createTestRpc } from './rpc.ts';
import type { UtxoFront } from './utxo-fronts.ts';

export type UtxoBlockchain = 'bitcoin' | 'litecoin';
const REGTEST_PREFIX = { bitcoin: 'bcrt', litecoin: 'rltc' };

export const familyOf = (blockchain: UtxoBlockchain) => {
  const family = findBlockchain(blockchain)?.family;
  if (!family) throw new Error(`no blockchain ${blockchain}`);
  return family;
};

/** A receive address that nobody used before, as a regtest wallet of this coin writes it. */
export const freshAddress = (blockchain: UtxoBlockchain): string =>
  bech32.encode(REGTEST_PREFIX[blockchain], [0, ...bech32.toWords(randomBytes(20))]);

export const freshScript = (blockchain: UtxoBlockchain): string =>
  familyOf(blockchain).normalizeAddress(freshAddress(blockchain), 'testnet').key;

interface Observer {
  /** Watches the address from now on; the script to pay. */
  watch(address?: string, options?: { since?: number; open?: boolean }): string;
  /** One read to its end, or to a page at which `store` throws. Answers the stored pages. */
  read(store?: (page: Page) => void | Promise<void>): Promise<Page[]>;
  recheck(): Promise<TransferUpdate[]>;
  /** What is stored, by `txid:index`. Transfers reported gone are kept in `gone`. */
  transfers: Map<string, Transfer>;
  gone: Set<string>;
  /** Stored transfers to one script. */
  to(script: string): Transfer[];
  ranges: { from: number; to: number }[];
  cursor: Json | null;
  tip: Tip | null;
  /** Forgets what a restart forgets. */
  restart(): void;
  /** The clock of the observer, Unix seconds. */
  clock: { now: number };
}

export function createObserver(blockchain: UtxoBlockchain, front: UtxoFront): Observer {
  const family = familyOf(blockchain);
  const context: ReadContext = {
    rpc: createTestRpc({ provider: front.provider, url: front.url }),
    network: 'testnet',
    blockchain,
    gateways: gatewaysOf('testnet').filter((gateway) => gateway.blockchain === blockchain),
    cache: new Map(),
    now: () => observer.clock.now,
    ...rightClock,
  };
  const watched = new Map<string, { key: string; address: string; since: number; open: boolean }>();

  function apply(page: Page): void {
    for (const transfer of observer.transfers.values()) {
      if (!page.orphaned_blocks?.includes(transfer.block_hash ?? '')) continue;
      Object.assign(transfer, { height: null, block_hash: null, confirmations: 0 });
    }
    for (const transfer of page.transfers) {
      const id = `${transfer.txid}:${transfer.index}`;
      observer.transfers.set(id, transfer);
      observer.gone.delete(id);
    }
    for (const { from, to } of page.ranges ?? []) observer.ranges.push({ from, to });
    if (page.cursor !== undefined) observer.cursor = JSON.parse(JSON.stringify(page.cursor)) as Json;
    if (page.tip) observer.tip = page.tip;
  }

  const observer: Observer = {
    transfers: new Map(),
    gone: new Set(),
    ranges: [],
    cursor: null,
    tip: null,
    clock: { now: Math.floor(Date.now() / 1000) },
    watch(address = freshAddress(blockchain), { since = observer.clock.now, open = true } = {}) {
      const { key, address: shown } = family.normalizeAddress(address, 'testnet');
      watched.set(key, { key, address: shown, since, open });
      return key;
    },
    async read(store) {
      const pages: Page[] = [];
      const request = {
        ...unasked,
        addresses: async () => [...watched.values()],
        cursor: observer.cursor,
        accounts: async () => new Map<string, Json>(),
      };
      for await (const page of family.read(context, request)) {
        await store?.(page);
        apply(page);
        pages.push(page);
      }
      return pages;
    },
    async recheck() {
      const pending = [...observer.transfers.entries()]
        .filter(([id]) => !observer.gone.has(id))
        .map(([, transfer]) => ({ ...transfer, first_seen_at: transfer.latest_at, blockhash: null }));
      const updates = await family.recheck(context, pending, observer.tip);
      for (const update of updates) {
        const id = `${update.txid}:${update.index}`;
        if (update.state === 'gone') observer.gone.add(id);
        Object.assign(observer.transfers.get(id) as Transfer, {
          height: update.height,
          block_hash: update.block_hash,
          confirmations: update.confirmations,
        });
      }
      return updates;
    },
    to: (script) => [...observer.transfers.values()].filter(({ address_key }) => address_key === script),
    restart: () => context.cache.clear(),
  };
  return observer;
}
