// JSON of a provider, measured before it is parsed: parsing, and whatever is done with the result, costs by values and depth.
import { atOnce, type Steps } from './steps.ts';

/** Deeper than any honest answer; what is done with it may call itself once for each level. */
const MOST_DEPTH = 100;
/** Members and elements of one answer: a page of a thousand transactions has a tenth of it. */
const MOST_VALUES = 500_000;
/** Characters that are parsed in one step: a millisecond's worth. */
const STEP_CHARACTERS = 128 * 1024;

/** An answer that is larger than any that was asked for. */
export class TooMuchJson extends Error {
  override name = 'TooMuchJson';
}

/** Throws SyntaxError where it is none, and TooMuchJson. */
export const parseJson = (text: string, most_values = MOST_VALUES): unknown =>
  atOnce(readJson(text, { most_values }));

export interface JsonOptions {
  most_values?: number;
  /** Made of each piece of the text before it is parsed; a piece has whole values. */
  prepared?: (piece: string) => string;
}

/** The same, in steps: what is large is parsed piece by piece, as if it were parsed at once. */
export function* readJson(
  text: string,
  { most_values = MOST_VALUES, prepared = (piece) => piece }: JsonOptions = {},
): Steps<unknown> {
  const large = yield* measure(text, most_values);
  // What is one value alone takes a step of its own.
  if (text.length >= STEP_CHARACTERS) yield;
  const parse = (piece: string): unknown => JSON.parse(prepared(piece));
  const start = skipSpace(text, 0);
  const end = large.get(start);
  if (end === undefined) return parse(text);
  const value = yield* readLarge(text, start, { large, parse });
  if (skipSpace(text, end + 1) < text.length) throw new SyntaxError('more than one value');
  return value;
}

/** The same of bytes in UTF-8. */
export function* readJsonBytes(bytes: Uint8Array): Steps<unknown> {
  const text = new TextDecoder().decode(bytes);
  yield;
  return yield* readJson(text);
}

const codeOf = (character: string): number => character.charCodeAt(0);
const QUOTE = codeOf('"');
const COMMA = codeOf(',');
const BACKSLASH = codeOf('\\');
const CLOSED_BY = new Map([
  [codeOf('['), codeOf(']')],
  [codeOf('{'), codeOf('}')],
]);
const CLOSING = new Set(CLOSED_BY.values());
const SPACE = /[^ \t\n\r]/g;

/** Throws where it is deeper or has more values than any answer; where objects and lists end that are too large for one step. */
function* measure(text: string, most_values: number): Steps<ReadonlyMap<number, number>> {
  const large = new Map<number, number>();
  const open: number[] = [];
  let values = 0;
  let step = STEP_CHARACTERS;
  for (let at = 0; at < text.length; at++) {
    if (at >= step) {
      yield;
      step = at + STEP_CHARACTERS;
    }
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfText(text, at);
      continue;
    }
    if (CLOSING.has(code)) {
      const from = open.pop();
      if (from !== undefined && at - from >= STEP_CHARACTERS) large.set(from, at);
    }
    const opens = CLOSED_BY.has(code);
    if (code !== COMMA && !opens) continue;
    if (opens && open.push(at) > MOST_DEPTH) throw new TooMuchJson(`nested deeper than ${MOST_DEPTH} times`);
    if (++values > most_values) throw new TooMuchJson(`of over ${most_values} values`);
  }
  return large;
}

interface Large {
  /** Where each object and list ends that is too large for one step. */
  large: ReadonlyMap<number, number>;
  parse(piece: string): unknown;
}

/** The object or list that begins there, in pieces of whole members; members that are large themselves are read likewise. */
function* readLarge(text: string, start: number, { large, parse }: Large): Steps<unknown> {
  const end = large.get(start) as number;
  const [opens, closes] = [text.charAt(start), text.charAt(end)];
  if (CLOSED_BY.get(codeOf(opens)) !== codeOf(closes)) throw new SyntaxError('a bracket closes another one');
  const isList = opens === '[';
  const names: string[] = [];
  const values: unknown[] = [];
  const take = (from: number, to: number, after = ''): void => {
    const isBlank = after === '' && skipSpace(text, from) >= to;
    if (isBlank && !(from === start + 1 && to === end)) throw new SyntaxError('a comma without a value');
    const read = parse(opens + text.slice(from, to) + after + closes) as object;
    for (const value of Object.values(read)) values.push(value);
    if (!isList) for (const name of Object.keys(read)) names.push(name);
  };
  /** Where the piece begins that is to be parsed next, and the last member in it; null where no member follows. */
  let piece: number | null = start + 1;
  let member = piece;
  let depth = 0;
  for (let at = piece; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfText(text, at);
    else if (large.has(at)) {
      if (piece !== null && piece < member) take(piece, member - 1);
      // Of an object, its name.
      take(member, at, 'null');
      values[values.length - 1] = yield* readLarge(text, at, { large, parse });
      at = skipSpace(text, (large.get(at) as number) + 1);
      if (at < end && text.charCodeAt(at) !== COMMA) throw new SyntaxError('no comma after a value');
      piece = at < end ? at + 1 : null;
      member = at + 1;
    } else if (CLOSED_BY.has(code)) depth++;
    else if (CLOSING.has(code)) depth--;
    else if (code === COMMA && depth === 0) {
      member = at + 1;
      if (piece === null || at - piece < STEP_CHARACTERS) continue;
      take(piece, at);
      piece = member;
      yield;
    }
  }
  if (piece !== null) take(piece, end);
  return isList ? values : Object.fromEntries(names.map((name, at) => [name, values[at]]));
}

/** Where the next character stands that is no white space; the end where there is none. */
function skipSpace(text: string, from: number): number {
  SPACE.lastIndex = from;
  return SPACE.exec(text)?.index ?? text.length;
}

/** Where the quote that ends a text is; the end where there is none. */
function endOfText(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let before = at;
    while (text.charCodeAt(before - 1) === BACKSLASH) before--;
    if ((at - before) % 2 !== 0) continue;
    // Bytes in hexadecimal have no escapes, which are slow to read.
    if (at - from > STEP_CHARACTERS && text.slice(from, at).includes('\\'))
      throw new TooMuchJson(`with a text of ${at - from} characters`);
    return at;
  }
  return text.length;
}
