// Laws 1 to 4: the ledger, and what is derived from it and from income.
import { createHash, createHmac } from 'node:crypto';
import {
  accountsOf,
  entryText,
  GENESIS_HASH,
  type LedgerKind,
  PLATFORM_FEE_BASIS_POINTS,
  REFILL_CREDIT_MULTIPLIER,
  sealHead,
  signedAmount,
} from '../../src/ledger.ts';
import type { Executor } from '../db/database.ts';
import type { LedgerRow } from '../schema/tables.ts';
import { bySql, type Check, collector, type VerifyContext } from './law.ts';

/** Rows read in one step where each is evaluated alone. */
const ROWS_PER_READ = 5_000;

/** The fee of a volume, as `platformFee` computes it. */
const feeOf = (volume: string): string => `((${volume} * ${PLATFORM_FEE_BASIS_POINTS} + 5000) / 10000)`;
/** Whether a balance covers a volume, as `covers` does. */
export const coversSql = (balance: string, volume: string): string =>
  `(${balance} * ${REFILL_CREDIT_MULTIPLIER} >= ${volume} and ${balance} >= ${feeOf(volume)})`;

const RESTORE =
  'stop the daemon and restore a backup from before; compare the entries with it to see what was changed';

async function* entries(query: Executor): AsyncGenerator<LedgerRow[]> {
  let last = { merchant_id: '', seq: 0 };
  for (;;) {
    const rows = await query
      .selectFrom('ledger')
      .selectAll()
      .where((where) =>
        where(where.refTuple('merchant_id', 'seq'), '>', where.tuple(last.merchant_id, last.seq)),
      )
      .orderBy('merchant_id')
      .orderBy('seq')
      .limit(ROWS_PER_READ)
      .execute();
    if (rows.length > 0) yield rows;
    if (rows.length < ROWS_PER_READ) return;
    last = rows.at(-1) as LedgerRow;
  }
}

/** Why an entry does not follow from the one before it; null where it does. */
function faultOf(row: LedgerRow, before: LedgerRow | undefined, key: Uint8Array | null): string | null {
  if (row.seq !== (before?.seq ?? 0) + 1) return 'its number does not follow';
  if (row.previous_hash !== (before?.hash ?? GENESIS_HASH)) return 'it names another entry before it';
  if (row.balance_micros !== (before?.balance_micros ?? 0n) + signedAmount(row))
    return 'its balance does not follow';
  if (row.hash_version !== 1 && key === null) return null;
  const { hash, ...entry } = row;
  const made = row.hash_version === 1 ? createHash('sha256') : createHmac('sha256', key as Uint8Array);
  return made.update(entryText(entry)).digest('hex') === hash ? null : 'its hash is not of its contents';
}

const chain: Check = {
  law: 1,
  says: 'an entry of the ledger that does not follow from the one before it',
  advice: RESTORE,
  async find({ query, secrets }) {
    const key = 'missing' in secrets ? null : secrets.ledger_key;
    const found = collector();
    let keyed = 0;
    let before: LedgerRow | undefined;
    for await (const rows of entries(query))
      for (const row of rows) {
        if (before?.merchant_id !== row.merchant_id) before = undefined;
        const fault = faultOf(row, before, key);
        if (row.hash_version !== 1 && key === null) keyed++;
        if (fault !== null)
          found.add({ merchant_id: row.merchant_id, seq: row.seq, entry_id: row.id, fault });
        before = row;
      }
    if (found.count === 0 && keyed > 0) return { unchecked: whyNoKey(secrets, keyed) };
    return found;
  },
};

const whyNoKey = (secrets: VerifyContext['secrets'], keyed: number): string =>
  'missing' in secrets
    ? `${keyed} entries have hashes that need the secret: ${secrets.missing}`
    : `${keyed} entries have hashes under a key that is not in the database`;

const seals: Check = {
  law: 1,
  says: 'a sealed head of the ledger that is not what was sealed',
  advice: RESTORE,
  async find({ query, secrets }) {
    const found = collector();
    const rows = await query
      .selectFrom('ledger_seals')
      .leftJoin('ledger', (join) =>
        join
          .onRef('ledger.merchant_id', '=', 'ledger_seals.merchant_id')
          .onRef('ledger.seq', '=', 'ledger_seals.seq'),
      )
      .selectAll('ledger_seals')
      .select('ledger.hash as entry_hash')
      .execute();
    if (rows.length > 0 && ('missing' in secrets || secrets.ledger_key === null))
      return { unchecked: whyNoKey(secrets, rows.length) };
    const key = 'missing' in secrets ? null : secrets.ledger_key;
    for (const { merchant_id, seq, hash, seal, entry_hash } of rows) {
      const is_sealed = key !== null && sealHead({ merchant_id, seq, hash }, key) === seal;
      if (!is_sealed) found.add({ merchant_id, seq, fault: 'the seal is not of this head' });
      else if (entry_hash !== hash) found.add({ merchant_id, seq, fault: 'the entry is not the sealed one' });
    }
    return found;
  },
};

