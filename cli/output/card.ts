// One thing for a person, in sections: a headline, facts with their labels, lists with their titles.
import { type Io, linked, paint, print, terminalWidth } from './io.ts';
import { statusColor } from './status.ts';
import { clean } from './text.ts';
import { pad, wrapped } from './width.ts';

export interface Section {
  /** Nothing above the first facts. */
  title: string;
  /** Label, which may be empty, text, and the web address that it opens. */
  rows: readonly (readonly [string, string, string?])[];
}

export interface Card {
  headline: string;
  /** What the headline is painted after. */
  status: string;
  sections: readonly Section[];
}

const GAP = '  ';

interface Line {
  title: string;
  label: string;
  text: string;
  opens?: string | undefined;
}

/** The lines of the sections, each as label and text. Those without rows are left out. */
export function linesOf(sections: readonly Section[]): Line[] {
  return sections
    .filter(({ rows }) => rows.length > 0)
    .flatMap(({ title, rows }) => {
      const width = Math.max(...rows.map(([label]) => label.length));
      const lines = rows.map(([label, text, opens]) => ({
        opens,
        title: '',
        label: width === 0 ? GAP : pad(label, width) + GAP,
        text: clean(text),
      }));
      return title === ''
        ? lines
        : [{ title: '', label: '', text: '' }, { title, label: '', text: '' }, ...lines];
    });
}

/** Prints it whole. */
export function printCardOf(io: Io, { headline, status, sections }: Card): void {
  const color = statusColor(status);
  const shown = clean(headline);
  print(io, paint(io, 'bold', color ? paint(io, color, shown) : shown));
  printSections(io, sections);
}

/** Prints sections: what is longer than a line continues below its beginning. */
export function printSections(io: Io, sections: readonly Section[]): void {
  const room = terminalWidth(io) - 1;
  for (const { title, label, text, opens } of linesOf(sections))
    if (title !== '') print(io, paint(io, 'bold', title));
    // Addresses and links are to be copied whole: the terminal wraps one that is longer than a line.
    else
      (/^\S+$/.test(text) ? [text] : wrapped(text, room - label.length)).forEach((piece, index) => {
        const color = statusColor(piece);
        print(
          io,
          paint(io, 'dim', index === 0 ? label : ' '.repeat(label.length)) +
            (color ? paint(io, color, piece) : linked(io, piece, opens ?? text)),
        );
      });
}
