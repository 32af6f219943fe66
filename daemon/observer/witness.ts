// Asks a second provider about payments that are too large for the word of one.
import { noteContradiction, settleContradiction } from '../../data/contradictions.ts';
import type { TransferRow } from '../../data/schema/tables.ts';
import { type UnwitnessedTransfer, unwitnessedTransfers, witnessTransfer } from '../../data/transfers.ts';
import type { Blockchain } from '../../src/chains/catalogue.ts';
import {
  type ChainReader,
  type Gateway,
  ProviderError,
  type ReadContext,
  type Rpc,
  type Transfer,
} from '../../src/chains/family.ts';
import { isDeep } from '../../src/confirmations.ts';
import { seconds } from '../clock.ts';
import { reevaluateInvoices, type SettleDeps } from '../settle/settle.ts';
import type { RpcSource } from './providers/rpc.ts';
import type { Quorum } from './quorum.ts';

/** Transfers asked about after one reading; the rest come with the next. */
const PER_READ = 10;
/** Transfers among which those asked about are chosen: the largest invoices first, and each in its turn. */
const CANDIDATES = 500;
/** How long the second provider may lack a transfer that the first one calls deep enough, before that is a contradiction. */
const PATIENCE_SECONDS = 600;

type WitnessDeps = SettleDeps & { quorum: Quorum };

interface Witnessing {
  app: WitnessDeps;
  blockchain: Blockchain;
  chain_reader: ChainReader;
  source: RpcSource;
  gateways: readonly Gateway[];
  /** Carried over between readings. */
  waits: Waits;
}

/**
 * Transfers that are deep enough for their invoice are asked for at a provider other than the one that reads. It must
 * have the same credit, as deep; one that has it with another amount, or for long does not have it, contradicts: the
 * operator is shown both, and the invoice waits.
 */
export async function witnessPayments(
  { app, blockchain, chain_reader, source, gateways, waits }: Witnessing,
  reader_label: string,
  contextFor: (rpc: Rpc, label: string) => ReadContext,
): Promise<void> {
  const chains = gateways.map(({ chain }) => chain);
  const large = (row: UnwitnessedTransfer) => app.quorum.needed(blockchain.id, row.amount_usd_micros);
  if (!app.quorum.several(blockchain.id)) return;
  const candidates = (await unwitnessedTransfers(app.db.query, chains, CANDIDATES)).filter(large);
  const waiting = new Set(candidates.map(({ transfer }) => transfer.id));
  for (const id of waits.keys()) if (!waiting.has(id)) waits.delete(id);
  const asked_at = ({ transfer }: UnwitnessedTransfer) => waits.get(transfer.id)?.asked_at ?? 0;
  const rows = candidates.sort((one, other) => asked_at(one) - asked_at(other)).slice(0, PER_READ);
  if (rows.length === 0) return;
  try {
    await source.askOther(reader_label, async (rpc, label) => {
      const context = contextFor(rpc, label);
      for (const row of rows) await witness(app, blockchain, context, { chain_reader, row, label, waits });
    });
  } catch (error) {
    // The payment waits; what the reader itself read stands.
    if (!(error instanceof ProviderError)) throw error;
    app.log.warn({ blockchain: blockchain.id, error: error.message }, 'a second provider could not be asked');
  }
}

/**
 * By transfer: since when the second provider has been asked, and when it was asked last, Unix seconds. A restart begins to
 * count again.
 */
export type Waits = Map<string, { since: number; asked_at: number }>;

interface Asked {
  chain_reader: ChainReader;
  row: UnwitnessedTransfer;
  label: string;
  waits: Waits;
}

async function witness(
  app: WitnessDeps,
  blockchain: Blockchain,
  context: ReadContext,
  { chain_reader, row, label, waits }: Asked,
): Promise<void> {
  const { transfer } = row;
  const gateway = context.gateways.find(({ chain }) => chain === transfer.chain);
  if (!gateway) return;
  const now = seconds(app.clock);
  const since = waits.get(transfer.id)?.since ?? now;
  waits.set(transfer.id, { since, asked_at: now });
  const same = await find(app, chain_reader, context, { transfer, gateway });
  if (same === 'unknown') return;
  if (same && agrees(same, row)) {
    await app.db.transaction(async (tx) => {
      await witnessTransfer(tx, transfer, label, now);
      const subject = { blockchain: blockchain.id, kind: 'provider_differs', subject: transfer.id } as const;
      await settleContradiction(tx, subject, 'a second provider has the same now', now);
    });
    waits.delete(transfer.id);
    if (transfer.invoice_id) await reevaluateInvoices(app, [transfer.invoice_id]);
    return;
  }
  const is_other = same !== undefined && same.amount_atomic.toString() !== transfer.amount_atomic;
  if (is_other || now - since >= PATIENCE_SECONDS)
    await contradict(app, blockchain, { transfer, same, label });
}

/** The same credit as the second provider has it; `unknown` where it cannot say it of this one. */
async function find(
  { log }: WitnessDeps,
  chain_reader: ChainReader,
  context: ReadContext,
  { transfer, gateway }: { transfer: TransferRow; gateway: Gateway },
): Promise<Transfer | 'unknown' | undefined> {
  const { txid, address_key, idx } = transfer;
  try {
    const found = await chain_reader.lookUp(context, { txid, address_key, gateway });
    return found.find(({ index }) => index === idx);
  } catch (error) {
    // One transaction that it cannot answer for is no reason to ask it for no other.
    if (!(error instanceof ProviderError) || (error.kind !== 'bad_answer' && error.kind !== 'rpc'))
      throw error;
    log.warn(
      { blockchain: context.blockchain, txid, error: error.message },
      'a second provider could not find a transaction',
    );
    return 'unknown';
  }
}

/** The same amount, in the same block where both name one, and as deep as the invoice asks. */
function agrees(same: Transfer, { transfer, wait }: UnwitnessedTransfer): boolean {
  const { block_hash } = transfer;
  const is_elsewhere = same.block_hash !== null && block_hash !== null && same.block_hash !== block_hash;
  const is_deep = same.final || isDeep(wait, same);
  return same.amount_atomic.toString() === transfer.amount_atomic && is_deep && !is_elsewhere;
}

/** Lists it for the operator, and raises one alert; the invoice waits. */
async function contradict(
  { db, log, clock }: WitnessDeps,
  { id: blockchain }: Blockchain,
  { transfer, same, label }: { transfer: TransferRow; same: Transfer | undefined; label: string },
): Promise<void> {
  const { id: subject, txid, invoice_id } = transfer;
  const details = {
    stored_atomic: transfer.amount_atomic,
    read_atomic: same?.amount_atomic.toString() ?? null,
    stored_block: transfer.block_hash,
    read_block: same?.block_hash ?? null,
    read_confirmations: same?.confirmations ?? null,
    provider: label,
  };
  const values = { blockchain, kind: 'provider_differs', subject, txid, invoice_id, details } as const;
  const is_new = await db.transaction((tx) => noteContradiction(tx, values, seconds(clock)));
  if (is_new) log.error({ alert: 'provider_differs', blockchain, txid, ...details }, 'two providers differ');
}
