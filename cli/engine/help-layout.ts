// How help is laid out: two columns, wrapped to the width of the terminal.
import { type Io, terminalWidth } from '../output/io.ts';

export interface Section {
  title: string;
  /** What is explained, and its explanation. */
  items: readonly (readonly [term: string, text: string])[];
}

const INDENT = 2;
const GAP = 2;
/** Less than this is left unwrapped: a terminal breaks it better. */
const NARROWEST = 40;
const WIDTH = 80;

export function layOut(
  io: Io,
  { usage, about, sections }: { usage: string; about: string; sections: readonly Section[] },
): string {
  const width = io.stdout.isTTY ? terminalWidth(io) : WIDTH;
  const used = sections.filter(({ items }) => items.length > 0);
  const column = Math.max(0, ...used.flatMap(({ items }) => items.map(([term]) => term.length)));
  const before = INDENT + column + GAP;
  const line = ([term, text]: readonly [string, string]) =>
    `${' '.repeat(INDENT)}${text === '' ? term : term.padEnd(column + GAP)}${wrap(text, width - before).join(`\n${' '.repeat(before)}`)}`;
  return [
    `Usage: ${usage}`,
    ...(about === '' ? [] : [wrap(about, width).join('\n')]),
    ...used.map(({ title, items }) => [`${title}:`, ...items.map(line)].join('\n')),
  ]
    .join('\n\n')
    .concat('\n');
}

function wrap(text: string, width: number): string[] {
  if (width < NARROWEST) return text.split('\n');
  return text.split('\n').flatMap((line) => {
    const lines: string[] = [];
    let current = '';
    for (const word of line.match(/\s*\S+/g) ?? []) {
      if (current !== '' && current.length + word.length > width) {
        lines.push(current);
        current = word.trimStart();
      } else current += word;
    }
    return [...lines, current];
  });
}
