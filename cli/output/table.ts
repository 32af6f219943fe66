// A table that fits the terminal, and a card of one thing: replies for a person.
import { type Io, paint, print, terminalWidth } from './io.ts';
import { statusColor } from './status.ts';
import { memberOf, type Row, show } from './value.ts';
import { pad, shorten, widthOf } from './width.ts';

const GAP = '  ';
/** No column becomes narrower than this to fit. */
const MIN_COLUMN = 9;

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
  const cells = rows.map((row) => columns.map((name) => show(name, memberOf(row, name), true)));
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
  const labelled = names.map((name): [string, string] => [name, show(name, memberOf(thing, name), true)]);
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