const kinds: readonly LedgerKind[] = ['refill', 'fee', 'credit', 'demo_credit'];

/** An account of `accountsOf` as SQL, for the merchant of the row. */
function accountSql(kind: LedgerKind, side: 'debit_account' | 'credit_account'): string {
  const merchant_id = '?';
  return `'${accountsOf({ kind, merchant_id })[side].replace(merchant_id, `' || merchant_id || '`)}'`;
}

const ofKind = (side: 'debit_account' | 'credit_account'): string =>
  `case kind ${kinds.map((kind) => `when '${kind}' then ${accountSql(kind, side)}`).join(' ')} end`;

const attention = `('held', 'late', 'unmatched', 'orphaned')`;

/** What triggers maintain in `tallies`, counted again. */
const recount = `
  select 'users' as name, '' as key, 0 as day, count(*) as n, 0 as a, 0 as f from users where deleted_at is null
  union all select 'merchants', '', 0, count(*), 0, 0 from merchants
  union all select 'units', '', 0, count(*), 0, 0 from units
  union all select 'invoices', status, 0, count(*), 0, 0 from invoices group by status
  union all select 'owner_invoices', owner_id, 0, count(*), 0, 0 from invoices where owner_id is not null group by owner_id
  union all select 'sales', currency, paid_at / 86400, count(*), sum(amount_usd_micros), 0 from invoices
    where status = 'confirmed' and kind = 'sale' group by currency, paid_at / 86400
  union all select 'ledger', kind, created_at / 86400, count(*), sum(amount_micros), 0 from ledger
    group by kind, created_at / 86400
  union all select 'owner_income', merchant_id, 0, count(*), sum(amount_usd_micros), sum(fee_charged_micros) from income
    group by merchant_id
  union all select 'webhooks', webhook_status, 0, count(*), 0, 0 from income
    where webhook_status in ('failed', 'unknown') group by webhook_status
  union all select 'payments:' || status, blockchain, 0, count(*), 0, 0 from payments
    where status in ${attention} and dismissed = 0 group by status, blockchain`;

