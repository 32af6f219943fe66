// Reads what was only looked up: transactions that somebody named, held against the chain that this daemon follows.
import type { TransferRow } from '../../data/schema/tables.ts';
import {
  type ChainReader,
  type Gateway,
  type PendingTransfer,
  ProviderError,
  type ReadContext,
  type Tip,
  type Transfer,
  type TransferUpdate,
} from '../../src/chains/family.ts';
import { GRACE_SECONDS } from '../../src/invoice.ts';
import { seconds } from '../clock.ts';
import {
  type ReadScope,
  recordRead,
  recordUpdates,
  reevaluateInvoices,
  type SettleDeps,
} from '../settle/settle.ts';

/** As a family is asked about it. */
export const asPending = (row: TransferRow): PendingTransfer => ({
  chain: row.chain,
  address_key: row.address_key,
  txid: row.txid,
  index: row.idx,
  height: row.height,
  block_hash: row.block_hash,
  first_seen_at: row.first_seen_at,
  inputs: row.inputs,
  blockhash: row.blockhash,
});

/** Transfers looked for after one reading, each in its turn. */
const PER_READ = 5;
/** What the provider that reads has not had for so long since it was named is given up; a reading brings it back. */
const GIVEN_UP_SECONDS = GRACE_SECONDS;

/** By transfer: when it was looked for last, Unix seconds. */
export type Turns = Map<string, number>;

interface Verifying {
  app: SettleDeps;
  chain_reader: ChainReader;
  gateways: readonly Gateway[];
  scope: ReadScope;
  tip: Tip | null;
  /** Carried over between readings. */
  turns: Turns;
}

/**
 * Asks the provider of this reading for each transfer that no reading has shown, and where its block stands on the chain
 * that was read. Only what stands there is stored as read: what one provider stated of it when it was named counts for nothing.
 */
export async function verifyNamed(
  verifying: Verifying,
  context: ReadContext,
  unread: readonly TransferRow[],
): Promise<void> {
  const { app, turns } = verifying;
  const waiting = new Set(unread.map(({ id }) => id));
  for (const id of turns.keys()) if (!waiting.has(id)) turns.delete(id);
  const turnOf = ({ id }: TransferRow) => turns.get(id) ?? 0;
  const rows = unread.toSorted((one, other) => turnOf(one) - turnOf(other)).slice(0, PER_READ);
  for (const row of rows) {
    turns.set(row.id, seconds(app.clock));
    await verify(verifying, context, row);
  }
}

async function verify(verifying: Verifying, context: ReadContext, row: TransferRow): Promise<void> {
  const { app, gateways, scope } = verifying;
  const gateway = gateways.find(({ chain }) => chain === row.chain);
  if (!gateway) return;
  const same = await find(verifying, context, row, gateway);
  if (same === 'unknown') return;
  if (!same) return giveUp(verifying, row);
  const place = await placeOf(verifying, context, row, same);
  if (!place || place.height === null) return;
  const { state, confirmations, depth_seconds = null, height, block_hash } = place;
  const final = state === 'final';
  const read = { ...same, confirmations, depth_seconds, height, block_hash, final };
  await reevaluateInvoices(app, await recordRead(app, scope, [read]));
}

/** The same credit as the provider of this reading has it; `unknown` where it cannot say. */
async function find(
  { app, chain_reader }: Verifying,
  context: ReadContext,
  { txid, idx, address_key }: TransferRow,
  gateway: Gateway,
): Promise<Transfer | 'unknown' | undefined> {
  try {
    const found = await chain_reader.lookUp(context, { txid, address_key, gateway });
    return found.find(({ index }) => index === idx);
  } catch (error) {
    // One transaction that it cannot answer for keeps no other from its turn, and no blockchain from being read.
    if (!(error instanceof ProviderError) || (error.kind !== 'bad_answer' && error.kind !== 'rpc'))
      throw error;
    app.log.debug(
      { blockchain: context.blockchain, txid, error: error.message },
      'a named transaction was not answered for',
    );
    return 'unknown';
  }
}

/** Where its block stands on the chain that was read, and how deep; undefined where it stands on none, or that is not known. */
async function placeOf(
  { chain_reader, tip }: Verifying,
  context: ReadContext,
  row: TransferRow,
  { height, block_hash, blockhash }: Transfer,
): Promise<TransferUpdate | undefined> {
  if (height === null) return undefined;
  const placed = { ...asPending(row), height, block_hash, blockhash: blockhash ?? row.blockhash };
  const updates = await chain_reader.recheck(context, [placed], tip);
  return updates.find(({ txid, index, state }) => txid === row.txid && index === row.idx && state !== 'gone');
}

async function giveUp({ app, scope }: Verifying, row: TransferRow): Promise<void> {
  const waited_seconds = seconds(app.clock) - row.first_seen_at;
  if (waited_seconds < GIVEN_UP_SECONDS) return;
  const reason = `it was named ${Math.floor(waited_seconds / 3600)} hours ago, and the provider that is read has no such payment`;
  const gone = { state: 'gone', confirmations: 0, height: null, block_hash: null, reason } as const;
  const update = { txid: row.txid, index: row.idx, ...gone };
  await reevaluateInvoices(app, await recordUpdates(app, scope, [update], [asPending(row)]));
}
