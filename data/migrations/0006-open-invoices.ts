// Fewer and narrower indexes of invoices: one that is made is entered in those of open invoices only.
import { type Kysely, sql } from 'kysely';

const OPEN = `status = 'created'`;
const ENDED = `status <> 'created'`;

/** Lists by status hold what has ended: all that are open have one status, and are listed from two indexes of their own. */
const lists = {
  invoices_by_status: 'status, kind, created_at, id',
  invoices_by_chain: 'chain, status, kind, created_at, id',
  invoices_by_owner_status: 'owner_id, status, kind, created_at, id',
  invoices_by_owner_chain: 'owner_id, chain, status, kind, created_at, id',
};

const statements = [
  ...Object.entries(lists).flatMap(([name, columns]) => [
    `drop index ${name}`,
    `create index ${name} on invoices (${columns}) where ${ENDED}`,
  ]),
  // The last columns are filtered by without reading the rows. Serves what is overdue, too.
  `create index invoices_open on invoices (created_at, id, chain, kind) where ${OPEN}`,
  `create index invoices_open_by_owner on invoices (owner_id, created_at, id, chain, kind) where ${OPEN}`,
  // A gateway is of one blockchain.
  `drop index invoices_open_at`,
  `create index invoices_open_at on invoices (address_key, chain, created_at, id) where ${OPEN}`,
  `drop index invoices_overdue`,
  `drop index invoices_by_time`,
];

export const compatible = false;

export async function up(query: Kysely<never>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(query);
}
