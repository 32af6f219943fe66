// Laws 5 to 9: what came in on the chains, and what it was counted for.
import { MANUAL_INDEX } from '../transfers.ts';
import { bySql, type Check } from './law.ts';

const SEE_PAYMENT = 'see `gw admin payment <invoice_id>` and the transaction on the chain';

/** Whether an operator confirmed the invoice `i`. */
const byOperator = `exists (select 1 from payment_logs g
  where g.invoice_id = i.id and g.to_status = 'confirmed' and g.actor like 'operator:%')`;

/** Of transfer `t`: the row of its transaction that an operator booked by hand, before the chain showed it. */
const manualRow = `select 1 from transfers m where m.blockchain = t.blockchain and m.txid = t.txid
  and m.idx = '${MANUAL_INDEX}' and m.booked_invoice_id = t.booked_invoice_id`;

/** Invoices that nothing is about to be evaluated of: an evaluation that is asked for writes what is found here. */
const settled = 'i.due_at > 1';

/** Whether transfer `t` is as deep as its invoice `i` asks, as `isDeep` of src/confirmations.ts. */
const isDeep = `(t.height is not null and case when i.confirm_seconds is null then t.confirmations >= i.min_confirmations
  else i.until_final = 0 and coalesce(t.depth_seconds, -1) >= i.confirm_seconds end)`;
const share = `i.min_confirmations * coalesce(t.depth_seconds, 0) / i.confirm_seconds`;
/** The confirmations of transfer `t` that its invoice `i` shows, as `shownConfirmations` has them. */
const shown = `case when i.confirm_seconds is null or t.confirmations = 0 then t.confirmations
  when t.state = 'final' or ${isDeep} then
    case when t.confirmations > i.min_confirmations then t.confirmations else i.min_confirmations end
  when ${share} < 1 then 1
  when ${share} < i.min_confirmations then ${share}
  else i.min_confirmations - 1 end`;

