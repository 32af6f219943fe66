// Rows written straight into the tables, for tests of the data alone: merchants, invoices, payments, transfers.
import { randomUUID } from 'node:crypto';
import type { Insertable } from 'kysely';
import type { Db } from '../../data/db/open.ts';
import type { NewInvoice } from '../../data/invoices.ts';
import { toJson } from '../../data/schema/json.ts';
import type { PaymentRow, Tables } from '../../data/schema/tables.ts';
import { GENESIS_HASH } from '../../src/ledger.ts';

export const START = 1_800_000_000;
const ROWS_PER_INSERT = 50;

type NewPayment = PaymentRow;
type NewTransfer = Insertable<Tables['transfers']>;

export async function addMerchant(
  db: Db,
  slug: string,
  values: Partial<Insertable<Tables['merchants']>> = {},
): Promise<string> {
  const id = randomUUID();
  await db.query
    .insertInto('users')
    .values({
      id,
      email: `${slug}@example.com`,
      source: 'email',
      subject: slug,
      password_hash: null,
      full_name: null,
      is_active: 1,
      is_superuser: 0,
      token_version: 1,
      created_at: START,
      deleted_at: null,
    })
    .execute();
  await db.query
    .insertInto('merchants')
    .values({
      id,
      slug,
      api_key_hash: id,
      api_key_sealed: '',
      webhook_url: null,
      webhook_secret_sealed: null,
      enabled_currencies: null,
      prepaid_micros: 0n,
      ledger_seq: 0,
      ledger_hash: GENESIS_HASH,
      created_at: START,
      ...values,
    })
    .execute();
  return id;
}

export function newInvoice(values: Partial<NewInvoice> = {}): NewInvoice {
  const { status = 'created', created_at = START } = values;
  return {
    id: randomUUID(),
    owner_id: null,
    kind: 'sale',
    shop: null,
    payable_with: null,
    switches: 0,
    unit_id: null,
    chain: 'ton',
    blockchain: 'ton',
    currency: 'TON',
    network: 'testnet',
    decimals: 9,
    min_confirmations: 1,
    confirm_seconds: null,
    until_final: 0,
    amount_usd_micros: 10_000_000n,
    amount_usd_fee_micros: 0n,
    rate_usd_nanos: '4000000000',
    amount_merchant_atomic: '2500000000',
    amount_fee_atomic: '0',
    amount_atomic: '2500000000',
    address: 'address',
    address_key: 'address',
    memo: null,
    reference: null,
    qr_payload: '',
    exits: {},
    status,
    payment_id: null,
    amount_match: 'none',
    received_atomic: null,
    txid: null,
    confirmations: 0,
    external_ref: null,
    callback_url: null,
    created_at,
    expires_at: created_at + 300,
    paid_at: status === 'confirmed' ? created_at + 60 : null,
    ended_at: status === 'created' ? null : created_at + 60,
    due_at: status === 'created' ? created_at + 300 : null,
    reserved: null,
    watch_until: created_at + 600,
    ...values,
  };
}

export function newPayment(values: Partial<NewPayment> = {}): NewPayment {
  const { created_at = START } = values;
  return {
    id: randomUUID(),
    invoice_id: null,
    main: null,
    owner_id: null,
    chain: 'ton',
    blockchain: 'ton',
    currency: 'TON',
    decimals: 9,
    status: 'unmatched',
    txid: null,
    received_atomic: '1000000000',
    amount_match: 'none',
    confirmations: 1,
    listed_as: 'unapplied',
    listed_at: created_at,
    dismissed: 0,
    dismissed_at: null,
    dismissed_by: null,
    dismissed_note: null,
    created_at,
    updated_at: created_at,
    ...values,
  };
}

export function newTransfer(values: Partial<NewTransfer> = {}): NewTransfer {
  const { first_seen_at = START } = values;
  return {
    id: randomUUID(),
    blockchain: 'ton',
    txid: randomUUID(),
    idx: 'ton:address',
    chain: 'ton',
    address_key: 'address',
    amount_atomic: '1000000000',
    memo: null,
    reference_keys: toJson([]),
    sender: null,
    ambiguous: null,
    height: 1,
    block_hash: null,
    earliest_at: first_seen_at,
    latest_at: first_seen_at,
    inputs: toJson([]),
    blockhash: null,
    witness: null,
    confirmations: 1,
    state: 'final',
    disposition: 'unmatched',
    invoice_id: null,
    payment_id: null,
    booked_invoice_id: null,
    first_seen_at,
    updated_at: first_seen_at,
    ...values,
  };
}

export async function insertAll<Table extends 'invoices' | 'payments' | 'transfers'>(
  db: Db,
  table: Table,
  rows: (Table extends 'invoices' ? NewInvoice : Insertable<Tables[Table]>)[],
): Promise<void> {
  const encoded = rows.map((row) => ('exits' in row ? { ...row, exits: toJson(row.exits) } : row));
  for (let at = 0; at < encoded.length; at += ROWS_PER_INSERT)
    await db.query
      .insertInto(table)
      .values(encoded.slice(at, at + ROWS_PER_INSERT) as never)
      .execute();
}
