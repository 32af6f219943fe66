// Claims as the wire shows them: to the payer, to the shop, to the operator.
import type { z } from 'zod';
import { type ClaimFilter, countClaims, type ListedClaim, listClaims } from '../../data/claims.ts';
import type { InvoiceRow, TransferRow } from '../../data/schema/tables.ts';
import type { Total } from '../../data/totals.ts';
import type { AdminClaim, ClaimFound, ClaimPublic } from '../../src/api/schemas/claim.ts';
import type { ClaimFinding, ClaimReason } from '../../src/claim.ts';
import { shownConfirmations } from '../../src/confirmations.ts';
import { formatDecimal } from '../../src/money.ts';
import type { App } from '../context.ts';

/** What was found for the claimed invoice. */
export interface Finding {
  invoice: InvoiceRow;
  /** As it is stored; null where none was named. */
  txid: string | null;
  found: ClaimFinding;
  reason: ClaimReason | null;
  /** What it speaks of, all of one asset; empty where nothing was found. */
  transfers: readonly TransferRow[];
}

/** Asset, sum and time of what was found; nulls where nothing was, or its asset is read no more. */
export function factsOf(
  { gateways }: Pick<App, 'gateways'>,
  { invoice, transfers }: Pick<Finding, 'invoice' | 'transfers'>,
): Pick<ListedClaim, 'chain' | 'currency' | 'decimals' | 'amount_atomic' | 'seen_at'> {
  const [first] = transfers;
  const asset =
    first?.chain === invoice.chain ? invoice : gateways.find(({ chain }) => chain === first?.chain);
  if (!first || !asset)
    return { chain: null, currency: null, decimals: null, amount_atomic: null, seen_at: null };
  const { chain, currency, decimals } = asset;
  return {
    chain,
    currency,
    decimals,
    amount_atomic: sumOf(transfers).toString(),
    seen_at: seenAt(transfers),
  };
}

const sumOf = (transfers: readonly TransferRow[]): bigint =>
  transfers.reduce((sum, { amount_atomic }) => sum + BigInt(amount_atomic), 0n);
const seenAt = (transfers: readonly TransferRow[]): number =>
  Math.min(...transfers.map(({ latest_at }) => latest_at));

const amountOf = (atomic: string | null, decimals: number | null): string | null =>
  atomic === null || decimals === null ? null : formatDecimal(BigInt(atomic), decimals);

/** ClaimFound. */
export function presentFinding(app: Pick<App, 'gateways'>, finding: Finding): z.output<typeof ClaimFound> {
  const { invoice, txid, found, reason, transfers } = finding;
  const { decimals, amount_atomic, ...facts } = factsOf(app, finding);
  const shown = (row: TransferRow) => shownConfirmations(invoice, row, row.state === 'final');
  return {
    invoice_id: invoice.id,
    ...{ txid, found, reason },
    ...facts,
    amount: amountOf(amount_atomic, decimals),
    confirmations: transfers.length === 0 ? 0 : Math.min(...transfers.map(shown)),
    min_confirmations: invoice.min_confirmations,
  };
}

/** ClaimPublic; a payment that another account has in its list is not named. */
export function presentClaim(row: ListedClaim): z.output<typeof ClaimPublic> {
  const { owner_id: _, owner_slug: __, ...claim } = presentAdminClaim(row);
  return { ...claim, payment_id: row.payment_owner_id === row.owner_id ? row.payment_id : null };
}

/** AdminClaim. */
export const presentAdminClaim = (row: ListedClaim): z.output<typeof AdminClaim> => ({
  id: row.id,
  invoice_id: row.invoice_id,
  invoice_status: row.invoice_status,
  external_ref: row.external_ref,
  txid: row.txid === '' ? null : row.txid,
  found: row.found,
  reason: row.reason,
  chain: row.chain,
  currency: row.currency,
  amount: amountOf(row.amount_atomic, row.decimals),
  seen_at: row.seen_at,
  payment_id: row.payment_id,
  times: row.times,
  created_at: row.created_at,
  updated_at: row.updated_at,
  owner_id: row.owner_id,
  owner_slug: row.owner_slug,
});

export interface ClaimPage<Claim> extends Partial<Total> {
  data: Claim[];
  has_more: boolean;
  next: string | null;
}

/** One page of claims, newest first; `owner_id` absent: of all accounts, null: of the platform key. */
export async function claimPage<Claim>(
  { db }: Pick<App, 'db'>,
  { count, ...filter }: ClaimFilter & { count?: boolean },
  present: (row: ListedClaim) => Claim,
): Promise<ClaimPage<Claim>> {
  const { limit } = filter;
  const rows = await db.readList(({ query }) => listClaims(query, { ...filter, limit: limit + 1 }));
  const has_more = rows.length > limit;
  const shown = rows.slice(0, limit);
  const total = count ? await db.readList(({ query }) => countClaims(query, filter)) : {};
  return { data: shown.map(present), has_more, next: has_more ? (shown.at(-1)?.id ?? null) : null, ...total };
}
