// A table that fits the terminal, and a card of one thing: replies for a person.

import { printSections, type Section } from './card.ts';
import { cell, isNumeric, type Size, shownNames, valuesOf } from './cell.ts';
import { type Io, linked, paint, print, terminalWidth } from './io.ts';
import { statusColor } from './status.ts';
import { isRow, memberOf, type Row } from './value.ts';
import { pad, padLeft, widthOf } from './width.ts';

const GAP = '  ';
/** Free text of which a table shows the beginning. */
const TEXT = /(^|[._])(title|note|description|external_ref|last_error|details|snippet|summary|html)$/;
const MAX_TEXT = 40;

const colored = (io: Io, text: string): string => {
  const color = statusColor(text.trim());
  return color ? paint(io, color, text) : text;
};

interface Laid {
  cells: string[][];
  widths: number[];
}

/** `created_at` → `CREATED`, `amount_usd` → `USD`, `data.invoice.id` → `INVOICE`. */
const headOf = (name: string): string =>
  name
    .replace(/\.id$/, '')
    .replace(/^.*\./, '')
    .replace(/(.)_(at|id)$/, '$1')
    .replace(/^amount_usd$/, 'usd')
    .replaceAll('_', ' ')
    .toUpperCase();

const taken = (widths: readonly number[]): number =>
  widths.reduce((sum, width) => sum + width, 0) + GAP.length * (widths.length - 1);

function lay(rows: readonly unknown[], columns: readonly string[], size: Size): Laid {
  const now_s = Math.floor(Date.now() / 1000);
  const cells = rows.map((row) => columns.map((name) => cell(row, name, size, now_s)));
  const widths = columns.map((name, index) => {
    const natural = cells.reduce((most, line) => Math.max(most, widthOf(line[index] ?? '')), 0);
    return Math.max(headOf(name).length, TEXT.test(name) ? Math.min(natural, MAX_TEXT) : natural);
  });
  return { cells, widths };
}

/** Ids become short where not all has room, then times; then the last columns go. Nothing else is cut. */
function fitted(rows: readonly unknown[], columns: readonly string[], available: number): Laid {
  for (const size of ['whole', 'short ids'] as const) {
    const laid = lay(rows, columns, size);
    if (taken(laid.widths) <= available) return laid;
  }
  const { cells, widths } = lay(rows, columns, 'short');
  let count = widths.length;
  while (count > 1 && taken(widths.slice(0, count)) > available) count -= 1;
  return { cells, widths: widths.slice(0, count) };
}

/** The page of a row, which its id opens. */
const pageOf = (row: unknown): unknown => memberOf(row, 'pay_url') ?? memberOf(row, 'page_url');

/** `below` gives the lines that stand under a row, made for the width of the terminal. */
export function printTable(
  io: Io,
  rows: readonly unknown[],
  names: readonly string[],
  below?: (index: number) => readonly string[],
): void {
  const columns = shownNames(names);
  const { cells, widths } = fitted(rows, columns, terminalWidth(io) - 1);
  const numeric = columns.map((name) =>
    isNumeric(
      name,
      rows.map((row) => memberOf(row, name)),
    ),
  );
  const line = (texts: readonly string[], each: (text: string, index: number) => string) =>
    widths
      .map((width, index) => each((numeric[index] ? padLeft : pad)(texts[index] ?? '', width), index))
      .join(GAP)
      .trimEnd();
  print(
    io,
    line(columns.map(headOf), (text) => paint(io, 'bold', text)),
  );
  cells.forEach((texts, index) => {
    const page = pageOf(rows[index]);
    print(
      io,
      line(texts, (text, at) =>
        columns[at] === 'id' ? text.replace(/^\S+/, (id) => linked(io, id, page)) : colored(io, text),
      ),
    );
    for (const text of below?.(index) ?? []) print(io, text);
  });
}

/** Members of one thing, `parts` of lists in it; what holds several things is a section of its own. An end that no longer matters is left out, as is a list of parts that is empty. */
export function printCard(
  io: Io,
  thing: Row,
  names: readonly string[],
  parts: Readonly<Record<string, readonly string[]>> = {},
): void {
  const now_s = Math.floor(Date.now() / 1000);
  const facts: [string, string][] = [];
  const sections: Section[] = [];
  for (const name of shownNames(names)) {
    const value = memberOf(thing, name);
    const isList = Array.isArray(value) && value.some(isRow);
    if (parts[name] && Array.isArray(value) && value.length === 0) continue;
    if (name === 'expires_at' && typeof thing.status === 'string' && thing.status !== 'created') continue;
    if (isList)
      sections.push({
        title: name,
        rows: value.map((item) => [
          '',
          parts[name]
            ?.map((part) => cell(item, part, 'whole', now_s))
            .filter((text) => text !== '–')
            .join('  ') ?? valuesOf(item as Row),
        ]),
      });
    else if (isRow(value))
      sections.push({
        title: name,
        rows: Object.keys(value).map((key) => [key, cell(thing, `${name}.${key}`, 'whole', now_s)]),
      });
    else facts.push([name, cell(thing, name, 'whole', now_s)]);
  }
  printSections(io, [{ title: '', rows: facts }, ...sections]);
}
