// Searches what a payer names: among what was read first, then on the chains where its address could have been paid.
import { provedThrough } from '../../data/proofs.ts';
import type { InvoiceRow, TransferRow } from '../../data/schema/tables.ts';
import { transfersOfTransactions } from '../../data/transfers.ts';
import { type Gateway, ProviderError, type Transfer } from '../../src/chains/family.ts';
import { findTxid } from '../../src/claim.ts';
import { placeAt } from '../../src/match.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';
import { recordNamed, reevaluateInvoices } from '../settle/settle.ts';

/** Assets that one claim is searched in, its own first: more than a blockchain has, and its siblings' same asset. */
const GATEWAYS_PER_CLAIM = 8;

/** The id that a person pasted, in the spelling that readings store; null where it can be none. */
export const readTxid = (
  { config }: Pick<App, 'config'>,
  { blockchain }: Pick<InvoiceRow, 'blockchain'>,
  text: string,
): string | null => findTxid(text, (id) => config.chains.find(blockchain)?.family.normalizeTxid(id) ?? id);

/** What is stored of a transaction that paid the invoice's address, on its blockchain and on those that share addresses. */
export async function storedTransfers(
  { db, config }: Pick<App, 'db' | 'config'>,
  { blockchain, address_key }: InvoiceRow,
  txid: string,
): Promise<TransferRow[]> {
  const found: TransferRow[] = [];
  for (const each of [blockchain, ...config.chains.sharingAddresses(blockchain)])
    found.push(...(await transfersOfTransactions(db.query, each, [txid])));
  return found.filter((row) => row.address_key === address_key && row.state !== 'gone');
}

/** Reads what is new at the invoice's address, as the schedule does, and evaluates it. Throws ProviderError. */
export async function readNow(app: App, { id, blockchain, address_key, chain }: InvoiceRow): Promise<void> {
  await app.observer.poll(blockchain, [{ address_key, chain }]);
  await reevaluateInvoices(app, [id]);
}

/**
 * Asks the chains for a transaction that reading has not found, and stores what it paid to the address since the invoice was
 * made: matching and time judge it as they do all that is read. Returns the id it is stored by, which may be another than
 * the one named; null where there is nothing. Throws ProviderError where nothing was found and some chain could not be asked.
 */
export async function searchChains(app: App, invoice: InvoiceRow, txid: string): Promise<string | null> {
  const { address_key } = invoice;
  let failure: ProviderError | undefined;
  for (const gateway of gatewaysFor(app, invoice).slice(0, GATEWAYS_PER_CLAIM)) {
    const { blockchain, chain } = gateway;
    try {
      const all = await app.observer.lookUp(blockchain, { txid, address_key, gateway });
      const paid = all.filter((each) => each.address_key === address_key && each.chain === chain);
      if (paid.length > 0) return await record(app, { invoice, gateway }, paid);
    } catch (error) {
      // Where its own blockchain cannot say, no other can say that there is nothing.
      if (!(error instanceof ProviderError) || blockchain === invoice.blockchain) throw error;
      failure = error;
    }
  }
  if (failure) throw failure;
  return null;
}

async function record(
  app: App,
  { invoice, gateway }: { invoice: InvoiceRow; gateway: Gateway },
  paid: readonly Transfer[],
): Promise<string | null> {
  const { blockchain, chain } = gateway;
  const { address_key } = invoice;
  const proved = await provedThrough(app.db.query, { blockchain, address_key, chain });
  const dated = paid.map((each) => datedBy(each, proved));
  if (dated.some((each) => placeAt(each, invoice) === 'before')) return null;
  const scope = { blockchain, gateways: [gateway], now: seconds(app.clock) };
  await reevaluateInvoices(app, await recordNamed(app, scope, dated));
  return dated[0]?.txid ?? null;
}

/**
 * What reading has not found where it has read was made later, as far as anyone knows: a chain that does not say when must not
 * date by a claim what would have been late.
 */
const datedBy = (transfer: Transfer, proved_through: number): Transfer => ({
  ...transfer,
  earliest_at: Math.max(transfer.earliest_at, Math.min(proved_through, transfer.latest_at)),
});

/** The invoice's own gateway, the others of its blockchain, then its asset on those that share addresses, then their others. */
function gatewaysFor(app: App, { blockchain, chain }: InvoiceRow): Gateway[] {
  const { chains, network, gateways, blockchains } = app.config;
  const own = chains.disabled(network, gateways, blockchains).filter((each) => each.chain === chain);
  const elsewhere = chains.sharingAddresses(blockchain);
  const same = chains.sameAssetElsewhere(chain).map((each) => each.chain);
  const rank = (each: Gateway): number => {
    if (each.chain === chain) return 0;
    if (each.blockchain === blockchain) return 1;
    return same.includes(each.chain) ? 2 : 3;
  };
  return [...app.gateways, ...own]
    .filter((each) => each.blockchain === blockchain || elsewhere.includes(each.blockchain))
    .sort((one, other) => rank(one) - rank(other));
}
