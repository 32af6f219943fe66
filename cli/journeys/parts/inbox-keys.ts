// The keys of an inbox that is gone through, as one line that fits the terminal; `?` says what each does.
import { cleanText } from '../../../src/clean.ts';
import { askText } from '../../engine/prompts.ts';
import { type Io, print, terminalWidth } from '../../output/io.ts';
import { clean } from '../../output/text.ts';
import { widthOf, wrapped } from '../../output/width.ts';

export interface WorkKey {
  /** As it stands in the line: `d closes unbooked`. */
  text: string;
  /** In fewer words, where the line is too long. */
  short?: string;
  /** Left out of a line that is still too long, the highest first. */
  spare?: number;
}

/** What a prompt puts before and behind its question, and room for an answer. */
const AROUND = 6;
const INDENT = '  ';
const ALL: WorkKey = { text: '? all keys', short: '? all' };

const lineOf = (keys: readonly WorkKey[], isShort: boolean): string =>
  `${keys.map(({ text, short }) => (isShort ? (short ?? text) : text)).join(', ')}:`;

/** The keys in one line of so many cells: all of them, else in fewer words, else those that are needed most, and `?`. */
export function keyLine(keys: readonly WorkKey[], cells: number): string {
  const fits = (line: string) => widthOf(line) <= cells;
  const [whole, short] = [lineOf(keys, false), lineOf(keys, true)];
  if (fits(whole)) return whole;
  if (fits(short)) return short;
  const shown = [...keys.slice(0, -1), ALL, ...keys.slice(-1)];
  const spares = keys.filter(({ spare }) => spare !== undefined);
  for (const key of spares.sort((one, other) => Number(other.spare) - Number(one.spare))) {
    if (fits(lineOf(shown, true))) break;
    shown.splice(shown.indexOf(key), 1);
  }
  return lineOf(shown, true);
}

/** What a person answers to them; `?` prints all, and asks again. */
export async function askKey(io: Io, keys: readonly WorkKey[]): Promise<string> {
  const cells = terminalWidth(io);
  for (;;) {
    const answer = cleanText(await askText(keyLine(keys, cells - AROUND), io));
    if (answer !== '?') return answer;
    for (const { text } of [...keys, ALL])
      for (const line of wrapped(clean(text), cells - INDENT.length - 1)) print(io, INDENT + line);
  }
}
