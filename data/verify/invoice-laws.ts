// Laws 10 to 17: invoices with their payments, logs, events, deliveries, amounts and watches.
import { GRACE_SECONDS } from '../../src/invoice.ts';
import { MEMO_ALPHABET, MEMO_LENGTH } from '../../src/memo.ts';
import { LEAST_FOR_REFILLS } from '../../src/quote.ts';
import { bySql, type Check, type VerifyContext } from './law.ts';
import { coversSql } from './ledger-laws.ts';

/** What the daemon does every second or every minute is done by then, also under load. */
const SLACK_SECONDS = 900;
/** An attempt to deliver takes 15 s at most; see webhooks/webhooks.ts. */
const DELIVERY_SECONDS = 120;

/** Nothing is about to be evaluated of the invoice `i`. */
const settled = 'i.due_at > 1';

const SEE_INVOICE = 'see `gw admin payment <invoice_id>`; the log says what happened to it';
const SEE_EVENT = 'the invoice and its log say what happened; its merchant was sent something else';

/** Since when, at the latest, a daemon has been at work that believes its clock; null where that is not known. */
function workingSince({ alive_at, started_at, clock_trusted }: VerifyContext): number | null {
  if (!clock_trusted || alive_at === 0) return null;
  return started_at !== null && started_at + SLACK_SECONDS > alive_at ? null : alive_at - SLACK_SECONDS;
}

/** Everything made before is stored of the account of invoice `i`, as `provedThrough` says. */
const proved = `case when u.reason is not null then 0
  when a.account is null then coalesce(c.read_through, 0) else coalesce(a.read_through, 0) end`;
const proofs = `left join cursors c on c.blockchain = i.blockchain
  left join account_proofs a on a.blockchain = i.blockchain and a.address_key = i.address_key and a.chain = i.chain
  left join unreadable_assets u on u.blockchain = i.blockchain and u.chain = i.chain`;

/**
 * That proof is old: with the first reading after an outage everything is proved at once that became due meanwhile, and
 * the clock evaluates it only then. A busy account is proved again and again: what the clock ended there after it tells.
 */
const isProofOld = (
  since: number,
) => `(case when a.account is null then coalesce(c.last_error_at, 0) else a.updated_at end <= ${since}
  or exists (select 1 from invoices n join payment_logs g on g.invoice_id = n.id
    where n.created_at >= i.created_at and n.blockchain = i.blockchain and n.address_key = i.address_key
      and n.chain = i.chain and n.expires_at >= i.expires_at
      and g.actor = 'clock' and g.to_status = 'expired' and g.created_at <= ${since}))`;

/** Nothing that retention has removed of logs is newer; SQL. */
const logsRemovedThrough = `coalesce((select through_at from removals where name = 'logs'), 0)`;

const moved = `payment_id is not null and from_status is distinct from to_status`;

const positions = (context: VerifyContext): boolean => context.dialect === 'postgres';

