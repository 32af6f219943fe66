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
  /** Set for what has no duration, so that the same may be noted again. Unix seconds. */
  ended_at?: number;
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
  turn: Turn;
  /** Oldest first, `limit` of them. */
  notices: NoticeRow[];
  /** How many there are, up to `most`. */
  count: number;
  /** Of the newest. */
  through: number;
  /** How often in a row the address took nothing. */
  failures: number;
}

/** What an address has turns for, each at most once an hour: a cause, or one subject of it. */
export interface Turn {
  /** SHA-256 of the address. */
  target: string;
  cause: string;
  /** Null for all subjects of the cause together. */
  subject: string | null;
}

/** The subject stands behind the cause, whose name has no space. */
const keyOf = ({ cause, subject }: Turn): string => (subject === null ? cause : `${cause} ${subject}`);

/** Subjects of a cause with a notice after those that the address has got of all subjects together, found before `now`. */
export async function subjectsOf(
  query: Executor,
  { target, cause, now, most }: { target: string; cause: string; now: number; most: number },
): Promise<string[]> {
  const { sent_through } = await turnOf(query, { target, cause, subject: null });
  const rows = await query
    .selectFrom('notices')
    .select('subject')
    .distinct()
    .where('cause', '=', cause)
    .where('seq', '>', sent_through)
    .where('found_at', '<', now)
    .orderBy('subject')
    .limit(most)
    .execute();
  return rows.map(({ subject }) => subject);
}

/** What an address was not sent yet in a turn, found before `now`: others may still be writing what they find this second. */
export async function unsentNotices(
  query: Executor,
  turn: Turn,
  { now, limit, most }: { now: number; limit: number; most: number },
): Promise<DueNotices> {
  const { next_at, sent_through, failures } = await turnOf(query, turn);
  const rows =
    next_at > now
      ? []
      : await query
          .selectFrom('notices')
          .selectAll()
          .where('seq', '>', sent_through)
          .where('cause', '=', turn.cause)
          .$if(turn.subject !== null, (rows) => rows.where('subject', '=', turn.subject ?? ''))
          .where('found_at', '<', now)
          .orderBy('seq')
          .limit(most)
          .execute();
  const through = rows.at(-1)?.seq ?? 0;
  return { turn, notices: rows.slice(0, limit), count: rows.length, through, failures };
}

/** Versions that had one turn for all subjects have sent what they had: the turn of a subject begins after that. */
async function turnOf(
  query: Executor,
  turn: Turn,
): Promise<{ next_at: number; sent_through: number; failures: number }> {
  const rows = await query
    .selectFrom('notice_targets')
    .select(['cause', 'sent_through', 'next_at', 'failures'])
    .where('target', '=', turn.target)
    .where('cause', 'in', [turn.cause, keyOf(turn)])
    .execute();
  const own = rows.find(({ cause }) => cause === keyOf(turn));
  return {
    next_at: own?.next_at ?? 0,
    sent_through: Math.max(0, ...rows.map(({ sent_through }) => sent_through)),
    failures: own?.failures ?? 0,
  };
}

/** Turns that these addresses took nothing of when they were tried last. */
export async function failingTurns(
  query: Executor,
  targets: readonly string[],
  most: number,
): Promise<(Turn & { sent_through: number })[]> {
  if (targets.length === 0) return [];
  const rows = await query
    .selectFrom('notice_targets')
    .select(['target', 'cause', 'sent_through'])
    .where('target', 'in', targets)
    .where('failures', '>', 0)
    .limit(most)
    .execute();
  return rows.map(({ cause: key, ...row }) => {
    const [cause = '', ...subject] = key.split(' ');
    return { ...row, cause, subject: subject.length === 0 ? null : subject.join(' ') };
  });
}

/** How many notices of a cause, or of one subject of it, are newer than the one at `after`; counted up to `most`. */
export async function countNoticesAfter(
  query: Executor,
  { cause, subject }: Pick<Turn, 'cause' | 'subject'>,
  { after, most }: { after: number; most: number },
): Promise<number> {
  const newer = query
    .selectFrom('notices')
    .select('seq')
    .where('seq', '>', after)
    .where('cause', '=', cause)
    .$if(subject !== null, (rows) => rows.where('subject', '=', subject ?? ''))
    .limit(most);
  const row = await query
    .selectFrom(newer.as('newer'))
    .select((of) => of.fn.countAll<number | bigint>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** Takes a turn until `next_at`; false where another daemon has it, or had it not long ago. */
export async function claimTurn(
  query: Executor,
  turn: Turn,
  { now, next_at }: { now: number; next_at: number },
): Promise<boolean> {
  const result = await query
    .insertInto('notice_targets')
    .values({ target: turn.target, cause: keyOf(turn), sent_through: 0, next_at, failures: 0 })
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
export async function noteSent(query: Executor, turn: Turn, through: number): Promise<void> {
  await query
    .updateTable('notice_targets')
    .set({ sent_through: through, failures: 0 })
    .where('target', '=', turn.target)
    .where('cause', '=', keyOf(turn))
    .execute();
}

/** The address took nothing, and is tried again at `next_at`, Unix seconds. */
export async function noteUnsent(query: Executor, turn: Turn, next_at: number): Promise<void> {
  await query
    .updateTable('notice_targets')
    .set({ failures: sql<number>`failures + 1`, next_at })
    .where('target', '=', turn.target)
    .where('cause', '=', keyOf(turn))
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
