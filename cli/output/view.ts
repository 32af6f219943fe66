// Replies for people: a table that fits the terminal, a card of one thing; tab-separated where no terminal is.
import { type Io, paint, print, printJson, terminalWidth } from './io.ts';
import { statusColor } from './status.ts';
import { clean, cleanLines } from './text.ts';
import { pad, shorten, widthOf } from './width.ts';

export type Row = Record<string, unknown>;

/** What of a reply is shown; dotted names reach into members. Without it, every member. */
export interface View {
  /** The member that holds the rows; found automatically where the reply has only one list. */
  list?: string;
  columns?: readonly string[];
}

const SECOND = 1;
const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;
const GAP = '  ';
/** No column becomes narrower than this to fit. */
const MIN_COLUMN = 9;

const isRow = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const memberOf = (row: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (isRow(value) ? value[name] : undefined), row);

export const SHORT_ID = 8;

/** What distinguishes an id from others: its end, since ids that were made together begin alike. */
export const shortId = (id: string): string => id.slice(-SHORT_ID);

/** `3 m ago`, `in 4 m`; `now_s` in Unix seconds. */
export function relative(at: number, now_s: number): string {
  const distance = Math.abs(now_s - at);
  const [size, unit]: [number, string] =
    distance < MINUTE
      ? [SECOND, 's']
      : distance < HOUR
        ? [MINUTE, 'm']
        : distance < DAY
          ? [HOUR, 'h']
          : [DAY, 'd'];
  const text = `${Math.floor(distance / size)}${unit}`;
  return at > now_s ? `in ${text}` : `${text} ago`;
}

/** A member as text: times are ISO 8601, or relative for a person; lists are joined. */
export function show(name: string, value: unknown, people: boolean): string {
  if (value === null || value === undefined) return people ? '–' : '';
  if (typeof value === 'number' && name.endsWith('_at'))
    return people ? relative(value, Math.floor(Date.now() / 1000)) : new Date(value * 1000).toISOString();
  if (Array.isArray(value)) return value.map((item) => show('', item, people)).join(', ');
  if (isRow(value)) return clean(JSON.stringify(value));
  return clean(String(value));
}

/** The rows of a reply that is a list; undefined for one thing. */
export function rowsOf(reply: unknown, list?: string): readonly unknown[] | undefined {
  if (Array.isArray(reply)) return reply;
  if (!isRow(reply)) return undefined;
  if (list !== undefined) return reply[list] as unknown[];
  return ['data', 'units', 'wallets', 'entries', 'results', 'observers', 'groups']
    .map((name) => reply[name])
    .find(Array.isArray);
}

const colored = (io: Io, text: string): string => {
  const color = statusColor(text.trim());
  return color ? paint(io, color, text) : text;
};

/** Widths that fit `available` cells: the widest columns give way first, those in `whole` never. */
export function columnWidths(
  natural: readonly number[],
  available: number,
  whole: ReadonlySet<number> = new Set(),
): number[] {
  const widths = [...natural];
  const ofWidest = () => Math.max(0, ...widths.filter((_, index) => !whole.has(index)));
  let over = widths.reduce((sum, width) => sum + width, 0) + GAP.length * (widths.length - 1) - available;
  while (over > 0) {
    const most = ofWidest();
    if (most <= MIN_COLUMN) break;
    const widest = widths.findIndex((width, index) => width === most && !whole.has(index));
    widths[widest] = (widths[widest] ?? 0) - 1;
    over -= 1;
  }
  return widths;
}

export function printTable(io: Io, rows: readonly unknown[], columns: readonly string[]): void {
  const people = io.stdout.isTTY === true;
  const cells = rows.map((row) => columns.map((name) => show(name, memberOf(row, name), people)));
  // For programs: whole values, tabs between, no header, as gh does.
  if (!people) {
    print(io, cells.map((line) => `${line.join('\t')}\n`).join(''));
    return;
  }
  const heads = columns.map((name) => name.replace(/^.*\./, '').replaceAll('_', ' ').toUpperCase());
  const natural = heads.map((head, index) =>
    cells.reduce((most, line) => Math.max(most, widthOf(line[index] ?? '')), head.length),
  );
  const widths = fitColumns(columns, natural, terminalWidth(io) - 1);
  const line = (texts: readonly string[], each: (text: string) => string) =>
    widths
      .map((width, index) => each(pad(texts[index] ?? '', width)))
      .join(GAP)
      .trimEnd();
  print(
    io,
    line(heads, (text) => paint(io, 'bold', text)),
  );
  for (const texts of cells)
    print(
      io,
      line(texts, (text) => colored(io, text)),
    );
}

/** An id is shown whole, since it is what the next command takes; the last columns go where the rest has no room. */
function fitColumns(columns: readonly string[], natural: readonly number[], available: number): number[] {
  const whole = new Set(columns.flatMap((name, index) => (/(^|[._])id$/.test(name) ? [index] : [])));
  for (let count = natural.length; count > 1; count -= 1) {
    const widths = columnWidths(natural.slice(0, count), available, whole);
    const taken = widths.reduce((sum, width) => sum + width, 0) + GAP.length * (count - 1);
    if (taken <= available) return widths;
  }
  return columnWidths(natural.slice(0, 1), available);
}

export function printCard(io: Io, thing: Row, names: readonly string[]): void {
  const people = io.stdout.isTTY === true;
  const labelled = names.map((name): [string, string] => [name, show(name, memberOf(thing, name), people)]);
  if (!people) {
    print(io, labelled.map(([name, text]) => `${name}\t${text}\n`).join(''));
    return;
  }
  const label = Math.max(...names.map((name) => name.length));
  const room = Math.max(MIN_COLUMN, terminalWidth(io) - label - GAP.length - 1);
  for (const [name, text] of labelled) {
    // Addresses and links are to be copied whole: the terminal wraps a long value.
    const value = /url|address|payload|key|secret|memo|txid|token/.test(name)
      ? text
      : shorten(text, room * 3);
    print(io, `${paint(io, 'dim', pad(name, label))}${GAP}${colored(io, value)}`);
  }
}

/** Prints a reply: as JSON where that was asked for, else for people after the view. */
export function printReply(io: Io, reply: unknown, view: View = {}): void {
  const rows = rowsOf(reply, view.list);
  if (io.json !== false) printJson(io, io.json === true ? reply : pick(reply, io.json, view.list));
  else if (rows) {
    const first = rows[0];
    const columns = view.columns ?? (isRow(first) ? Object.keys(first) : []);
    if (rows.length === 0) io.stderr.write(io.stdout.isTTY ? 'nothing here\n' : '');
    else if (!isRow(first)) for (const row of rows) print(io, clean(String(row)));
    else printTable(io, rows, columns);
  } else if (isRow(reply)) printCard(io, reply, view.columns ?? Object.keys(reply));
  else print(io, io.stdout.isTTY ? cleanLines(String(reply)) : String(reply));
}

/** One thing that is shown as JSON only: whole, or the named members. */
export const printObject = (io: Io, thing: Row): void =>
  printJson(io, Array.isArray(io.json) ? pick(thing, io.json, 'none') : thing);

/** The named members: of each row where they are members of rows, else of the reply itself. */
export function pick(reply: unknown, names: readonly string[], list?: string): unknown {
  const take = (thing: unknown) =>
    Object.fromEntries(names.map((name) => [name, memberOf(thing, name) ?? null]));
  const rows = rowsOf(reply, list);
  if (!rows) return take(reply);
  const ofReply = isRow(reply) && names.every((name) => Object.hasOwn(reply, name));
  return ofReply ? take(reply) : rows.map(take);
}
