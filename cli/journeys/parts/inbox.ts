// An inbox for a person: a row for each thing that waits, and below it what it is, what it may mean and what to type.
import { shortCommand } from '../../output/explain-card.ts';
import { type Io, paint, print, terminalWidth } from '../../output/io.ts';
import { printTable } from '../../output/table.ts';
import { clean } from '../../output/text.ts';
import { wrapped } from '../../output/width.ts';

export interface InboxRow {
  about: string;
  /** Things that it may mean, a line each. */
  meant: readonly string[];
  steps: readonly { command: string; why?: string }[];
}

const INDENT = '    ';

/** Prints the rows, each with the lines that belong to it. */
export function printInbox<Row>(
  io: Io,
  rows: readonly Row[],
  columns: readonly string[],
  read: (row: Row) => InboxRow,
): void {
  if (rows.length === 0) {
    print(io, 'Nothing waits.');
    return;
  }
  const room = terminalWidth(io) - 1 - INDENT.length;
  const lines = (text: string) => wrapped(clean(text), room).map((line) => INDENT + line);
  printTable(io, rows, columns, (index) => {
    const { about, meant, steps } = read(rows[index] as Row);
    return [
      ...lines(about).map((line) => paint(io, 'dim', line)),
      ...meant.flatMap((text) => lines(`could be ${text}`)),
      ...steps.map(
        ({ command, why }) =>
          `${INDENT}${paint(io, 'cyan', `→ ${clean(shortCommand(command))}`)}${
            why === undefined
              ? ''
              : `\n${lines(`  ${why}`)
                  .map((line) => paint(io, 'dim', line))
                  .join('\n')}`
          }`,
      ),
    ];
  });
}
