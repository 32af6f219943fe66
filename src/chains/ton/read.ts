// Reading TON: one masterchain query, then one query per hundred accounts, whatever the number of invoices.
import { z } from 'zod';
import type {
  Json,
  Page,
  PendingTransfer,
  ReadContext,
  ReadRequest,
  Tip,
  Transfer,
  TransferUpdate,
} from '../chain.ts';
import { refuseFuture } from '../future.ts';
import { type ReadAccount, resolveAccounts } from './accounts.ts';
import { getTip, getTransactions } from './toncenter.ts';
import { confirmationsAt, toTransfer } from './transfers.ts';

/** Accounts in one query; about 8 kB of URL, what proxies let through. */
const BATCH_ACCOUNTS = 100;
/** Shards and replicas of the indexer may be late by this much: that stretch is read again each time. */
const OVERLAP_SECONDS = 120;
/** A shard's block is in the masterchain this long after it was made; until then an invoice may have been paid in time. */
const SHARD_SECONDS = 5;
/** A backlog is read in stretches of this length, and the cursor moves after each. */
const SLICE_SECONDS = 21_600;
/** However long the backlog. */
const SLICES_LIMIT = 50;

const cursorSchema = z.object({ utime: z.int(), assets: z.array(z.string()) });
/** `utime`: read completely up to here. `assets`: those for which that holds. */
type Cursor = z.infer<typeof cursorSchema>;

interface Slice {
  from: number;
  /** Null: as far as the indexer goes. */
  to: number | null;
}

/** Reads everything since the cursor, then what newly watched accounts may have been paid before it. */
export async function* readTon(context: ReadContext, request: ReadRequest): AsyncGenerator<Page> {
  const tip = await getTip(context.rpc);
  const now = context.now();
  refuseFuture('toncenter /masterchainInfo: the last block', tip.time, now);
  const addresses = await request.addresses();
  const stored = await request.accounts(addresses.map(({ key }) => key));
  const { accounts, assets, ...resolved } = await resolveAccounts(context, addresses, stored);
  const cursor = readCursor(request.cursor);
  const start = Math.min(now, cursor?.utime ?? earliest(addresses, tip.time)) - OVERLAP_SECONDS;
  // Never beyond our own time: what is made until then would not be read.
  const end = Math.min(now, Math.max(cursor?.utime ?? 0, tip.time));
  const proved = context.local(tip.time - SHARD_SECONDS).earliest_at;
  const read_through = Math.min(proved, resolved.unresolved_since ?? proved);

  const unread = accounts.filter((account) => !wasRead(account, cursor));
  // An asset that was switched on again is marked as read only after its accounts have caught up.
  const settled = assets.filter((asset) => !cursor || cursor.assets.includes(asset));
  for (const slice of slices(start, tip.time, null)) {
    yield* readSlice(context, accounts, slice, tip);
    const to = Math.min(now, slice.to ?? tip.time);
    const ranges = to >= slice.from ? [{ scope: 'utime', from: slice.from, to }] : [];
    const page: Page = {
      transfers: [],
      cursor: { utime: Math.min(end, slice.to ?? end), assets: settled },
      ranges,
      tip,
    };
    yield slice.to === null ? { ...page, read_through } : page;
  }
  const late = unread.filter(({ since }) => since - OVERLAP_SECONDS < start);
  if (late.length > 0) {
    const from = earliest(late, start) - OVERLAP_SECONDS;
    for (const slice of slices(from, start, start)) yield* readSlice(context, late, slice, tip);
  }
  if (unread.length > 0 || settled.length < assets.length) {
    yield { transfers: [], cursor: { utime: end, assets }, accounts: resolved.markers(unread), tip };
  }
  if (resolved.trouble) throw resolved.trouble;
}

const earliest = (watched: readonly { since: number }[], latest: number): number =>
  watched.reduce((time, { since }) => Math.min(time, since), latest);

/** Whether the account has been read from its `since` to the chain's cursor. */
const wasRead = ({ asset, since, read_since }: ReadAccount, cursor: Cursor | null): boolean =>
  read_since !== null && read_since <= since && (cursor?.assets.includes(asset) ?? false);

function readCursor(stored: Json | null): Cursor | null {
  const parsed = cursorSchema.safeParse(stored);
  return parsed.success ? parsed.data : null;
}

/** The window in stretches; the last one ends at `last`. */
function* slices(from: number, until: number, last: number | null): Generator<Slice> {
  const length = Math.max(SLICE_SECONDS, Math.ceil((until - from) / SLICES_LIMIT));
  let start = from;
  for (; until - start > length; start += length) yield { from: start, to: start + length };
  yield { from: start, to: last };
}

async function* readSlice(
  { rpc, now, local }: ReadContext,
  accounts: readonly ReadAccount[],
  { from, to }: Slice,
  tip: Tip,
): AsyncGenerator<Page> {
  for (let first = 0; first < accounts.length; first += BATCH_ACCOUNTS) {
    const batch = new Map(accounts.slice(first, first + BATCH_ACCOUNTS).map((each) => [each.account, each]));
    for await (const rows of getTransactions(rpc, [...batch.keys()], from, to ?? undefined)) {
      const transfers = rows.flatMap((row): Transfer[] => {
        refuseFuture('toncenter /transactions: a transaction', row.now, now());
        const account = batch.get(row.account.toUpperCase());
        const transfer = account && toTransfer(row, account, tip, local);
        return transfer ? [transfer] : [];
      });
      if (transfers.length > 0) yield { transfers, tip };
    }
  }
}

/** A transaction in a masterchain block stays there, so its height and the tip say everything. */
export async function recheckTon(
  context: ReadContext,
  pending: readonly PendingTransfer[],
  tip: Tip | null,
): Promise<TransferUpdate[]> {
  if (pending.length === 0) return [];
  const now = tip ?? (await getTip(context.rpc));
  return pending.flatMap(({ chain, txid, index, height, block_hash }) => {
    const gateway = context.gateways.find((each) => each.chain === chain);
    if (height === null || !gateway) return [];
    const confirmations = confirmationsAt(now, height);
    const state = confirmations >= gateway.min_confirmations ? 'final' : 'pending';
    return { txid, index, state, confirmations, height, block_hash };
  });
}
