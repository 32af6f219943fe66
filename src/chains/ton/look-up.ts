// The credits of one transaction that somebody names by its hash.
import { Address } from '@ton/core';
import type { NamedTransaction, ReadContext, Transfer } from '../family.ts';
import { assetOf, COIN } from './accounts.ts';
import { keyOf } from './address.ts';
import { inspectAddress } from './inspect.ts';
import { getJettonWallet, getTip, getTransactions } from './providers/toncenter.ts';
import { toTransfer } from './transfers.ts';
import { hashOf } from './txid.ts';

/** The transaction's credit to the address in the gateway's asset, as reading gives it; none where it made no such credit. */
export async function lookUpTon(
  context: ReadContext,
  { txid, address_key, gateway }: NamedTransaction,
): Promise<Transfer[]> {
  const { rpc, local } = context;
  const named = hashOf(txid);
  if (!named) return [];
  // As the indexer spells it.
  const hash = Buffer.from(named, 'hex').toString('base64');
  const rows = (await getTransactions(rpc, { hash: [hash], sort: 'asc' })).filter((row) => row.hash === hash);
  if (rows.length === 0 || (await inspectAddress(rpc, address_key))) return [];
  const asset = assetOf(gateway);
  const wallet =
    asset === COIN
      ? address_key
      : await getJettonWallet(rpc, Address.parseRaw(asset), Address.parseRaw(address_key));
  const account = wallet instanceof Address ? keyOf(wallet) : wallet;
  const row = rows.find((each) => each.account === account);
  if (!row?.transaction || !account) return [];
  const { tip } = await getTip(rpc);
  const transfer = toTransfer(row.transaction, { account, gateway, address_key }, tip, local);
  return transfer ? [transfer] : [];
}
