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

/** Assets that one claim is searched in, those asked for first: more than a blockchain has, and its siblings' same asset. */
const GATEWAYS_PER_CLAIM = 8;

/** The invoice in one coin that it is or was asked for in, and what a person named, in the spelling that readings of that store. */
export interface Named {
  offer: InvoiceRow;
  txid: string;
}

/** What a person pasted, for each coin in which it can name a transaction. */
export const namedIn = (app: Pick<App, 'config'>, offers: readonly InvoiceRow[], text: string): Named[] =>
  offers.flatMap((offer) => {
    const txid = readTxid(app, offer, text);
    return txid === null ? [] : [{ offer, txid }];
  });

const readTxid = (
  { config }: Pick<App, 'config'>,
  { blockchain }: Pick<InvoiceRow, 'blockchain'>,
  text: string,
): string | null => findTxid(text, (id) => config.chains.find(blockchain)?.family.normalizeTxid(id) ?? id);

/** What is stored of a transaction that paid the offer's address, on its blockchain and on those that share addresses. */
export async function storedTransfers(
  { db, config }: Pick<App, 'db' | 'config'>,
  { offer: { blockchain, address_key }, txid }: Named,
): Promise<TransferRow[]> {
  const found: TransferRow[] = [];
  for (const each of [blockchain, ...config.chains.sharingAddresses(blockchain)])
    found.push(...(await transfersOfTransactions(db.query, each, [txid])));
  return found.filter((row) => row.address_key === address_key && row.state !== 'gone');
}

/**
 * Reads what is new where the invoice may be paid, as the schedule does, and evaluates it. Returns whether all of it could be
 * read.
 */
export async function readNow(app: App, id: string, offers: readonly InvoiceRow[]): Promise<boolean> {
  let is_whole = true;
  for (const blockchain of new Set(offers.map((offer) => offer.blockchain))) {
    const accounts = offers.filter((offer) => offer.blockchain === blockchain);
    const keys = accounts.map(({ address_key, chain }) => ({ address_key, chain }));
    const read = await unlessSilent(() => app.observer.poll(blockchain, keys).then(() => true));
    is_whole &&= read ?? false;
  }
  await reevaluateInvoices(app, [id]);
  return is_whole;
}

/** Undefined where the chain cannot be asked. */
async function unlessSilent<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof ProviderError) return undefined;
    throw error;
  }
}

/**
 * Asks the chains for a transaction that reading has not found, and stores what it paid to the address since the invoice was
 * asked for there: matching and time judge it as they do all that is read. Returns what it is stored by, which may be another
 * id than the one named; null where there is nothing, undefined where nothing was found and some chain could not be asked.
 */
export async function searchChains(app: App, named: readonly Named[]): Promise<Named | null | undefined> {
  let is_whole = true;
  for (const { offer, txid, gateway } of searchesFor(app, named).slice(0, GATEWAYS_PER_CLAIM)) {
    const { blockchain, chain } = gateway;
    const { address_key } = offer;
    const all = await unlessSilent(() => app.observer.lookUp(blockchain, { txid, address_key, gateway }));
    is_whole &&= all !== undefined;
    const paid = (all ?? []).filter((each) => each.address_key === address_key && each.chain === chain);
    if (paid.length === 0) continue;
    const stored = await record(app, { invoice: offer, gateway }, paid);
    return stored === null ? null : { offer, txid: stored };
  }
  return is_whole ? null : undefined;
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

/**
 * The gateways of the coins that the invoice is and was asked for in, the others of their blockchains, then the same assets on
 * those that share addresses, then their others; each once for an address.
 */
function searchesFor(app: App, named: readonly Named[]): (Named & { gateway: Gateway })[] {
  const { chains, network, gateways, blockchains } = app.config;
  const disabled = chains.disabled(network, gateways, blockchains);
  const all = named.flatMap(({ offer, txid }) => {
    const { blockchain, chain } = offer;
    const elsewhere = chains.sharingAddresses(blockchain);
    const same = chains.sameAssetElsewhere(chain).map((each) => each.chain);
    const rankOf = (each: Gateway): number => {
      if (each.chain === chain) return 0;
      if (each.blockchain === blockchain) return 1;
      return same.includes(each.chain) ? 2 : 3;
    };
    return [...app.gateways, ...disabled.filter((each) => each.chain === chain)]
      .filter((each) => each.blockchain === blockchain || elsewhere.includes(each.blockchain))
      .map((gateway) => ({ offer, txid, gateway, rank: rankOf(gateway) }));
  });
  const places = new Map<string, (typeof all)[number]>();
  for (const each of all.sort((one, other) => one.rank - other.rank)) {
    const place = `${each.gateway.chain} ${each.offer.address_key}`;
    if (!places.has(place)) places.set(place, each);
  }
  return [...places.values()];
}
