// Everything of a merchant as it is stored, in pages, without what is secret and what is the deployment's own.
import type { z } from 'zod';
import { exportRows } from '../../data/export.ts';
import type { UserRow } from '../../data/schema/tables.ts';
import type { ExportPage, exportTables } from '../../src/api/schemas/merchant.ts';
import type { App } from '../context.ts';
import { presentPublicLog } from '../invoices/present.ts';
import { merchantOf } from './create.ts';

/** Columns that are of no one but the daemon, or of a buyer alone. */
const LEFT_OUT: ReadonlySet<string> = new Set(['caller', 'instance_id', 'due_at']);
const OPERATOR = /^operator:.*$/;

interface ExportQuery {
  table: (typeof exportTables)[number];
  after?: string | undefined;
  limit: number;
}

/** ExportPage. */
export async function exportPage(
  app: App,
  user: UserRow,
  { table, after, limit }: ExportQuery,
): Promise<z.input<typeof ExportPage>> {
  if (table === 'account') return { table, data: [await accountOf(app, user)], next: null };
  const { rows, next } = await exportRows(app.db, table, {
    merchant_id: user.id,
    after: after ?? null,
    limit,
  });
  return { table, data: rows.map(withoutOperatorWords).map(presentRow), next };
}

/** The profile, with names and dates of what is secret, and never the secrets. */
async function accountOf(app: App, user: UserRow): Promise<Record<string, unknown>> {
  const account = await merchantOf(app, user);
  return {
    id: user.id,
    email: user.email,
    source: user.source,
    full_name: user.full_name,
    created_at: user.created_at,
    email_proved_at: user.email_proved_at,
    slug: account.slug,
    webhook_url: account.webhook_url,
    has_webhook_secret: account.webhook_secret_sealed !== null,
    webhook_refills: account.webhook_refills === 1,
    enabled_currencies: account.enabled_currencies,
    house_since: account.house_since,
    prepaid_micros: account.prepaid_micros.toString(),
    ledger_seq: account.ledger_seq,
    ledger_hash: account.ledger_hash,
    network: app.config.network,
  };
}

/** What an operator wrote only operators read. */
function withoutOperatorWords(row: Record<string, unknown>): Record<string, unknown> {
  if (OPERATOR.test(String(row.dismissed_by)))
    return { ...row, dismissed_by: 'operator', dismissed_note: null };
  if ('to_status' in row && OPERATOR.test(String(row.actor)))
    return { ...row, note: presentPublicLog(row as never).note };
  return row;
}

/** Amounts are texts, because they pass what a number of JSON holds; an operator is not named. */
const presentRow = (row: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(row)
      .filter(([name]) => !LEFT_OUT.has(name))
      .map(([name, value]) => [name, name === 'actor' ? withoutOperator(value) : plain(value)]),
  );

const plain = (value: unknown): unknown => (typeof value === 'bigint' ? value.toString() : value);
/** Who did it, without the name of the operator: that only operators read. */
export const withoutOperator = (actor: unknown): string => String(actor).replace(OPERATOR, 'operator');
