// Notices to operators: what was found, once for each subject, and what each address was sent of it.
import { type SqlBool, sql } from 'kysely';
import type { Executor } from './db/database.ts';
import type { ContradictionRow, DeliveryRow, NoticeRow, PaymentRow } from './schema/tables.ts';

export interface NewNotice {
  cause: string;
  /** What it is about; at most one of a cause is open for it. */
  subject: string;
  /** For people. */
  text: string;
}

/** Written out, because a partial index is used only where its condition stands in the statement. */
const isOpen = sql<SqlBool>`notices.ended_at is null`;

/** Notes what is not open yet, `now` in Unix seconds. */
export async function noteNotices(
  query: Executor,
  notices: readonly NewNotice[],
  now: number,
): Promise<void> {
  if (notices.length === 0) return;
  await query
    .insertInto('notices')
    .values(notices.map((notice) => ({ ...notice, found_at: now })))
    .onConflict((conflict) =>
      conflict.columns(['cause', 'subject']).where('ended_at', 'is', null).doNothing(),
    )
    .execute();
}

/** Those of a cause that are open, with these subjects' beginning. */
export function openNotices(query: Executor, cause: string, prefix: string): Promise<NoticeRow[]> {
  return query
    .selectFrom('notices')
    .selectAll()
    .where(isOpen)
    .where('cause', '=', cause)
    .where(sql<string>`substr(subject, 1, ${prefix.length})`, '=', prefix)
    .execute();
}

/** Ends those that hold no more; true for each that was open until now. */
export async function endNotice(query: Executor, seq: number, now: number): Promise<boolean> {
  const result = await query
    .updateTable('notices')
    .set({ ended_at: now })
    .where('seq', '=', seq)
    .where('ended_at', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Forgets what was found before this moment, Unix seconds; of what still holds, nothing. */
export async function forgetNotices(
  query: Executor,
  before: number,
  lasting: readonly string[],
): Promise<void> {
  await query
    .deleteFrom('notices')
    .where('found_at', '<', before)
    .where((row) => row.or([row('ended_at', 'is not', null), row('cause', 'not in', lasting)]))
    .execute();
}

export interface DueNotices {
  cause: string;
  /** Oldest first, `limit` of them. */
  notices: NoticeRow[];
  /** How many there are, up to `most`. */
  count: number;
  /** Of the newest. */
  through: number;
  /** How often in a row the address took nothing. */
  failures: number;
}

/** What an address was not sent yet of a cause, found before `now`: others may still be writing what they find this second. */
export async function unsentNotices(
  query: Executor,
  {
    target,
    cause,
    now,
    limit,
    most,
  }: { target: string; cause: string; now: number; limit: number; most: number },
): Promise<DueNotices> {
  const sent = await query
    .selectFrom('notice_targets')
    .select(['sent_through', 'next_at', 'failures'])
    .where('target', '=', target)
    .where('cause', '=', cause)
    .executeTakeFirst();
  const rows =
    sent && sent.next_at > now
      ? []
      : await query
          .selectFrom('notices')
          .selectAll()
          .where('seq', '>', sent?.sent_through ?? 0)
          .where('cause', '=', cause)
          .where('found_at', '<', now)
          .orderBy('seq')
          .limit(most)
          .execute();
  const through = rows.at(-1)?.seq ?? 0;
  return { cause, notices: rows.slice(0, limit), count: rows.length, through, failures: sent?.failures ?? 0 };
}

/** Takes the turn of an address for a cause until `next_at`; false where another daemon has it, or had it not long ago. */
export async function claimTarget(
  query: Executor,
  { target, cause, now, next_at }: { target: string; cause: string; now: number; next_at: number },
): Promise<boolean> {
  const result = await query
    .insertInto('notice_targets')
    .values({ target, cause, sent_through: 0, next_at, failures: 0 })
    .onConflict((conflict) =>
      conflict
        .columns(['target', 'cause'])
        .doUpdateSet({ next_at })
        .where('notice_targets.next_at', '<=', now),
    )
    .executeTakeFirst();
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** The address has everything up to `through`. */
export async function noteSent(
  query: Executor,
  { target, cause, through }: { target: string; cause: string; through: number },
): Promise<void> {
  await query
    .updateTable('notice_targets')
    .set({ sent_through: through, failures: 0 })
    .where('target', '=', target)
    .where('cause', '=', cause)
    .execute();
}

/** The address took nothing, and is tried again at `next_at`, Unix seconds. */
export async function noteUnsent(
  query: Executor,
  { target, cause, next_at }: { target: string; cause: string; next_at: number },
): Promise<void> {
  await query
    .updateTable('notice_targets')
    .set({ failures: sql<number>`failures + 1`, next_at })
    .where('target', '=', target)
    .where('cause', '=', cause)
    .execute();
}

/** Payments that came to this status since a moment, still have it and were not dismissed; newest first. */
export function paymentsSince(
  query: Executor,
  { status, since, limit }: { status: 'held' | 'late' | 'unmatched'; since: number; limit: number },
): Promise<PaymentRow[]> {
  return query
    .selectFrom('payments')
    .selectAll()
    .where(sql<SqlBool>`status in ('held', 'late', 'unmatched')`)
    .where('status', '=', status)
    .where('dismissed', '=', 0)
    .where('updated_at', '>=', since)
    .orderBy('updated_at', 'desc')
    .limit(limit)
    .execute();
}

/** Webhooks that did not arrive since a moment, those included of which it is not known; newest first. */
export function undeliveredSince(
  query: Executor,
  { since, limit }: { since: number; limit: number },
): Promise<DeliveryRow[]> {
  return query
    .selectFrom('deliveries')
    .selectAll()
    .where(sql<SqlBool>`status in ('failed', 'unknown')`)
    .where('finished_at', '>=', since)
    .orderBy('finished_at', 'desc')
    .limit(limit)
    .execute();
}

/** Contradictions found since a moment that no one has closed; newest first. */
export function contradictionsSince(
  query: Executor,
  { since, limit }: { since: number; limit: number },
): Promise<ContradictionRow[]> {
  return query
    .selectFrom('contradictions')
    .selectAll()
    .where('closed_at', 'is', null)
    .where('created_at', '>=', since)
    .orderBy('created_at', 'desc')
    .limit(limit)
    .execute();
}