export const transferLaws: Check[] = [
  bySql(
    5,
    'a booked transfer that is not matched to the confirmed invoice that it is booked for',
    SEE_PAYMENT,
    () => `select t.id as transfer_id, t.txid, t.booked_invoice_id, t.invoice_id, t.disposition, i.status
      from transfers t left join invoices i on i.id = t.booked_invoice_id
      where t.booked_invoice_id is not null and (i.id is null or i.status <> 'confirmed'
        or i.blockchain <> t.blockchain or i.chain <> t.chain or i.address_key <> t.address_key
        or t.disposition <> 'matched' or t.invoice_id is distinct from t.booked_invoice_id)`,
  ),
  bySql(
    6,
    'a confirmed invoice that has not received what is booked for it',
    SEE_PAYMENT,
    ({ sum }) => `select i.id as invoice_id, i.txid, i.received_atomic, b.booked_atomic
      from invoices i left join (
        select t.booked_invoice_id, ${sum('t.amount_atomic')} as booked_atomic from transfers t
        where t.booked_invoice_id is not null and (t.idx = '${MANUAL_INDEX}' or not exists (${manualRow}))
        group by t.booked_invoice_id) b on b.booked_invoice_id = i.id
      where i.status = 'confirmed' and case when b.booked_atomic is not null
        then b.booked_atomic is distinct from i.received_atomic
        else i.received_atomic is distinct from i.amount_atomic
          or not (coalesce(i.txid = 'simulated-' || i.id, ${byOperator})) end`,
  ),
  bySql(
    6,
    'a transaction that an operator booked, of which the chain has another amount, and no contradiction is noted',
    SEE_PAYMENT,
    ({ sum }) => `select m.id as transfer_id, m.txid, m.booked_invoice_id, m.amount_atomic as booked_atomic,
        ${sum('t.amount_atomic')} as read_atomic
      from transfers m join transfers t on t.blockchain = m.blockchain and t.txid = m.txid and t.idx <> '${MANUAL_INDEX}'
        and t.booked_invoice_id = m.booked_invoice_id
      where m.idx = '${MANUAL_INDEX}' group by m.id, m.txid, m.booked_invoice_id, m.amount_atomic
      having ${sum('t.amount_atomic')} <> m.amount_atomic and not exists (select 1 from contradictions c
        where c.kind = 'booking_differs' and c.subject = m.id)`,
  ),
  bySql(
    7,
    'a transfer that paid an invoice without an operator, though it was not made in its time or not deep enough',
    SEE_PAYMENT,
    () => `select t.id as transfer_id, t.txid, i.id as invoice_id, t.earliest_at, t.latest_at, coalesce(i.offered_at, i.created_at) as asked_at,
        i.expires_at, t.state, t.confirmations, i.min_confirmations, t.depth_seconds, i.confirm_seconds
      from transfers t join invoices i on i.id = t.booked_invoice_id
      where t.idx <> '${MANUAL_INDEX}' and (t.latest_at < coalesce(i.offered_at, i.created_at) or t.earliest_at > i.expires_at
          or (t.state <> 'final' and not ${isDeep} and i.confirmations < i.min_confirmations))
        and not exists (${manualRow}) and not ${byOperator}`,
  ),
  bySql(
    8,
    'an open invoice that says it has received something else than its transfers',
    'read its blockchain again: `gw admin resolve <invoice_id> --action recheck`',
    ({
      sum,
      less,
    }) => `select i.id as invoice_id, i.received_atomic, t.total as transfers_atomic, i.confirmations,
        t.depth, i.amount_match
      from invoices i left join (select t.invoice_id, ${sum('t.amount_atomic')} as total, min(${shown}) as depth
        from transfers t join invoices i on i.id = t.invoice_id
        where t.booked_invoice_id is null and t.disposition = 'matched' and t.state <> 'gone'
        group by t.invoice_id) t on t.invoice_id = i.id
      where i.status = 'created' and ${settled} and (coalesce(i.received_atomic, '0') <> coalesce(t.total, '0')
        or i.confirmations <> coalesce(t.depth, 0)
        or i.amount_match <> case when coalesce(t.total, '0') = '0' then 'none'
          when t.total = i.amount_atomic then 'exact'
          when ${less('t.total', 'i.amount_atomic')} then 'under' else 'over' end)`,
  ),
  bySql(
    8,
    'a transfer that counts for an open invoice which asks for another coin',
    'read its blockchain again: `gw admin resolve <invoice_id> --action recheck`',
    () => `select t.id as transfer_id, t.txid, t.chain, i.id as invoice_id, i.chain as asked
      from transfers t join invoices i on i.id = t.invoice_id
      where t.disposition = 'matched' and t.booked_invoice_id is null and t.state <> 'gone'
        and i.status = 'created' and i.chain <> t.chain`,
  ),
  bySql(
    9,
    'a transfer that no invoice takes and no payment lists',
    'it is money that the operator is not shown; read its blockchain again, or give it to an invoice by its txid',
    () => `select id as transfer_id, blockchain, txid, address_key, amount_atomic, disposition from transfers
      where disposition <> 'matched' and payment_id is null and dust_day is null
      union all
      select t.id, t.blockchain, t.txid, t.address_key, t.amount_atomic, t.disposition
      from transfers t left join invoices i on i.id = t.invoice_id
      where t.disposition = 'matched' and t.booked_invoice_id is null and t.state <> 'gone'
        and (i.id is null or i.status <> 'created')`,
  ),
  bySql(
    9,
    'a transfer that is counted as dust and is listed, or taken by an invoice, too',
    SEE_PAYMENT,
    () => `select id as transfer_id, blockchain, txid, disposition, payment_id, invoice_id from transfers
      where dust_day is not null and (disposition <> 'unmatched' or payment_id is not null or invoice_id is not null
        or booked_invoice_id is not null)`,
  ),
  bySql(
    9,
    'a day of dust that is not the sum of its transfers',
    'it is money that the operator is shown a wrong sum of; this is a bug, report it',
    ({ sum }) => `select blockchain, chain, address_key, day, sum(counted) as counted, sum(stored) as stored,
        ${sum('counted_atomic')} as counted_atomic, ${sum('stored_atomic')} as stored_atomic
      from (select blockchain, chain, address_key, day, count as counted, 0 as stored,
          amount_atomic as counted_atomic, '0' as stored_atomic from dust
        union all
        select blockchain, chain, address_key, dust_day, 0, count(*), '0', ${sum('amount_atomic')} from transfers
        where dust_day is not null and ambiguous is null and state <> 'gone' group by blockchain, chain, address_key, dust_day) both_sides
      group by blockchain, chain, address_key, day
      having sum(counted) <> sum(stored) or ${sum('counted_atomic')} <> ${sum('stored_atomic')}`,
  ),
  bySql(
    9,
    'a late, unmatched or orphaned payment that is not the sum of its transfers',
    SEE_PAYMENT,
    ({ sum }) => `select payment_id, status, received_atomic, transfers_atomic from (
        select p.id as payment_id, p.status, p.received_atomic, ${sum('t.amount_atomic')} as transfers_atomic,
          count(t.id) as n
        from payments p left join transfers t
          on t.payment_id = p.id and t.state <> 'gone' and t.booked_invoice_id is null
        left join invoices i on i.id = p.invoice_id
        where p.status in ('late', 'unmatched', 'orphaned') and (i.status <> 'created' or i.id is null or ${settled})
        group by p.id, p.status, p.received_atomic) sums
      where case when status = 'orphaned' then n > 0 else transfers_atomic <> received_atomic end`,
  ),
  bySql(
    9,
    'an invoice that shows another payment than its own, or another sum',
    SEE_PAYMENT,
    () => `select i.id as invoice_id, i.status, i.payment_id, p.id as main_payment_id, i.received_atomic,
        p.received_atomic as payment_atomic
      from invoices i left join payments p on p.invoice_id = i.id and p.main = 1
      where i.payment_id is distinct from p.id
        or (p.id is not null and coalesce(i.received_atomic, '0') <> p.received_atomic
          and (i.status = 'confirmed' or (i.status = 'created' and ${settled})))`,
  ),
];
