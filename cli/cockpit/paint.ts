// Lines for a terminal, made of pieces with their colours, and sent only where they differ from what is shown.
import type { Io } from '../output/io.ts';
import { shorten, widthOf } from '../output/width.ts';

/** A piece of a line. Its text holds nothing that a terminal obeys. */
export interface Piece {
  text: string;
  color?: string | undefined;
  bold?: boolean;
  dim?: boolean;
}

export interface Line {
  pieces: readonly Piece[];
  /** The whole width in reverse, in red where it warns. */
  inverse?: 'plain' | 'red';
}

export const line = (...pieces: (Piece | string | false | undefined)[]): Line => ({
  pieces: pieces.flatMap((piece) => (piece ? [typeof piece === 'string' ? { text: piece } : piece] : [])),
});
export const bold = (text: string, color?: string): Piece => ({ text, bold: true, color });
export const dim = (text: string): Piece => ({ text, dim: true });
export const colored = (text: string, color: string | undefined): Piece => ({ text, color });
export const BLANK: Line = { pieces: [] };

const CODES: Readonly<Record<string, number>> = {
  red: 31,
  green: 32,
  yellow: 33,
  blue: 34,
  magenta: 35,
  cyan: 36,
  gray: 90,
  /** In reverse on a line that is not. */
  inverse: 7,
};
const RESET = '\u001b[0m';

/** The sequences that begin a piece, by what it looks like: there are few, and each frame has hundreds of pieces. */
const sequences = new Map<string, string>();

function codesOf({ color = '', bold = false, dim = false }: Piece, inverse: Line['inverse']): string {
  if (color === '' && !bold && !dim && !inverse) return '';
  const key = `${color} ${bold} ${dim} ${inverse}`;
  const known = sequences.get(key);
  if (known !== undefined) return known;
  const codes = [
    ...(bold ? [1] : []),
    ...(dim && !inverse ? [2] : []),
    ...(inverse ? [7] : []),
    ...(inverse === 'red' ? [31] : !inverse && color !== '' ? [CODES[color] ?? 39] : []),
  ];
  const sequence = codes.length === 0 ? '' : `\u001b[${codes.join(';')}m`;
  sequences.set(key, sequence);
  return sequence;
}

/** The line as text for the terminal, exactly `width` cells wide. */
export function drawn({ pieces, inverse }: Line, width: number, colors: boolean): string {
  let room = width;
  let text = '';
  for (const piece of pieces) {
    if (room <= 0) break;
    const cut = shorten(piece.text, room);
    room -= widthOf(cut);
    const codes = colors ? codesOf(piece, inverse) : '';
    text += codes === '' ? cut : `${codes}${cut}${RESET}`;
  }
  if (room <= 0) return text;
  const rest = ' '.repeat(room);
  return text + (inverse && colors ? `${codesOf({ text: '' }, inverse)}${rest}${RESET}` : rest);
}

/** Two parts of a line: the right one whole, the left one in the room that is left. */
export function ends(left: readonly Piece[], right: readonly Piece[], width: number): Piece[] {
  const taken = right.reduce((sum, { text }) => sum + widthOf(text), 0);
  let room = Math.max(0, width - taken - 1);
  const shown: Piece[] = [];
  for (const piece of left) {
    const text = shorten(piece.text, room);
    room -= widthOf(text);
    if (text !== '') shown.push({ ...piece, text });
  }
  return [...shown, { text: ' '.repeat(room + 1) }, ...right];
}

/** Lines side by side: the left ones exactly `width` wide. */
export const sideBySide = (left: readonly Line[], right: readonly Line[], width: number): Line[] =>
  Array.from({ length: Math.max(left.length, right.length) }, (_, index) => {
    const one = left[index] ?? BLANK;
    const other = right[index] ?? BLANK;
    // A row in reverse ends where the other part begins.
    return { pieces: [...fitted(one, width), dim('│ '), ...other.pieces] };
  });

const marked = (piece: Piece): Piece => ({ ...piece, color: 'inverse', dim: false });

function fitted({ pieces, inverse }: Line, width: number): Piece[] {
  let room = width;
  const shown: Piece[] = [];
  for (const piece of pieces) {
    const text = shorten(piece.text, room);
    room -= widthOf(text);
    if (text !== '') shown.push(inverse ? marked({ ...piece, text }) : { ...piece, text });
  }
  const rest: Piece = { text: ' '.repeat(Math.max(0, room)) };
  return [...shown, inverse ? marked(rest) : rest];
}

const BEGIN = '\u001b[?2026h';
const END = '\u001b[?2026l';

/** What a terminal shows, and how it is brought to show something else. */
export class Painter {
  readonly #io: Pick<Io, 'stdout' | 'color'>;
  #shown: string[] = [];
  #width = 0;

  constructor(io: Pick<Io, 'stdout' | 'color'>) {
    this.#io = io;
  }

  /** Shows these lines from the top; the last frame's other lines go. */
  paint(lines: readonly Line[], width: number): void {
    const { stdout, color } = this.#io;
    const isNew = width !== this.#width || lines.length !== this.#shown.length;
    const next = lines.map((each) => drawn(each, width, color));
    const changes = next.flatMap((text, row) =>
      isNew || text !== this.#shown[row] ? `\u001b[${row + 1};1H\u001b[2K${text}` : [],
    );
    this.#shown = next;
    this.#width = width;
    if (changes.length > 0) stdout.write(`${BEGIN}${isNew ? '\u001b[2J' : ''}${changes.join('')}${END}`);
  }
}
