// Laws 18 to 20: how far the chains were read, whose accounts those are, and what contradicts.

import { MANUAL_INDEX } from '../transfers.ts';
import { bySql, type Check } from './law.ts';

/** Clocks of machines and chains are apart by so much. */
const SKEW_SECONDS = 120;
/** What an operator booked by hand is shown by the chain within this time. */
const MANUAL_SECONDS = 3_600;

export const readingLaws: Check[] = [
  bySql(
    18,
    'a proof of reading, or a tip, that lies in the future',
    'set the clock of this machine; where a provider has lied, `gatewayd reread` reads again',
    (_, { now, clock_trusted }) => {
      if (!clock_trusted) return null;
      const latest = now + SKEW_SECONDS;
      return `select blockchain, null as address_key, tip_time, last_ok_at, read_through from cursors
        where tip_time > ${latest} or last_ok_at > ${latest} or read_through > ${latest}
        union all select blockchain, address_key, null, null, read_through from account_proofs
        where read_through > ${latest}`;
    },
  ),
  bySql(
    18,
    'reading that is proved further than the last complete reading began',
    'an invoice may have ended unread: `gatewayd verify --chain` shows what was missed',
    () => `select c.blockchain, null as address_key, c.read_through, c.last_ok_at from cursors c
      where c.read_through > coalesce(c.last_ok_at, 0) + ${SKEW_SECONDS}
      union all select a.blockchain, a.address_key, a.read_through, a.updated_at from account_proofs a
      where a.read_through > a.updated_at + ${SKEW_SECONDS}`,
  ),
  bySql(
    18,
    'ranges of reading that overlap, are turned around, or have a gap between them while an address was watched',
    'what lies between them was not read: `gatewayd verify --chain` shows what was missed there',
    // By a clock that was set back reading begins again further back, and has not come to what it had read before.
    (_, { clock_trusted }) =>
      clock_trusted
        ? `select blockchain, scope, from_position, to_position, before_position from (
        select r.blockchain, r.scope, r.from_position, r.to_position, r.updated_at,
          lag(r.to_position) over (partition by r.blockchain, r.scope order by r.from_position) as before_position,
          lag(r.updated_at) over (partition by r.blockchain, r.scope order by r.from_position) as before_at,
          (select min(w.since) from watches w where w.blockchain = r.blockchain and w.watch_until >= r.updated_at
            and (w.address_key = r.scope or not exists (select 1 from read_ranges o
              where o.blockchain = r.blockchain and o.scope <> r.scope))) as watched_since
        from read_ranges r) ranges
      where from_position > to_position or from_position <= before_position + 1
        or (before_position is not null and before_at >= watched_since)`
        : null,
  ),
  bySql(
    19,
    'an account on a chain that is read as two, or is itself watched as an address',
    'a merchant has set the account of another, or of a token, as his wallet: he must set his own address',
    () => `select a.blockchain, a.account, a.address_key, a.chain, b.address_key as other_address_key,
        b.chain as other_chain
      from account_proofs a join account_proofs b on b.blockchain = a.blockchain and b.account = a.account
        and b.address_key || ' ' || b.chain > a.address_key || ' ' || a.chain
      where a.account <> a.address_key or b.account <> b.address_key
      union all
      select a.blockchain, a.account, a.address_key, a.chain, w.address_key, null
      from account_proofs a join watches w on w.blockchain = a.blockchain and w.address_key = a.account
      where a.account <> a.address_key`,
  ),
  bySql(
    20,
    'a contradiction that no one has closed',
    'see `gw admin contradictions`, decide what is right, and close it',
    () => `select id as contradiction_id, blockchain, kind, txid, invoice_id, created_at from contradictions
      where closed_at is null`,
  ),
  bySql(
    20,
    'a transaction that was booked by hand, without a reason, and that the chain has not shown',
    'look up the transaction on the chain; if it does not exist, correct what was paid out for it',
    (_, { now }) => `select m.id as transfer_id, m.txid, m.booked_invoice_id, m.first_seen_at from transfers m
      where m.idx = '${MANUAL_INDEX}' and m.first_seen_at < ${now - MANUAL_SECONDS}
        and not exists (select 1 from transfers t where t.blockchain = m.blockchain and t.txid = m.txid
          and t.address_key = m.address_key and t.idx <> '${MANUAL_INDEX}')
        and not exists (select 1 from payment_logs g where g.invoice_id = m.booked_invoice_id
          and g.to_status = 'confirmed' and g.note like 'confirmed by the operator: %')`,
  ),
];
