// A list of rows of which only those in view are drawn, however many there are.
import { clean } from '../output/text.ts';
import { pad, padLeft, widthOf } from '../output/width.ts';
import { type Line, line, type Piece } from './paint.ts';
import type { Key } from './session.ts';

export interface Column<Row> {
  title: string;
  /** Cells it takes at most; what is longer is cut. */
  width: number;
  value: (row: Row, now_s: number) => string;
  /** Numbers stand at the right. */
  right?: true;
  /** Which column goes first where there is no room for all: the one with the highest. Its place by default. */
  rank?: number;
  /** Colour of a row's cell; the text says the same without it. */
  color?: (row: Row) => string | undefined;
  /** What it is sorted by; its text by default. */
  by?: (row: Row) => string | number | bigint;
  /** Shown only where it is chosen. */
  extra?: true;
  /** A sentence: where there is no room for all of it, its beginning is shown. */
  isText?: true;
}

export interface Sort {
  title: string;
  reversed: boolean;
}

const GAP = '  ';
/** Cursor and mark, for terminals without colours too. */
const SIGNS = 2;

/** The first row in view: the marked one stays inside, as near the middle as the ends allow. */
export const windowStart = (selected: number, count: number, height: number): number =>
  Math.max(0, Math.min(selected - Math.floor(height / 2), count - height));

/** Rows in view in a table of that height, its head included. */
export function rowsInView<Row>(rows: readonly Row[], around: number, height: number): readonly Row[] {
  const lines = Math.max(1, height - 1);
  const start = windowStart(around, rows.length, lines);
  return rows.slice(start, start + lines);
}

/** Fewer cells of a sentence say nothing. */
const MIN_TEXT = 20;

/** The columns that `width` cells hold, in their order, with their cells: whole but for sentences; the first one always. */
function fitting<Row>(
  columns: readonly Column<Row>[],
  wholeOf: (column: Column<Row>) => number,
  width: number,
): ReadonlyMap<Column<Row>, number> {
  const cellsOf = (column: Column<Row>) =>
    column.isText ? Math.min(MIN_TEXT, wholeOf(column)) : wholeOf(column);
  const rankOf = (column: Column<Row>) => column.rank ?? columns.indexOf(column);
  const shown = [...columns];
  const taken = () =>
    shown.reduce((sum, column) => sum + cellsOf(column), 0) + GAP.length * (shown.length - 1);
  while (shown.length > 1 && taken() > width) {
    const last = shown.slice(1).reduce((one, other) => (rankOf(other) > rankOf(one) ? other : one));
    shown.splice(shown.indexOf(last), 1);
  }
  let rest = Math.max(0, width - taken());
  return new Map(
    shown.map((column) => {
      const more = Math.min(rest, wholeOf(column) - cellsOf(column));
      rest -= more;
      return [column, cellsOf(column) + more] as const;
    }),
  );
}

export interface Drawing<Row> {
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** Index of the row with the cursor; none where it is negative. */
  selected: number;
  /** Index of a row that stays in view where none has the cursor. */
  around: number;
  marks: ReadonlySet<string>;
  sort: Sort | undefined;
  height: number;
  width: number;
  now_s: number;
}

export class Table<Row> {
  /** A column that was once wide stays so: what is read does not jump. */
  readonly #widest = new Map<string, number>();

  draw(drawing: Drawing<Row>): Line[] {
    const { columns: all, rows, keyOf, selected, around, marks, sort, height, width, now_s } = drawing;
    const inView = rowsInView(rows, around, height);
    const texts = inView.map((row) => all.map(({ value }) => clean(value(row, now_s))));
    const titleOf = ({ title }: Column<Row>) =>
      sort?.title === title ? `${title}${sort.reversed ? '↑' : '↓'}` : title;
    all.forEach((column, index) => {
      const natural = texts.reduce(
        (cells, row) => Math.max(cells, widthOf(row[index] ?? '')),
        Math.max(widthOf(titleOf(column)), this.#widest.get(column.title) ?? 0),
      );
      const most = Math.max(column.width, widthOf(titleOf(column)));
      this.#widest.set(column.title, Math.min(natural, most));
    });
    const wholeOf = ({ title }: Column<Row>) => this.#widest.get(title) ?? 0;
    const cells = fitting(all, wholeOf, width - SIGNS);
    const columns = [...cells.keys()];
    const cell = (text: string, column: Column<Row>) =>
      (column.right ? padLeft : pad)(text, Math.min(cells.get(column) ?? 0, Math.max(1, width - SIGNS)));
    const head = columns.map((column) => cell(titleOf(column), column)).join(GAP);
    const places = columns.map((column) => all.indexOf(column));
    const cursor = rows[selected];
    return [
      line({ text: ' '.repeat(SIGNS) + head, bold: true }),
      ...inView.map((row, at): Line => {
        const isMarked = marks.has(keyOf(row));
        const pieces: Piece[] = [
          { text: row === cursor ? '›' : ' ' },
          { text: isMarked ? '●' : ' ', color: 'magenta' },
          ...columns.flatMap((column, index): Piece[] => [
            { text: cell(texts[at]?.[places[index] ?? 0] ?? '', column), color: column.color?.(row) },
            { text: index < columns.length - 1 ? GAP : '' },
          ]),
        ];
        return row === cursor ? { pieces, inverse: 'plain' } : { pieces };
      }),
    ];
  }
}

/** Where a key of k9s or less moves the cursor; undefined for any other key. */
export function moved(
  { name, ctrl, text }: Key,
  { selected, count, page }: { selected: number; count: number; page: number },
): number | undefined {
  const to =
    name === 'up' || text === 'k'
      ? selected - 1
      : name === 'down' || text === 'j'
        ? selected + 1
        : name === 'pageup' || (ctrl && name === 'b')
          ? selected - page
          : name === 'pagedown' || (ctrl && name === 'f')
            ? selected + page
            : name === 'home' || text === 'g'
              ? 0
              : name === 'end' || text === 'G'
                ? count - 1
                : undefined;
  return to === undefined ? undefined : Math.max(0, Math.min(to, count - 1));
}
