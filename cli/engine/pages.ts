// Lists in pages: all of them, those with a text in them, those since a moment; and what a person reads at the end.

import type { Endpoint } from '../../src/api/describe/endpoint.ts';
import { cleanText } from '../../src/clean.ts';
import { type Io, paint, say } from '../output/io.ts';
import { memberOf } from '../output/value.ts';
import { printReply, rowsOf, type View } from '../output/view.ts';
import type { Context, Input, Own } from './command.ts';
import { milliseconds, usage } from './errors.ts';
import type { Flag } from './flag.ts';

/** The largest page that every list gives, and how many of them are read at most. */
const PAGE = 200;
const MAX_PAGES = 5000;

type Reply = Record<string, unknown>;

/** How a list continues: behind an id, or after so many rows; undefined where it has one page only. */
const continuesBy = ({ query = {} }: Endpoint): 'after' | 'skip' | undefined =>
  'limit' in query ? (['after', 'skip'] as const).find((name) => name in query) : undefined;

/** The flags of a list that has pages; `since` where its rows say when they were made and the newest come first. */
export const pageFlags = (endpoint: Endpoint, { since }: View): Flag[] =>
  continuesBy(endpoint) === undefined
    ? []
    : [
        { field: 'all', name: 'all', place: 'own', kind: 'boolean', help: 'all pages, not only the first' },
        {
          field: 'search',
          name: 'search',
          place: 'own',
          kind: 'text',
          help: 'only rows that contain this text, on any page: an order, a memo, an amount, a transaction, part of an id',
        },
        ...(since === undefined
          ? []
          : ([
              {
                field: 'since',
                name: 'since',
                place: 'own',
                kind: 'text',
                value: 'time',
                help: 'only rows created since then, on any page: 1h, 7d, or a time such as 2026-01-31T08:00Z',
              },
            ] as const)),
      ];

/** Prints one page, or every row that the flags ask for: as one reply where it is JSON, or a table. */
export async function printPages(
  context: Context,
  endpoint: Endpoint,
  { input, own, view }: { input: Input; own: Own; view: View },
): Promise<void> {
  const { io } = context;
  const isWanted = wantedBy(own);
  const since = own.since === undefined ? undefined : secondsSince(String(own.since));
  if (own.all !== true && !isWanted && since === undefined) {
    // A person reads how many there are; programs ask for it themselves.
    const isPerson = io.json === false && io.stdout.isTTY === true;
    const asked =
      isPerson && 'count' in (endpoint.query ?? {})
        ? { ...input, query: { ...input.query, count: true } }
        : input;
    const reply = (await context.call(endpoint, asked)) as unknown as Reply;
    await printReply(io, reply, view);
    return sayRest(io, endpoint, reply, view);
  }
  // What a program reads is written as it comes, but for JSON.
  const isByPage = io.writer?.by_page ?? (io.json === false && io.stdout.isTTY !== true);
  const whole: unknown[] = [];
  let first: Reply | undefined;
  for await (const reply of pagesOf(context, endpoint, input)) {
    first ??= reply;
    const rows = rowsOf(reply, view.list) ?? [];
    const isOld = (row: unknown) => since !== undefined && madeAt(row, view.since ?? '') < since;
    const wanted = rows.filter((row) => !isOld(row) && (!isWanted || isWanted(row)));
    if (isByPage) await printReply(io, { ...reply, [nameOfRows(reply, view)]: wanted }, view);
    else whole.push(...wanted);
    if (rows.some(isOld)) break;
  }
  if (isByPage) return;
  const end = {
    ...('has_more' in (first ?? {}) ? { has_more: false } : {}),
    ...('next' in (first ?? {}) ? { next: null } : {}),
    ...('count' in (first ?? {}) ? { count: whole.length } : {}),
    ...('limit' in (first ?? {}) ? { limit: whole.length } : {}),
  };
  await printReply(io, { ...first, [nameOfRows(first ?? {}, view)]: whole, ...end }, view);
}

const nameOfRows = (reply: Reply, view: View): string =>
  view.list ?? Object.keys(reply).find((name) => reply[name] === rowsOf(reply, view.list)) ?? 'data';

async function* pagesOf({ call }: Context, endpoint: Endpoint, input: Input): AsyncGenerator<Reply, void> {
  const by = continuesBy(endpoint);
  let place: unknown = by === undefined ? undefined : input.query[by];
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const query = { ...input.query, limit: PAGE, ...(by && place !== undefined ? { [by]: place } : {}) };
    const reply = (await call(endpoint, { ...input, query })) as unknown as Reply;
    yield reply;
    const rows = rowsOf(reply) ?? [];
    const read = Number(place ?? 0) + rows.length;
    const hasMore = typeof reply.has_more === 'boolean' ? reply.has_more : read < Number(reply.count ?? 0);
    if (!hasMore || rows.length === 0) return;
    place = by === 'skip' ? read : (reply.next ?? undefined);
    // Without a place to continue from, the same page would come again.
    if (place === undefined) return;
  }
}

/** Whether a row holds the text that is searched for, in any member and any case of letters. */
function wantedBy({ search }: Own): ((row: unknown) => boolean) | undefined {
  if (search === undefined) return undefined;
  const text = String(search).toLowerCase();
  return (row) => textsOf(row).some((one) => one.toLowerCase().includes(text));
}

const textsOf = (value: unknown): string[] =>
  typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [String(value)];

const DAY_MS = 86_400_000;

/** Unix seconds of `1h`, `7d` before now, or of a time. */
function secondsSince(text: string): number {
  const days = /^(\d+)d$/.exec(cleanText(text))?.[1];
  const at =
    days !== undefined
      ? Date.now() - Number(days) * DAY_MS
      : /^\d+(\.\d+)?(ms|s|m|h)$/.test(cleanText(text))
        ? Date.now() - milliseconds(text, '--since')
        : Date.parse(cleanText(text));
  if (Number.isNaN(at))
    throw usage(`--since takes 1h, 7d or a time such as 2026-01-31T08:00Z, not “${text}”`);
  return at / 1000;
}

function madeAt(row: unknown, member: string): number {
  const value = memberOf(row, member);
  return typeof value === 'number' ? value : Date.parse(String(value)) / 1000;
}

/** What a person should know below a page: how many there are besides, and how to see them. */
function sayRest(io: Io, endpoint: Endpoint, reply: Reply, view: View): void {
  const rows = rowsOf(reply, view.list) ?? [];
  if (io.json !== false || io.stdout.isTTY !== true || rows.length === 0) return;
  const { count = reply.total, has_more, total_is_more } = reply;
  const isMore = typeof has_more === 'boolean' ? has_more : rows.length < Number(count);
  if (!isMore || continuesBy(endpoint) === undefined) return;
  const of =
    typeof count === 'number'
      ? ` of ${total_is_more === true ? 'more than ' : ''}${count}`
      : ', and there are more';
  say(io, paint(io, 'dim', `${rows.length}${of}: --all, --search TEXT${view.since ? ', --since 1h' : ''}`));
}