export const ledgerLaws: Check[] = [
  chain,
  bySql(
    1,
    'a balance that is not what the newest entry of the ledger says',
    RESTORE,
    () => `select m.id as merchant_id, m.ledger_seq, m.prepaid_micros, l.balance_micros
      from merchants m
      left join ledger l on l.merchant_id = m.id and l.seq = m.ledger_seq
      where case when m.ledger_seq = 0
          then m.prepaid_micros <> 0 or m.ledger_hash <> '${GENESIS_HASH}'
          else l.id is null or l.balance_micros <> m.prepaid_micros or l.hash <> m.ledger_hash end
        or exists (select 1 from ledger n where n.merchant_id = m.id and n.seq = m.ledger_seq + 1)`,
  ),
  seals,
  bySql(
    1,
    'an entry with a hash that anyone can compute, which no seal covers',
    RESTORE,
    () => `select l.merchant_id, l.seq, l.id as entry_id from ledger l
      left join ledger_seals s on s.merchant_id = l.merchant_id
      where l.hash_version = 1 and (s.seq is null or s.seq < l.seq)`,
  ),
  bySql(
    2,
    'an entry whose two accounts are not those of its kind and merchant',
    RESTORE,
    () => `select merchant_id, seq, kind, debit_account, credit_account from ledger
      where debit_account is distinct from ${ofKind('debit_account')}
        or credit_account is distinct from ${ofKind('credit_account')}`,
  ),
  bySql(
    2,
    'an entry that does not belong to the invoice that it names, or names none',
    RESTORE,
    () => `select l.merchant_id, l.seq, l.kind, l.invoice_id, i.owner_id
      from ledger l left join invoices i on i.id = l.invoice_id
      where case when l.kind = 'credit' then l.invoice_id is not null
        else i.id is null or i.owner_id is distinct from l.merchant_id
          or i.kind <> case when l.kind = 'refill' then 'refill' else 'sale' end end`,
  ),
  bySql(
    3,
    'a confirmed invoice without its income, fee or refill, or with one too many; or one that is not confirmed with any',
    'compare its log with the ledger; a missing entry is booked by the operator as a credit with a note',
    () => `select i.id as invoice_id, i.kind, i.status, n.id as income_id, n.fee_charged_micros,
        f.amount_micros as fee_micros, r.amount_micros as refill_micros
      from invoices i
      left join income n on n.invoice_id = i.id
      left join ledger f on f.invoice_id = i.id and f.kind = 'fee'
      left join ledger r on r.invoice_id = i.id and r.kind = 'refill'
      where case
        when i.status <> 'confirmed' or i.owner_id is null
          then n.id is not null or f.id is not null or r.id is not null
        when i.kind = 'refill'
          then n.id is not null or f.id is not null or r.id is null or r.amount_micros <> i.amount_usd_micros
        else r.id is not null or n.id is null or n.merchant_id <> i.owner_id or n.chain <> i.chain
          or n.currency <> i.currency or n.decimals <> i.decimals or n.amount_usd_micros <> i.amount_usd_micros
          or n.fee_charged_micros <> case n.house when 1 then 0 else ${feeOf('i.amount_usd_micros')} end
          or coalesce(f.amount_micros, 0) <> n.fee_charged_micros end`,
  ),
  bySql(
    4,
    'income that is not what its invoice received',
    'the invoice and its transfers say what came in; correct what was paid out by it',
    () => `select n.id as income_id, n.invoice_id, n.amount_atomic, i.received_atomic, n.txid, i.txid as invoice_txid
      from income n join invoices i on i.id = n.invoice_id
      where n.amount_atomic <> coalesce(i.received_atomic, i.amount_atomic) or n.txid is distinct from i.txid`,
  ),
  bySql(
    4,
    'a balance of confirmed income that is not the sum of it',
    'the sum of income is right; the balance shown is not',
    ({ sum, pad }) => `select merchant_id, currency, stated_atomic, summed_atomic from (
        select s.merchant_id, s.currency, max(b.amount_atomic) as stated_atomic,
          max(b.decimals) as stated_decimals, max(s.decimals) as decimals,
          ${sum(pad('s.total', 'coalesce(b.decimals, s.decimals) - s.decimals'))} as summed_atomic
        from (select merchant_id, currency, decimals, ${sum('amount_atomic')} as total
          from income group by merchant_id, currency, decimals) s
        left join balances b on b.merchant_id = s.merchant_id and b.currency = s.currency
        group by s.merchant_id, s.currency) sums
      where stated_atomic is distinct from summed_atomic or stated_decimals is distinct from decimals
      union all
      select b.merchant_id, b.currency, b.amount_atomic, '0' from balances b where not exists
        (select 1 from income n where n.merchant_id = b.merchant_id and n.currency = b.currency)`,
  ),
  bySql(
    4,
    'income of a day that is not the sum of it',
    'the sum of income is right; the total of the day is not',
    ({
      sum,
      pad,
      day,
    }) => `select merchant_id, day, currency, stated_atomic, summed_atomic, stated_count, count from (
        select s.merchant_id, s.day, s.currency, max(t.amount_atomic) as stated_atomic,
          max(t.count) as stated_count, cast(sum(s.count) as bigint) as count,
          max(t.amount_usd_micros) as stated_usd, sum(s.usd) as usd,
          max(t.fee_charged_micros) as stated_fee, sum(s.fee) as fee,
          ${sum(pad('s.total', 'coalesce(t.decimals, s.decimals) - s.decimals'))} as summed_atomic
        from (select merchant_id, ${day('created_at')} as day, currency, decimals, count(*) as count,
            ${sum('amount_atomic')} as total, sum(amount_usd_micros) as usd, sum(fee_charged_micros) as fee
          from income group by merchant_id, ${day('created_at')}, currency, decimals) s
        left join income_totals t on t.merchant_id = s.merchant_id and t.day = s.day and t.currency = s.currency
        group by s.merchant_id, s.day, s.currency) sums
      where stated_atomic is distinct from summed_atomic or stated_count is distinct from count
        or stated_usd is distinct from usd or stated_fee is distinct from fee
      union all
      select t.merchant_id, t.day, t.currency, t.amount_atomic, '0', t.count, 0 from income_totals t where not exists
        (select 1 from income n where n.merchant_id = t.merchant_id and n.currency = t.currency
          and ${day('n.created_at')} = t.day)`,
  ),
  bySql(
    4,
    'a running sum that is not what is counted again',
    'figures of the dashboard are wrong by this much; the rows that they count are right',
    () => `select name, key, day, cast(sum(n) as bigint) as surplus_count, cast(sum(a) as bigint) as surplus_micros,
        cast(sum(f) as bigint) as surplus_fee_micros
      from (select name, key, day, count as n, amount_micros as a, fee_micros as f from tallies
        union all select name, key, day, -n, -a, -f from (${recount}) counted) both_sides
      group by name, key, day having sum(n) <> 0 or sum(a) <> 0 or sum(f) <> 0`,
  ),
];
