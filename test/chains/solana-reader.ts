// Reads a Solana chain as the daemon does: stores each page with the cursors it moves, rechecks what is pending.
import {
  type Family,
  type Gateway,
  type Json,
  type Page,
  ProviderError,
  type ReadContext,
  type Tip,
  type Transfer,
  type WatchedAddress,
} from '../../src/chains/chain.ts';
import { gatewaysOf } from '../../src/chains/gateways.ts';
import type { SolanaLimits } from '../../src/chains/solana/account.ts';
import { solanaFamily } from '../../src/chains/solana.ts';
import { rightClock, unasked } from '../helpers/reading.ts';
import { createTestRpc } from './rpc.ts';
import type { Mint, SolanaChain } from './solana-chain.ts';

export interface ReaderOptions {
  /** The mint each token gateway is to use. */
  mints?: Record<string, Mint>;
  limits?: Partial<SolanaLimits>;
  /** Unix seconds from which addresses are watched. */
  since?: number;
}

export type Reader = ReturnType<typeof createReader>;

const WAIT_MS = 20_000;
const STEP_MS = 50;

export function createReader(chain: SolanaChain, owners: string[], options: ReaderOptions = {}) {
  const family: Family = solanaFamily({ sweep_ticks: 1_000_000, sweeps_per_tick: 0, ...options.limits });
  const rpc = createTestRpc({ provider: 'solana', url: chain.url });
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
    cache: new Map(),
    now: () => Math.floor(Date.now() / 1000),
    ...rightClock,
  };
  const since = options.since ?? 0;
  const cursors = new Map<string, Json>();
  const stored = new Map<string, Transfer>();
  const pages: Page[] = [];
  const errors: ProviderError[] = [];
  let tip: Tip | null = null;

  const reader = {
    context,
    family,
    cursors,
    pages,
    errors,
    owners,
    rpc,
    transfers: () => [...stored.values()],
    tip: () => tip,

    /** One pass. A ProviderError is noted, what was read before it stays stored. Tells whether it was complete. */
    async tick(): Promise<boolean> {
      try {
        const request = {
          ...unasked,
          addresses: async () =>
            owners.map((owner): WatchedAddress => ({ key: owner, address: owner, since, open: true })),
          cursor: null,
          accounts: async (keys: readonly string[]) =>
            new Map(keys.flatMap((key) => (cursors.has(key) ? [[key, cursors.get(key) as Json]] : []))),
        };
        for await (const page of family.read(context, request)) {
          pages.push(page);
          tip = page.tip ?? tip;
          for (const [key, cursor] of page.accounts ?? []) {
            cursors.set(key, JSON.parse(JSON.stringify(cursor)) as Json);
          }
          for (const transfer of page.transfers) {
            const id = `${transfer.txid}/${transfer.index}`;
            if (!stored.has(id)) stored.set(id, transfer);
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
