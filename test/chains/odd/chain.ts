// What the chains of this directory have in common.
import type { InvoiceRow } from '../../../data/schema/tables.ts';
import type { OddRpc } from './rpc.ts';

export interface OddChain {
  blockchain: string;
  rpc: OddRpc;
  /** Of blockchains that are not on by default: what the daemon is started with, and where the merchant is paid. */
  settings?: Record<string, string>;
  wallet?: string;
  /** Pays an invoice in full at this moment (Unix seconds); returns the txid it will have. */
  pay(invoice: Pick<InvoiceRow, 'chain' | 'address_key' | 'amount_atomic' | 'memo' | 'reference'>): string;
  /** Seconds pass; what was paid is mined. */
  now: number;
  /** What every address received, in atomic units, by `chain address_key`. */
  received: Map<string, bigint>;
}

export function addTo(
  received: OddChain['received'],
  { chain, address_key, amount_atomic }: Pick<InvoiceRow, 'chain' | 'address_key' | 'amount_atomic'>,
): void {
  const key = `${chain} ${address_key}`;
  received.set(key, (received.get(key) ?? 0n) + BigInt(amount_atomic));
}
