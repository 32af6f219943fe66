// Reads one blockchain: page by page from the provider into the database, then asks about what was pending.
import { accountCursors, ensureCursor, getCursor, noteFailure, noteSuccess } from '../../data/cursors.ts';
import { watchedAddresses } from '../../data/invoices.ts';
import { pendingTransfers } from '../../data/transfers.ts';
import {
  type Gateway,
  type Json,
  type Network,
  type PendingTransfer,
  ProviderError,
  type ReadContext,
  type Rpc,
  type Tip,
  type WatchedAddress,
} from '../../src/chains/chain.ts';
import type { Blockchain } from '../../src/chains/gateways.ts';
import { seconds } from '../context.ts';
import { apply, type SettleApp } from '../settle.ts';
import type { RpcSource } from './rpc.ts';
import { CursorMoved, type StoreContext, storePage, storeUpdates } from './store.ts';

/** Pending transfers asked about in one step. */
const PENDING_BATCH = 250;
/**
 * Readings begun in one read: each that another daemon overtakes is begun again where that one stands, and each whose
 * provider fails is begun again with the next one.
 */
const READINGS_PER_READ = 5;

export interface ReaderOptions {
  app: SettleApp;
  network: Network;
  blockchain: Blockchain;
  source: RpcSource;
  /** The gateways to read now. */
  gateways(): Promise<readonly Gateway[]>;
}

/** A reading is of the gateways that it began with. */
type Reading = Omit<ReaderOptions, 'gateways'> & { gateways: readonly Gateway[] };

export interface Reader {
  blockchain: Blockchain;
  source: RpcSource;
  /** Reads everything new once. Throws ProviderError where no provider is left to ask; what was read before is stored. */
  read(): Promise<void>;
}

export function createReader(options: ReaderOptions): Reader {
  const { app, blockchain, source } = options;
  const cache = new Map<string, unknown>();
  return {
    blockchain,
    source,
    async read() {
      for (let reading = 1; ; reading++) {
        try {
          return await readOnce();
        } catch (error) {
          if (error instanceof ProviderError) {
            await noteFailure(app.db.query, blockchain.id, error.message, seconds(app.clock));
            if (reading === READINGS_PER_READ || source.retryAt() > app.clock.ms()) throw error;
          } else if (!(error instanceof CursorMoved)) throw error;
          else if (reading === READINGS_PER_READ) return;
        }
      }
    },
  };

  async function readOnce(): Promise<void> {
    const started_at = seconds(app.clock);
    const watched = await watchedNow(options);
    if (watched.length === 0) return;
    const reading = { ...options, gateways: await options.gateways() };
    if (reading.gateways.length === 0) return;
    await ensureCursor(app.db.query, blockchain.id);
    const read_through = await source.use((rpc) => readPages(reading, cache, rpc, watched, started_at));
    await noteSuccess(app.db.query, blockchain.id, read_through);
  }
}

async function watchedNow({
  app,
  blockchain,
}: Pick<ReaderOptions, 'app' | 'blockchain'>): Promise<WatchedAddress[]> {
  const now = seconds(app.clock);
  const rows = await watchedAddresses(app.db.query, blockchain.id, now);
  return rows.map((row) => ({
    key: row.address_key,
    address: row.address,
    since: row.since,
    open: row.open_until >= now,
  }));
}

/** Returns the moment up to which everything made has been read, Unix seconds. */
async function readPages(
  options: Reading,
  cache: Map<string, unknown>,
  rpc: Rpc,
  watched: readonly WatchedAddress[],
  started_at: number,
): Promise<number> {
  const { app, blockchain, gateways } = options;
  const row = await getCursor(app.db.query, blockchain.id);
  const context: ReadContext = {
    rpc,
    network: options.network,
    blockchain: blockchain.id,
    gateways,
    cache,
    now: () => seconds(app.clock),
  };
  let version = row?.version ?? 0;
  let tip: Tip | null = null;
  let read_through = started_at;
  const request = {
    addresses: () => watchedNow(options),
    cursor: isBehindAll(row?.last_ok_at ?? null, watched)
      ? null
      : (JSON.parse(row?.cursor ?? 'null') as Json),
    accounts: (keys: readonly string[]) => accountCursors(app.db.query, blockchain.id, keys),
  };
  for await (const page of blockchain.family.read(context, request)) {
    const stored = await storePage(storeContext(options), version, page);
    version = stored.version;
    tip = page.tip ?? tip;
    read_through = Math.min(read_through, page.read_through ?? started_at);
    await lookAtAll(app, stored.touched);
  }
  await recheck(options, context, tip);
  return read_through;
}

/** Nothing watched now is older than what was read last: reading may begin at the addresses instead of the old cursor. */
const isBehindAll = (last_ok_at: number | null, watched: readonly WatchedAddress[]): boolean =>
  last_ok_at !== null && watched.every((address) => address.since > last_ok_at);

async function recheck(options: Reading, context: ReadContext, tip: Tip | null): Promise<void> {
  const { app, blockchain } = options;
  let after = '';
  for (;;) {
    const rows = await pendingTransfers(app.db.query, blockchain.id, after, PENDING_BATCH);
    if (rows.length === 0) return;
    const pending: PendingTransfer[] = rows.map((row) => ({
      chain: row.chain,
      address_key: row.address_key,
      txid: row.txid,
      index: row.idx,
      height: row.height,
      block_hash: row.block_hash,
      first_seen_at: row.first_seen_at,
    }));
    const updates = await blockchain.family.recheck(context, pending, tip);
    await lookAtAll(app, await storeUpdates(storeContext(options), updates, pending));
    after = rows.at(-1)?.id ?? '';
    if (rows.length < PENDING_BATCH) return;
  }
}

const storeContext = ({ app, blockchain, gateways }: Reading): StoreContext => ({
  app,
  blockchain: blockchain.id,
  gateways,
  now: seconds(app.clock),
});

/** One invoice's trouble is its own: it stays due, and the clock looks at it again. */
export async function lookAtAll(
  app: SettleApp,
  invoice_ids: readonly string[],
  actor = 'observer',
): Promise<void> {
  for (const invoice_id of invoice_ids) {
    try {
      await apply(app, invoice_id, { fact: { kind: 'look' }, actor });
    } catch (error) {
      app.log.error({ invoice_id, err: error }, 'an invoice could not be settled; it is tried again');
    }
  }
}
