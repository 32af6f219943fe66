// What operations and loops ask the databases is found by indexes: nothing reads or sorts a table that grows.
import { type CompiledQuery, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Db } from '../../data/db/open.ts';
import { openTonWorld } from '../api/ton-world.ts';
import { type Cast, described, exampleCall, rightful, type World } from '../api/world.ts';
import { databases } from '../helpers/database.ts';
import { invoiceRow, observe, readThrough, transferTo } from '../helpers/payments.ts';
import { recordStatements } from '../helpers/statements.ts';

/** Tables that have a row for each user, sale, transfer or request; the others have one for each blockchain or so. */
const growing = [
  'users',
  'merchants',
  'wallets',
  'units',
  'invoices',
  'watches',
  'payments',
  'transfers',
  'payment_logs',
  'ledger',
  'income',
  'income_totals',
  'balances',
  'events',
  'deliveries',
  'account_cursors',
  'account_proofs',
  'address_accounts',
  'contradictions',
  'idempotency',
];

/** Statements that read every row because their answer is about all of them; superusers ask the first two. */
const about_all: [RegExp, string][] = [
  [/^select count\(\*\) as "count" from "users"/, 'UsersPublic says how many there are'],
  [/^select count\(\*\) as "count" from "merchants".* like /s, 'a search for any part of a text'],
  [/from "units" inner join .* order by "units"."id" limit/s, 'the sitemap names every active unit'],
];

describe.each(databases)('plans on %s', (database) => {
  let world: World;
  let statements: Map<string, { query: CompiledQuery; by: string }>;
  beforeAll(async () => {
    world = await openTonWorld(database);
    statements = await everyStatement(world);
    if (database === 'postgres') await sql`analyze`.execute(world.service.app.db.query);
  });
  afterAll(() => world.stop());

  test('no statement reads or sorts a table that grows', async () => {
    const faults: string[] = [];
    for (const { query, by } of statements.values()) {
      if (about_all.some(([pattern]) => pattern.test(query.sql))) continue;
      const found = await faultsOf(world.service.app.db, query);
      if (found.length > 0) faults.push(`${by}: ${query.sql}\n  ${found.join('\n  ')}`);
    }
    expect(statements.size).toBeGreaterThan(100);
    expect(faults.join('\n\n'), 'an index in this order is missing: ARCHITECTURE.md, A migration').toBe('');
  });
});

/** Runs every operation and what the loops do, and notes each text that searches rows, with who asked first. */
async function everyStatement(world: World): Promise<Map<string, { query: CompiledQuery; by: string }>> {
  const { service } = world;
  const recording = recordStatements();
  const found = new Map<string, { query: CompiledQuery; by: string }>();
  const note = (by: string) => {
    for (const query of recording.take())
      if (!/^\s*insert/i.test(query.sql) && !found.has(query.sql)) found.set(query.sql, { query, by });
  };
  for (const endpoint of described) {
    const cast = await world.cast();
    recording.take();
    const { method, path, headers, ...call } = exampleCall(endpoint, cast.values);
    const idempotent: Record<string, string> = endpoint.idempotent ? { 'idempotency-key': endpoint.id } : {};
    await service.fetch(method, path, {
      ...call,
      ...rightful(endpoint.auth, cast),
      headers: { ...headers, ...idempotent },
    });
    note(endpoint.id);
  }
  await lists(world, await world.cast());
  note('lists');
  await payments(world, await world.cast());
  note('the observer');
  await service.app.webhooks.kick();
  note('webhooks');
  recording.stop();
  return found;
}

/** Filters and further pages, which the examples leave out. */
async function lists({ service }: World, { owner, operator, values }: Cast): Promise<void> {
  const ask = async (path: string, token?: string) => {
    const answer = await service.fetch('GET', path, token ? { token } : { key: owner.key });
    expect(answer.status, answer.text).toBe(200);
  };
  await ask(`/v1/invoices?after=${values.invoice_id}&external_ref=order-1`);
  await ask(`/v1/invoices?after=${values.invoice_id}`);
  await ask('/v1/invoices?status=settled&count=true');
  await ask('/v1/invoices?count=true');
  await ask('/v1/claims?count=true');
  await ask(`/api/v1/merchant/events?count=true&type=invoice.created`, owner.token);
  await ask('/api/v1/admin/payments?count=true', operator.token);
  await ask('/api/v1/admin/claims?count=true', operator.token);
  const { address, memo, external_ref } = await invoiceRow(service, values.invoice_id ?? '');
  const event = values.event_id ?? '';
  const texts = [values.invoice_id, event.slice(-8), address, memo, 'ab'.repeat(32), 'no-one@example.org'];
  for (const text of texts) await ask(`/v1/explain?q=${encodeURIComponent(text ?? '')}`, operator.token);
  for (const as of ['invoice', 'event'])
    await ask(`/v1/explain?q=${encodeURIComponent(external_ref ?? event)}&as=${as}`, owner.token);
  await ask('/v1/inbox', owner.token);
  await ask('/v1/figures', operator.token);
  const { data } = (await service.fetch('GET', '/v1/ledger', { token: operator.token })).json;
  const entry = data[0]?.id ?? values.invoice_id;
  for (const more of ['', `&owner_id=${owner.id}`]) {
    await ask(`/v1/ledger?after=${entry}${more}`, operator.token);
    await ask(`/api/v1/admin/events?after=${values.event_id}${more}`, operator.token);
    await ask(`/api/v1/admin/events?undelivered=true&count=true${more}`, operator.token);
    await ask(`/api/v1/admin/units?after=${values.unit_id}${more}`, operator.token);
  }
  for (const order of ['oldest', 'newest'])
    await ask(
      `/api/v1/merchant/events?after=${values.event_id}&type=invoice.created&order=${order}`,
      owner.token,
    );
  await ask('/api/v1/merchant/income?skip=5&to_date=2026-12-31', owner.token);
  await ask(`/api/v1/admin/merchants?q=${owner.id}`, operator.token);
}

