// What the daemon does with a UTXO family, in memory: stores pages and cursors, rechecks what is pending.
import { randomBytes } from 'node:crypto';
import { bech32 } from '@scure/base';
import type {
  AccountProof,
  Gateway,
  Json,
  NamedTransaction,
  Page,
  PendingTransfer,
  ReadContext,
  Tip,
  Transfer,
  TransferUpdate,
} from '../../src/chains/family.ts';
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

/** A receive address that no one used before, as a regtest wallet of this coin writes it. */
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
  /** What is stored, by `txid:index`. Transfers reported gone are moved to `gone`. */
  transfers: Map<string, Transfer>;
  gone: Set<string>;
  /** Stored transfers to one script. */
  to(script: string): Transfer[];
  ranges: { from: number; to: number }[];
  cursor: Json | null;
  tip: Tip | null;
  /** What was stated of all accounts, and of single ones by their script; Unix seconds. */
  read_through: number | null;
  proofs: Map<string, AccountProof>;
  /** How far the account of a script is proved. */
  provedThrough(script: string): number;
  /** Scripts that cannot wait. */
  urgent: Set<string>;
  /** Why transfers were reported gone, by `txid:index`. */
  reasons: Map<string, string>;
  lookUp(named: Omit<NamedTransaction, 'gateway'>): Promise<Transfer[]>;
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
    now: () => observer.clock.now,
    ...rightClock,
  };
  let reader = family.open();
  const gateway = context.gateways[0] as Gateway;
  const watched = new Map<string, { key: string; address: string; since: number; open: boolean }>();

  function pending(): PendingTransfer[] {
    return [...observer.transfers.entries()]
      .filter(([id]) => !observer.gone.has(id))
      .map(([, transfer]) => ({ ...transfer, first_seen_at: transfer.latest_at, blockhash: null }));
  }

  function follow(update: TransferUpdate): void {
    const id = `${update.txid}:${update.index}`;
    const { state, reason, height, block_hash, confirmations } = update;
    if (state === 'gone') {
      observer.gone.add(id);
      observer.reasons.set(id, reason ?? '');
    }
    const known = observer.transfers.get(id);
    if (known) Object.assign(known, { height, block_hash, confirmations });
  }

  function apply(page: Page): void {
    for (const transfer of observer.transfers.values()) {
      if (!page.orphaned_blocks?.includes(transfer.block_hash ?? '')) continue;
      Object.assign(transfer, { height: null, block_hash: null, confirmations: 0 });
    }
    for (const transfer of page.orphaned_transfers ?? []) {
      const id = `${transfer.txid}:${transfer.index}`;
      if (!observer.transfers.has(id)) observer.transfers.set(id, transfer);
    }
    for (const transfer of page.transfers) {
      const id = `${transfer.txid}:${transfer.index}`;
      const known = observer.transfers.get(id);
      observer.transfers.set(id, {
        ...transfer,
        earliest_at: Math.min(transfer.earliest_at, known?.earliest_at ?? Infinity),
        latest_at: Math.min(transfer.latest_at, known?.latest_at ?? Infinity),
      });
      observer.gone.delete(id);
    }
    for (const update of page.updates ?? []) follow(update);
    for (const { from, to } of page.ranges ?? []) observer.ranges.push({ from, to });
    if (page.cursor !== undefined) observer.cursor = JSON.parse(JSON.stringify(page.cursor)) as Json;
    if (page.tip) observer.tip = page.tip;
    for (const proof of page.proofs ?? []) observer.proofs.set(proof.address_key, proof);
    for (const { address_key } of page.caught_up ?? []) observer.proofs.delete(address_key);
  }

  const observer: Observer = {
    transfers: new Map(),
    gone: new Set(),
    ranges: [],
    read_through: null,
    proofs: new Map(),
    provedThrough: (script) =>
      (observer.proofs.has(script) ? observer.proofs.get(script)?.read_through : observer.read_through) ?? 0,
    urgent: new Set(),
    reasons: new Map(),
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
      let stated: number | null = null;
      const request = {
        ...unasked,
        addresses: async () => [...watched.values()],
        cursor: observer.cursor,
        accounts: async () => new Map<string, Json>(),
        urgent: async () =>
          [...observer.urgent].map((address_key) => ({ address_key, chain: gateway.chain })),
        behind: async () =>
          [...observer.proofs.values()]
            .filter(({ trouble }) => trouble !== null)
            .map((proof) => ({ ...proof, paused: false })),
        pending: async () => pending(),
        read_through: observer.read_through,
      };
      for await (const page of reader.read(context, request)) {
        await store?.(page);
        apply(page);
        stated = page.read_through ?? stated;
        pages.push(page);
      }
      if (stated !== null) observer.read_through = Math.max(stated, observer.read_through ?? 0);
      return pages;
    },
    async recheck() {
      const updates = await reader.recheck(context, pending(), observer.tip);
      for (const update of updates) follow(update);
      return updates;
    },
    lookUp: (named) => reader.lookUp(context, { ...named, gateway }),
    to: (script) => [...observer.transfers.values()].filter(({ address_key }) => address_key === script),
    restart: () => {
      reader = family.open();
    },
  };
  return observer;
}
