// A list of rows of which only those in view are drawn, however many there are.
import { Box, Text } from 'ink';
import { useRef } from 'react';
import { clean } from '../output/text.ts';
import { pad, padLeft, widthOf } from '../output/width.ts';

export interface Column<Row> {
  title: string;
  /** Cells it takes at most; what is longer is cut. */
  width: number;
  value: (row: Row) => string;
  /** Numbers stand at the right. */
  right?: true;
  /** Which column goes first where there is no room for all: the one with the highest. Its place by default. */
  rank?: number;
  /** Colour of a row's cell; the text says the same without it. */
  color?: (row: Row) => string | undefined;
}

export interface TableProps<Row> {
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** Index of the marked row; none where it is negative. */
  selected: number;
  /** Index of a row that stays in view where none is marked: a mark may come. */
  around?: number;
  height: number;
  width: number;
}

const GAP = '  ';
const SIGN = '› ';

/** The first row in view: the marked one stays inside, as near the middle as the ends allow. */
export const windowStart = (selected: number, count: number, height: number): number =>
  Math.max(0, Math.min(selected - Math.floor(height / 2), count - height));

/** Rows in view in a table of that height, its head included. */
export function rowsInView<Row>(rows: readonly Row[], around: number, height: number): readonly Row[] {
  const lines = Math.max(1, height - 1);
  const start = windowStart(around, rows.length, lines);
  return rows.slice(start, start + lines);
}

/** The columns that `width` cells hold whole, in their order; the first one always. */
function fitting<Row>(
  columns: readonly Column<Row>[],
  widthOf: (column: Column<Row>) => number,
  width: number,
): readonly Column<Row>[] {
  const rankOf = (column: Column<Row>) => column.rank ?? columns.indexOf(column);
  const shown = [...columns];
  const taken = () =>
    shown.reduce((sum, column) => sum + widthOf(column), 0) + GAP.length * (shown.length - 1);
  while (shown.length > 1 && taken() > width) {
    const last = shown.slice(1).reduce((one, other) => (rankOf(other) > rankOf(one) ? other : one));
    shown.splice(shown.indexOf(last), 1);
  }
  return shown;
}

export function Table<Row>({
  columns: all,
  rows,
  keyOf,
  selected,
  around = selected,
  height,
  width,
}: TableProps<Row>) {
  const inView = rowsInView(rows, around, height);
  // A column that was once wide stays so: what is read does not jump.
  const widest = useRef(new Map<string, number>());
  for (const { title, value, width: most } of all) {
    const natural = inView.reduce(
      (cells, row) => Math.max(cells, widthOf(clean(value(row)))),
      Math.max(widthOf(title), widest.current.get(title) ?? 0),
    );
    widest.current.set(title, Math.min(natural, Math.max(most, widthOf(title))));
  }
  const cellsOf = ({ title }: Column<Row>) => widest.current.get(title) ?? 0;
  // The marked row has a sign too, for terminals without colours.
  const sign = around < 0 ? '' : SIGN;
  const columns = fitting(all, cellsOf, width - sign.length);
  const cell = (text: string, column: Column<Row>) =>
    (column.right ? padLeft : pad)(text, Math.min(cellsOf(column), width - sign.length));
  const marked = rows[selected];
  return (
    <Box flexDirection="column" height={height}>
      <Text bold wrap="truncate">
        {' '.repeat(sign.length) + columns.map((column) => cell(column.title, column)).join(GAP)}
      </Text>
      {inView.map((row) => (
        <Text key={keyOf(row)} inverse={row === marked} wrap="truncate">
          {row === marked ? sign : ' '.repeat(sign.length)}
          {columns.map((column, index) => (
            <Text key={column.title} color={column.color?.(row) ?? ''}>
              {cell(clean(column.value(row)), column)}
              {index < columns.length - 1 ? GAP : ''}
            </Text>
          ))}
        </Text>
      ))}
    </Box>
  );
}

/** Where a key of k9s or less moves the mark; undefined for any other key. */
export function moved(
  input: string,
  key: { upArrow: boolean; downArrow: boolean; pageUp: boolean; pageDown: boolean; ctrl: boolean },
  { selected, count, page }: { selected: number; count: number; page: number },
): number | undefined {
  const to =
    key.upArrow || input === 'k'
      ? selected - 1
      : key.downArrow || input === 'j'
        ? selected + 1
        : key.pageUp || (key.ctrl && input === 'b')
          ? selected - page
          : key.pageDown || (key.ctrl && input === 'f')
            ? selected + page
            : input === 'g'
              ? 0
              : input === 'G'
                ? count - 1
                : undefined;
  return to === undefined ? undefined : Math.max(0, Math.min(to, count - 1));
}
