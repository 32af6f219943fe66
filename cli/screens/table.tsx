// A list of rows of which only those in view are drawn, however many there are.
import { Box, Text } from 'ink';
import { columnWidths } from '../output/table.ts';
import { clean } from '../output/text.ts';
import { pad, widthOf } from '../output/width.ts';

export interface Column<Row> {
  title: string;
  /** Cells it would like. */
  width: number;
  value: (row: Row) => string;
  /** Only where there is room for everything. */
  wide?: true;
  /** Colour of a row's cell; the text says the same without it. */
  color?: (row: Row) => string | undefined;
}

export interface TableProps<Row> {
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** Index of the marked row; none where it is negative. */
  selected: number;
  height: number;
  width: number;
}

const GAP = '  ';
/** Terminals from here on show wide columns. */
const WIDE = 110;

/** The first row in view: the marked one stays inside, as near the middle as the ends allow. */
export const windowStart = (selected: number, count: number, height: number): number =>
  Math.max(0, Math.min(selected - Math.floor(height / 2), count - height));

export function Table<Row>({ columns: all, rows, keyOf, selected, height, width }: TableProps<Row>) {
  const columns = all.filter((column) => !column.wide || width >= WIDE);
  const lines = Math.max(1, height - 1);
  const start = windowStart(selected, rows.length, lines);
  // The marked row has a sign too, for terminals without colours.
  const sign = selected < 0 ? '' : '› ';
  const widths = columnWidths(
    columns.map((column) => Math.max(column.width, widthOf(column.title))),
    width - sign.length,
  );
  const cell = (text: string, index: number) => pad(text, widths[index] ?? 0);
  return (
    <Box flexDirection="column" height={height}>
      <Text bold wrap="truncate">
        {' '.repeat(sign.length) + columns.map((column, index) => cell(column.title, index)).join(GAP)}
      </Text>
      {rows.slice(start, start + lines).map((row, offset) => (
        <Text key={keyOf(row)} inverse={start + offset === selected} wrap="truncate">
          {start + offset === selected ? sign : ' '.repeat(sign.length)}
          {columns.map((column, index) => (
            <Text key={column.title} color={column.color?.(row) ?? ''}>
              {cell(clean(column.value(row)), index)}
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