/** A sale that is paid, one that is paid twice and too late, and a transfer that pays nothing. */
async function payments(world: World, { owner, values }: Cast): Promise<void> {
  const { service } = world;
  const paid = await invoiceRow(service, values.invoice_id ?? '');
  await observe(service, 'ton', [transferTo(service, paid, { final: true })]);
  await observe(service, 'ton', [
    transferTo(service, paid, { final: true }),
    transferTo(service, paid, { memo: 'NO-ONE', final: true }),
    transferTo(service, paid, { confirmations: 0 }),
  ]);
  await service.fetch('POST', '/v1/invoices', { key: owner.key, body: { chain: 'bitcoin', amount: '3' } });
  await service.app.observer.poll('ton');
  service.clock.advance(2 * 86_400);
  await readThrough(service, 'ton');
}

const faultsOf = (db: Db, query: CompiledQuery): Promise<string[]> =>
  db.dialect === 'sqlite' ? sqliteFaults(db, query) : postgresFaults(db, query);

async function sqliteFaults(db: Db, query: CompiledQuery): Promise<string[]> {
  const { rows } = await db.query.executeQuery<{ detail: string }>({
    ...query,
    sql: `explain query plan ${query.sql}`,
  });
  const lines = rows.map(({ detail }) => detail);
  const tables = lines.map((line) => /^(?:SCAN|SEARCH) (\w+)/.exec(line)?.[1] ?? '');
  const limited = /\blimit\b/i.test(query.sql) && tables.some((table) => growing.includes(table));
  const sorted = lines.some((line) => line.includes('TEMP B-TREE'));
  const filtered = /\bwhere\b/i.test(query.sql);
  return lines.filter((line, index) => {
    // Walking a table or an index in its order is no scan where a limit ends it.
    const walks = limited && !sorted && (line.includes('INDEX') || !filtered);
    if (line.startsWith('SCAN') && growing.includes(tables[index] ?? '')) return !walks;
    return limited && line.includes('TEMP B-TREE FOR ORDER BY') && !ofOne.test(query.sql);
  });
}

/** The few rows of one invoice may be sorted. */
const ofOne = /where "invoice_id" = \S+ order by/;

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  Plans?: PlanNode[];
}

async function postgresFaults(db: Db, query: CompiledQuery): Promise<string[]> {
  const root = await db.transaction(async (tx) => {
    // A test's tables are so small that reading and sorting all of them looks cheap.
    for (const way of ['seqscan', 'bitmapscan', 'sort'])
      await sql`set local ${sql.raw(`enable_${way}`)} = off`.execute(tx);
    const { rows } = await tx.executeQuery<{ 'QUERY PLAN': { Plan: PlanNode }[] }>({
      ...query,
      sql: `explain (format json) ${query.sql}`,
    });
    return rows[0]?.['QUERY PLAN'][0]?.Plan;
  });
  const faults: string[] = [];
  const visit = (node: PlanNode, limited: boolean) => {
    const type = node['Node Type'];
    const table = node['Relation Name'] ?? '';
    // With so few rows, walking a whole index may look cheaper than looking each row up; SQLite's plan tells those apart.
    if (type === 'Seq Scan' && growing.includes(table)) faults.push(`${type} on ${table}`);
    if (/Sort/.test(type) && limited && !ofOne.test(query.sql) && isUnbounded(node))
      faults.push(`${type} under a limit`);
    for (const child of node.Plans ?? []) visit(child, limited || type === 'Limit');
  };
  if (root) visit(root, false);
  return faults;
}

/** Whether a table that grows flows into the node without a limit of its own in between. */
const isUnbounded = (node: PlanNode): boolean =>
  node['Node Type'] !== 'Limit' &&
  (growing.includes(node['Relation Name'] ?? '') || (node.Plans ?? []).some(isUnbounded));
