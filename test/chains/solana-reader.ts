// Reads a Solana chain as the daemon does: stores each page with the cursors it moves, rechecks what is pending.
import {
  type AccountProof,
  type Family,
  type Gateway,
  type Json,
  type NamedTransaction,
  type Page,
  type PendingTransfer,
  ProviderError,
  type ReadContext,
  type Tip,
  type Transfer,
  type UrgentAccount,
  type WatchedAddress,
} from '../../src/chains/family.ts';
import { gatewaysOf } from '../../src/chains/gateways.ts';
import { solanaFamily } from '../../src/chains/solana/family.ts';
import type { SolanaLimits } from '../../src/chains/solana/pass.ts';
import { rightClock, unasked } from '../helpers/reading.ts';
import { createTestRpc } from './rpc.ts';
import type { Mint, SolanaChain } from './solana-chain.ts';
import type { SolanaModel } from './solana-model.ts';

export interface ReaderOptions {
  /** The mint each token gateway is to use. */
  mints?: Record<string, Pick<Mint, 'address'>>;
  limits?: Partial<SolanaLimits>;
  /** Unix seconds from which addresses are watched. */
  since?: number;
  /** Requests that one reading may spend on single accounts: enough for any test unless given. */
  spare_requests?: number;
}

export type Reader = ReturnType<typeof createReader>;

const WAIT_MS = 20_000;
const STEP_MS = 50;
/** An account that failed is left alone for this long, and for twice as long after each further failure, up to … */
const PAUSE_SECONDS = 4;
const MAX_PAUSE_SECONDS = 600;

interface Stored extends AccountProof {
  failures: number;
  retry_at: number;
}

/** Of a model, time is the model's, and accounts in trouble are left alone for a growing while. */
export function createReader(
  chain: SolanaChain | SolanaModel,
  owners: string[],
  options: ReaderOptions = {},
) {
  const model = 'rpc' in chain ? chain : undefined;
  const now = () => Math.floor(model?.now ?? Date.now() / 1000);
  const family: Family = solanaFamily({ sweep_ticks: 1_000_000, sweeps_per_tick: 0, ...options.limits });
  const rpc = 'rpc' in chain ? chain.rpc() : createTestRpc({ provider: 'solana', url: chain.url });
  const gateways: Gateway[] = gatewaysOf('testnet')
    .filter((gateway) => gateway.blockchain === 'solana')
    .flatMap((gateway) => {
      const mint = options.mints?.[gateway.chain];
      return gateway.is_token && !mint ? [] : { ...gateway, token_contract: mint?.address ?? null };
    });
  const context: ReadContext = {
    rpc,
    network: 'testnet',
    blockchain: 'solana',
    gateways,
    now,
    ...rightClock,
    spare_requests: options.spare_requests ?? 100,
  };
  let chain_reader = family.open();
  // As of addresses that are read as soon as they are watched.
  const since = options.since ?? now() - 50;
  const cursors = new Map<string, Json>();
  const stored = new Map<string, Transfer>();
  const by_txid = new Map<string, Transfer[]>();
  const pages: Page[] = [];
  const errors: ProviderError[] = [];
  const proofs = new Map<string, Stored>();
  let urgent: readonly UrgentAccount[] = [];
  let tip: Tip | null = null;

  const reader = {
    context,
    family,
    recheck: (pending: readonly PendingTransfer[], changed: Partial<ReadContext> = {}) =>
      chain_reader.recheck({ ...context, ...changed }, pending, tip),
    lookUp: (named: NamedTransaction) => chain_reader.lookUp(context, named),
    /** Forgets what a restart forgets. */
    restart: () => {
      chain_reader = family.open();
    },
    cursors,
    pages,
    errors,
    owners,
    rpc,
    transfers: () => [...stored.values()],
    /** The amounts stored of one transaction to one address in one asset. */
    stored: (txid: string, address_key: string, chain: string) =>
      (by_txid.get(txid) ?? [])
        .filter((each) => each.address_key === address_key && each.chain === chain)
        .map(({ amount_atomic }) => amount_atomic),
    /** Of one asset at one address, as stored. */
    proof: (address_key: string, chain = 'solana') => proofs.get(`${address_key} ${chain}`),
    /** Accounts to be proved by the next passes. */
    ask(refs: readonly UrgentAccount[]) {
      urgent = refs;
    },
    tip: () => tip,

    /** One pass. A ProviderError is noted, what was read before it stays stored. Tells whether it was complete. */
    async tick(): Promise<boolean> {
      try {
        const request = {
          ...unasked,
          urgent: async () => urgent,
          behind: async () =>
            [...proofs.values()]
              .filter(({ trouble }) => trouble)
              .map((each) => ({ ...each, paused: model !== undefined && each.retry_at > now() })),
          addresses: async () =>
            owners.map((owner): WatchedAddress => ({ key: owner, address: owner, since, open: true })),
          cursor: null,
          accounts: async (keys: readonly string[]) =>
            new Map(keys.flatMap((key) => (cursors.has(key) ? [[key, cursors.get(key) as Json]] : []))),
        };
        for await (const page of chain_reader.read(context, request)) {
          pages.push(page);
          tip = page.tip ?? tip;
          for (const [key, cursor] of page.accounts ?? []) {
            cursors.set(key, JSON.parse(JSON.stringify(cursor)) as Json);
          }
          for (const proof of page.proofs ?? []) {
            const id = `${proof.address_key} ${proof.chain}`;
            const before = proofs.get(id);
            const read_through = Math.max(proof.read_through ?? 0, before?.read_through ?? 0) || null;
            const failures = proof.failed ? (before?.failures ?? 0) + 1 : 0;
            const pause = Math.min(MAX_PAUSE_SECONDS, PAUSE_SECONDS * 2 ** (failures - 1));
            proofs.set(id, { ...proof, read_through, failures, retry_at: proof.failed ? now() + pause : 0 });
          }
          for (const transfer of page.transfers) {
            const id = `${transfer.txid}/${transfer.index}`;
            const known = stored.get(id);
            if (known && known.amount_atomic !== transfer.amount_atomic)
              throw new Error(`${id} was read with another amount`);
            if (known) continue;
            stored.set(id, transfer);
            by_txid.set(transfer.txid, [...(by_txid.get(transfer.txid) ?? []), transfer]);
          }
        }
        return true;
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
        errors.push(error);
        return false;
      }
    },

    /** The methods asked during one pass. */
    async cost(): Promise<string[]> {
      const from = rpc.requests.length;
      await reader.tick();
      return rpc.requests.slice(from);
    },

    /** Passes until `count` transfers are stored. */
    async until(count: number): Promise<Transfer[]> {
      for (let waited = 0; waited < WAIT_MS && stored.size < count; waited += STEP_MS) {
        await reader.tick();
        if (stored.size < count) await new Promise((resolve) => setTimeout(resolve, STEP_MS));
      }
      if (stored.size < count) {
        throw new Error(`only ${stored.size} of ${count} transfers were read`, { cause: errors.at(-1) });
      }
      return reader.transfers();
    },

    /** Passes until three in a row found nothing to do but the change detection. */
    async settle(): Promise<void> {
      for (let quiet = 0, tries = 0; quiet < 3 && tries < 200; tries++) {
        quiet = (await reader.cost()).every((method) => method === 'getMultipleAccounts') ? quiet + 1 : 0;
      }
    },
  };
  return reader;
}