export const invoiceLaws: Check[] = [
  bySql(
    10,
    'an invoice with a payment in a status that does not go with its own',
    SEE_INVOICE,
    () => `select i.id as invoice_id, i.status, p.status as payment_status
      from invoices i left join payments p on p.invoice_id = i.id and p.main = 1
      where case i.status
        when 'created' then coalesce(p.status not in ('detected', 'confirming', 'held', 'orphaned'), false)
        when 'confirmed' then coalesce(p.status <> 'confirmed', true)
        else coalesce(p.status not in ('late', 'orphaned'), false) end`,
  ),
  bySql(
    10,
    'a payment that is held though it is not enough, or though the limit covers it',
    'evaluate it: `gw admin resolve <invoice_id> --action recheck`',
    ({
      less,
    }) => `select i.id as invoice_id, p.id as payment_id, p.received_atomic, i.amount_atomic, m.prepaid_micros
      from payments p join invoices i on i.id = p.invoice_id left join merchants m on m.id = i.owner_id
      where p.status = 'held' and p.main = 1 and ${settled} and (m.id is null or m.house_since is not null
        or ${less('p.received_atomic', 'i.amount_atomic')} or ${coversSql('m.prepaid_micros', 'i.amount_usd_micros')})`,
  ),
  bySql(
    11,
    'a log row that does not begin where the one before it ended',
    SEE_INVOICE,
    () => `select payment_id, seq, from_status, before_status from (
        select payment_id, seq, from_status, created_at, lag(to_status) over (partition by payment_id order by seq) as before_status
        from payment_logs where ${moved}) logs
      where from_status is distinct from before_status and created_at > ${logsRemovedThrough}`,
  ),
  bySql(
    11,
    'a payment in another status than its log ends with',
    SEE_INVOICE,
    () => `select p.id as payment_id, p.status, l.to_status as logged_status
      from payments p left join (
        select g.payment_id, g.to_status from payment_logs g
        join (select payment_id, max(seq) as seq from payment_logs where ${moved} group by payment_id) last
          on last.seq = g.seq) l on l.payment_id = p.id
      where l.to_status is distinct from p.status`,
  ),
  bySql(
    12,
    'an invoice that has ended without saying when, or has not and says it',
    SEE_INVOICE,
    () => `select id as invoice_id, status, ended_at from invoices
      where (status = 'created') <> (ended_at is null)`,
  ),
  bySql(
    12,
    'an invoice that is open though its account is read past its end and nothing is awaited',
    'check the log of the daemon for errors about it',
    (_, context) => {
      const since = workingSince(context);
      return since === null
        ? null
        : `select o.id as invoice_id, o.expires_at from invoices o
          where o.status = 'created' and o.due_at > 1 and o.expires_at <= ${since}
            and not exists (select 1 from transfers t where t.invoice_id = o.id and t.disposition = 'matched'
              and t.state <> 'gone')
            -- One that asked for other coins before waits for those accounts, too.
            and not exists (select 1 from (select blockchain, address_key, chain, created_at, expires_at
                from invoices where id = o.id
              union all select f.blockchain, f.address_key, f.chain, v.created_at, v.expires_at
                from former_terms f join invoices v on v.id = f.invoice_id where f.invoice_id = o.id) i ${proofs}
              where (i.expires_at + ${SLACK_SECONDS} <= ${proved}
                and c.last_ok_at >= i.expires_at + ${SLACK_SECONDS} and ${isProofOld(since)}) is not true)`;
    },
  ),
  bySql(
    12,
    'an invoice that is open a day after its time',
    'check the log of the daemon for errors about it',
    (_, context) => {
      const since = workingSince(context);
      return since === null
        ? null
        : `select id as invoice_id, expires_at from invoices
          where status = 'created' and due_at > 1 and expires_at + ${GRACE_SECONDS} <= ${since}`;
    },
  ),
  bySql(
    13,
    'an invoice without exactly one event of its creation, and of its confirmation where it is confirmed; or events that are not of it',
    SEE_EVENT,
    ({ at }) => `select invoice_id, status, created, confirmed, foreign_events from (
        select i.id as invoice_id, i.status, i.owner_id, i.created_at, i.paid_at,
          count(case when e.type = 'invoice.created' then 1 end) as created,
          count(case when e.type = 'invoice.confirmed' then 1 end) as confirmed,
          count(case when e.id is not null and (e.merchant_id is distinct from i.owner_id
            or ${at('e.body', `'{"type":"' || e.type || '",'`)} <> 1
            or ${at('e.body', `'"invoice":{"id":"' || i.id || '"'`)} = 0
            or (e.payment_id is not null and ${at('e.body', `'"payment":{"id":"' || e.payment_id || '"'`)} = 0))
            then 1 end) as foreign_events
        from invoices i left join events e on e.invoice_id = i.id
        group by i.id, i.status, i.owner_id, i.created_at, i.paid_at) counted
        left join removals r on r.name = 'events' and r.merchant_id = coalesce(counted.owner_id, '')
      where foreign_events > 0
        or (created <> 1 and not (created = 0 and status <> 'created' and created_at <= coalesce(r.through_at, 0)))
        or (confirmed <> case when status = 'confirmed' then 1 else 0 end
          and not (confirmed = 0 and paid_at <= coalesce(r.through_at, 0)))`,
  ),
  bySql(
    13,
    'an event without an invoice that does not say which payment it is of',
    SEE_EVENT,
    ({ at }) => `select id as event_id, payment_id, type from events
      where invoice_id is null and type <> 'limit.exhausted' and (payment_id is null or ${at('body', `'{"type":"' || type || '",'`)} <> 1
        or ${at('body', `'"payment":{"id":"' || payment_id || '"'`)} = 0)`,
  ),
  bySql(
    13,
    'an event that its feed never shows, or shows twice',
    'readers of this feed have missed it; send it again with `gw event resend`',
    (_, context) =>
      positions(context)
        ? `select e.id as event_id, e.merchant_id, p.position from events e
            left join event_positions p on p.event_seq = e.seq and p.merchant_id = e.merchant_id
            left join unplaced_events u on u.event_seq = e.seq and u.merchant_id = e.merchant_id
            where e.merchant_id is not null and (p.event_seq is null) = (u.event_seq is null)`
        : null,
  ),
  bySql(
    13,
    'a feed with gaps between the positions of its events',
    'readers of this feed have missed what stood there; restore a backup',
    (_, context) =>
      positions(context)
        ? `select feed.* from (select merchant_id, count(*) as events, min(position) as first, max(position) as last
              from event_positions group by merchant_id) feed
            left join removals r on r.name = 'events' and r.merchant_id = feed.merchant_id
            where first <> coalesce(r.through_position, 0) + 1 or last - first + 1 <> events`
        : null,
  ),
  bySql(
    14,
    'an automatic delivery of an event that is no confirmation',
    'its receiver got something that it does not expect',
    () => `select d.id as delivery_id, d.event_id, e.type from deliveries d join events e on e.id = d.event_id
      where d.kind = 'automatic' and e.type <> 'invoice.confirmed'`,
  ),
  bySql(
    14,
    'income with another webhook status than its deliveries',
    'the deliveries are right; send the event again where it was not delivered: `gw event resend`',
    () => `select n.invoice_id, n.webhook_status, d.delivered, d.automatic from income n
      left join (select e.invoice_id, max(case when d.status = 'delivered' then 1 else 0 end) as delivered,
          max(case when d.kind = 'automatic' then d.status end) as automatic
        from deliveries d join events e on e.id = d.event_id
        where e.type = 'invoice.confirmed' group by e.invoice_id) d on d.invoice_id = n.invoice_id
      left join removals r on r.name = 'events' and r.merchant_id = n.merchant_id
      where not (d.invoice_id is null and n.created_at <= coalesce(r.through_at, 0)) and n.webhook_status <> case when d.delivered = 1 then 'delivered' when d.automatic is null then 'none'
        when d.automatic in ('pending', 'sending') then 'pending' else d.automatic end`,
  ),
  bySql(
    14,
    'a delivery that has been under way for too long',
    'restart the daemon that claimed it: whether it arrived is then recorded as unknown',
    (_, { alive_at }) =>
      alive_at === 0
        ? null
        : `select id as delivery_id, event_id, instance_id, claimed_at from deliveries
          where status in ('pending', 'sending') and status = 'sending'
            and claimed_at < ${alive_at - DELIVERY_SECONDS}`,
  ),
  bySql(
    15,
    'an amount that is not reserved though nothing else names its invoice, or is reserved without an end',
    'no other invoice must be given this amount at its address until it is over',
    () => `select id as invoice_id, status, memo, reserved, reserved_until from invoices
      where (status = 'created' and memo is null and reserved is null)
        or (reserved = 1 and (status = 'created') <> (reserved_until is null))
        or (reserved is null and reserved_until is not null)
      union all
      select f.invoice_id, i.status, f.memo, f.reserved, f.reserved_until
      from former_terms f join invoices i on i.id = f.invoice_id
      where (i.status = 'created' and f.memo is null and f.reserved is null)
        or (f.reserved = 1 and (i.status = 'created') <> (f.reserved_until is null))
        or (f.reserved is null and f.reserved_until is not null)`,
  ),
  bySql(
    15,
    'an amount that is reserved for two, because one of them asked for it before',
    'a payment of it may be taken for the other: see both with `gw admin payment <invoice_id>`',
    () => `select f.invoice_id, i.id as other_invoice_id, f.chain, f.amount_atomic
      from former_terms f join invoices i on i.blockchain = f.blockchain and i.address_key = f.address_key
        and i.chain = f.chain and i.amount_atomic = f.amount_atomic and i.reserved = 1
        and coalesce(i.owner_id, '') = coalesce(f.owner_id, '') and i.id <> f.invoice_id
      where f.reserved = 1`,
  ),
  bySql(
    15,
    'an amount that is reserved longer than it had to be',
    'check the log of the daemon for failures of housekeeping',
    (_, context) => {
      const since = workingSince(context);
      return since === null
        ? null
        : `select i.id as invoice_id, i.reserved_until, ${proved} as read_through from invoices i ${proofs}
          where i.reserved = 1 and i.reserved_until <= ${since}
            and (i.reserved_until + ${SLACK_SECONDS} <= ${proved} or i.watch_until <= ${since})
          union all
          select i.invoice_id, i.reserved_until, ${proved} from former_terms i ${proofs}
          where i.reserved = 1 and i.reserved_until <= ${since}
            and (i.reserved_until + ${SLACK_SECONDS} <= ${proved} or i.watch_until <= ${since})`;
    },
  ),
  bySql(
    15,
    'a memo that was not made here',
    SEE_INVOICE,
    ({ spelled }) => `select id as invoice_id, memo from invoices
      where memo is not null and not ${spelled('memo', MEMO_ALPHABET, MEMO_LENGTH)}
      union all select invoice_id, memo from former_terms
      where memo is not null and not ${spelled('memo', MEMO_ALPHABET, MEMO_LENGTH)}`,
  ),
  bySql(
    16,
    'an amount that is no integer of at least zero',
    'restore a backup; nothing can be counted with it',
    ({ canonical }) => {
      const wrong = (columns: string[]) =>
        columns.map((column) => `(${column} is not null and not ${canonical(column)})`).join(' or ');
      const of = (table: string, columns: string[], id = 'id') =>
        `select '${table}' as name, ${id} as row_id from ${table} where ${wrong(columns)}`;
      return [
        of('invoices', [
          'amount_merchant_atomic',
          'amount_fee_atomic',
          'amount_atomic',
          'received_atomic',
          'rate_usd_nanos',
        ]),
        of(
          'former_terms',
          ['amount_merchant_atomic', 'amount_fee_atomic', 'amount_atomic', 'rate_usd_nanos'],
          'invoice_id',
        ),
        of('transfers', ['amount_atomic']),
        of('payments', ['received_atomic']),
        of('income', ['amount_atomic']),
        of('income_totals', ['amount_atomic'], `merchant_id || ' ' || day`),
        of('balances', ['amount_atomic'], `merchant_id || ' ' || currency`),
      ].join(' union all ');
    },
  ),
  bySql(
    16,
    'an invoice that asks for another amount than its price and fee at its rate',
    'its buyer was asked for this amount; the price of its merchant was another',
    ({ plus, quoteFits }, { payable_decimals }) => {
      const known = Object.entries(payable_decimals);
      const payable =
        known.length === 0
          ? '0'
          : `case chain ${known.map(([chain, decimals]) => `when '${chain}' then ${decimals}`).join(' ')} else 0 end`;
      const fits = quoteFits({
        usd: 'amount_usd_micros',
        usd_fee: 'amount_usd_fee_micros',
        rate: 'rate_usd_nanos',
        decimals: 'decimals',
        payable,
        merchant: 'amount_merchant_atomic',
        fee: 'amount_fee_atomic',
        steps: `case when kind = 'refill' then ${LEAST_FOR_REFILLS - 1n} else 0 end`,
      });
      return `select id as invoice_id, amount_usd_micros, rate_usd_nanos, amount_merchant_atomic, amount_fee_atomic,
          amount_atomic
        from (select id, amount_usd_micros, amount_usd_fee_micros, rate_usd_nanos, decimals, chain,
            kind, amount_merchant_atomic, amount_fee_atomic, amount_atomic from invoices
          union all select f.invoice_id, i.amount_usd_micros, f.amount_usd_fee_micros, f.rate_usd_nanos, f.decimals, f.chain,
            i.kind, f.amount_merchant_atomic, f.amount_fee_atomic, f.amount_atomic
          from former_terms f join invoices i on i.id = f.invoice_id) asked
        where ${plus('amount_merchant_atomic', 'amount_fee_atomic')} <> amount_atomic or not ${fits}`;
    },
  ),
  bySql(
    17,
    'an invoice whose address is not watched as long as it may be paid',
    'payments to it may not be read: restart the daemon, which watches it again; then `gatewayd verify --chain`',
    (
      _,
      { alive_at, now },
    ) => `select i.id as invoice_id, i.blockchain, i.address_key, i.asked_at, i.watch_until,
        w.since, w.watch_until as watched_until
      from (select id, status, blockchain, address_key, coalesce(offered_at, created_at) as asked_at, expires_at,
          watch_until from invoices
        union all select o.id, o.status, f.blockchain, f.address_key, f.offered_at, o.expires_at, f.watch_until
        from former_terms f join invoices o on o.id = f.invoice_id) i
      left join watches w on w.blockchain = i.blockchain and w.address_key = i.address_key
      where (i.status = 'created' or i.watch_until > ${Math.max(alive_at, now)})
        and (w.address_key is null or w.since > i.asked_at or w.watch_until < i.watch_until
          or (i.status = 'created' and w.open_until < i.expires_at + ${GRACE_SECONDS}))`,
  ),
];
