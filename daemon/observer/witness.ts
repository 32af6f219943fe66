// Asks a second provider about payments that are too large for the word of one.
import { noteContradiction } from '../../data/contradictions.ts';
import { type UnwitnessedTransfer, unwitnessedTransfers, witnessTransfers } from '../../data/transfers.ts';
import { type Gateway, ProviderError, type ReadContext, type Rpc } from '../../src/chains/chain.ts';
import type { Blockchain } from '../../src/chains/gateways.ts';
import { seconds } from '../context.ts';
import { reevaluateInvoices, type SettleApp } from '../settle.ts';
import type { RpcSource } from './rpc.ts';

/** Transfers asked about after one reading; the rest come with the next. */
const PER_READ = 20;

interface Witnessing {
  app: SettleApp;
  blockchain: Blockchain;
  source: RpcSource;
  gateways: readonly Gateway[];
}

/**
 * Transfers that are deep enough for their invoice are asked for at a provider other than the one that reads. It must
 * have the same credit, as deep; one that has it with another amount contradicts, and the operator is shown both.
 */
export async function witnessPayments(
  { app, blockchain, source, gateways }: Witnessing,
  reader_label: string,
  contextFor: (rpc: Rpc, label: string) => ReadContext,
): Promise<void> {
  const chains = gateways.map(({ chain }) => chain);
  const large = (row: UnwitnessedTransfer) => app.quorum.needed(blockchain.id, row.amount_usd_micros);
  if (!app.quorum.several(blockchain.id)) return;
  const rows = (await unwitnessedTransfers(app.db.query, chains, PER_READ)).filter(large);
  if (rows.length === 0) return;
  try {
    await source.askOther(reader_label, async (rpc, label) => {
      for (const row of rows) await witness(app, blockchain, contextFor(rpc, label), row, label);
    });
  } catch (error) {
    // The payment waits; what the reader itself read stands.
    if (!(error instanceof ProviderError)) throw error;
    app.log.warn({ blockchain: blockchain.id, error: error.message }, 'a second provider could not be asked');
  }
}

async function witness(
  app: SettleApp,
  { id: blockchain, family }: Blockchain,
  context: ReadContext,
  row: UnwitnessedTransfer,
  label: string,
): Promise<void> {
  const { transfer } = row;
  const gateway = context.gateways.find(({ chain }) => chain === transfer.chain);
  if (!gateway) return;
  const { txid, address_key } = transfer;
  const found = await family.lookUp(context, { txid, address_key, gateway });
  const same = found.find(({ index }) => index === transfer.idx);
  if (!same) return;
  const now = seconds(app.clock);
  if (same.amount_atomic.toString() !== transfer.amount_atomic) {
    const details = {
      stored_atomic: transfer.amount_atomic,
      read_atomic: same.amount_atomic.toString(),
      provider: label,
    };
    const { invoice_id } = transfer;
    app.log.error({ alert: 'provider_differs', blockchain, txid, ...details }, 'two providers differ');
    await app.db.transaction((tx) =>
      noteContradiction(
        tx,
        { blockchain, kind: 'provider_differs', subject: transfer.id, txid, invoice_id, details },
        now,
      ),
    );
    return;
  }
  const isDeep = same.final || (same.height !== null && same.confirmations >= row.min_confirmations);
  if (!isDeep) return;
  await witnessTransfers(app.db.query, [transfer.id], label, now);
  if (transfer.invoice_id) await reevaluateInvoices(app, [transfer.invoice_id]);
}
