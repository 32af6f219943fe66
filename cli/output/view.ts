// Replies printed: JSON, a table or card for a person, tab-separated values where there is no terminal.
import type { Card } from './card.ts';
import { type Io, print, printJson, type Shape, say } from './io.ts';
import { clean, cleanLines, masked } from './text.ts';
import { isRow, memberOf, type Row, show } from './value.ts';

/** What of a reply is shown; dotted names reach into members. Without it, every member. */
export interface View extends Shape {
  /** Of one thing, members that are lists: where there is no terminal, a line for each of theirs with these members. */
  lines?: Readonly<Record<string, readonly string[]>>;
  /** How a terminal shows one thing, in place of a line for each member. */
  card?: (reply: never, now_s: number) => Promise<Card>;
  /** The member of its rows that says when each was made, where the newest come first. */
  since?: string;
  /** What a person can do about a list without rows. */
  empty?: string;
  /** Members of one thing that a terminal shows in part only; programs, and `--json`, have them whole. */
  secrets?: readonly string[];
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

/** Prints a reply: as JSON where that was asked for, else for people after the view. */
export async function printReply(io: Io, reply: unknown, view: View = {}): Promise<void> {
  if (io.json === true) return printJson(io, reply, view);
  if (io.json !== false) return printJson(io, pick(reply, io.json, view.list), { ...view, columns: io.json });
  const rows = rowsOf(reply, view.list);
  if (!rows && !isRow(reply)) return print(io, io.stdout.isTTY ? cleanLines(String(reply)) : String(reply));
  if (rows?.length === 0) {
    const todo = view.empty === undefined ? '' : `; ${view.empty}`;
    return void io.stderr.write(io.stdout.isTTY ? `nothing found${todo}\n` : '');
  }
  const first = rows?.[0] ?? reply;
  if (!isRow(first)) return print(io, (rows ?? []).map((row) => `${clean(String(row))}\n`).join(''));
  const names = view.columns ?? Object.keys(first);
  if (io.stdout.isTTY !== true) return print(io, plain(rows, first, names, view.lines));
  const hidden = (view.secrets ?? []).filter((name) => typeof first[name] === 'string');
  // How wide text is need only be known for a person.
  if (view.card) {
    const { printCardOf } = await import('./card.ts');
    printCardOf(io, await view.card(reply as never, Math.floor(Date.now() / 1000)));
  } else {
    const { printCard, printTable } = await import('./table.ts');
    if (rows) return printTable(io, rows, names);
    const inPart = Object.fromEntries(hidden.map((name) => [name, masked(String(first[name]))]));
    printCard(io, { ...first, ...inPart }, names, view.lines);
  }
  if (hidden.length > 0) say(io, `In part only: ${hidden.join(', ')}; --json ${hidden.join(',')} shows them`);
}

/** For programs: whole values, tabs between, no header, as gh does; one thing has a line for each member. */
const plain = (
  rows: readonly unknown[] | undefined,
  thing: Row,
  names: readonly string[],
  parts: View['lines'] = {},
): string => {
  const values = (row: unknown, of: readonly string[]) =>
    of.map((name) => show(name, memberOf(row, name), false));
  const linesOf = (name: string): string[][] => {
    const [list, columns] = [memberOf(thing, name), parts[name]];
    if (columns && Array.isArray(list))
      return list.map((one) => [name, ...(isRow(one) ? values(one, columns) : [show(name, one, false)])]);
    return columns ? [] : [[name, ...values(thing, [name])]];
  };
  const lines = rows ? rows.map((row) => values(row, names)) : names.flatMap(linesOf);
  return lines.map((line) => `${line.join('\t')}\n`).join('');
};

/** One thing that is shown as JSON only: whole, or the named members. */
export const printObject = (io: Io, thing: Row): void =>
  printJson(io, Array.isArray(io.json) ? pick(thing, io.json, 'none') : thing, { list: 'none' });

/** The named members: of each row where they are members of rows, else of the reply itself. */
export function pick(reply: unknown, names: readonly string[], list?: string): unknown {
  const take = (thing: unknown) =>
    Object.fromEntries(names.map((name) => [name, memberOf(thing, name) ?? null]));
  const rows = rowsOf(reply, list);
  if (!rows) return take(reply);
  const ofReply = isRow(reply) && names.every((name) => Object.hasOwn(reply, name));
  return ofReply ? take(reply) : rows.map(take);
}
