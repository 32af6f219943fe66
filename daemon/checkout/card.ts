// The picture that messengers show of a unit: its price, its name, its shop, and the code of its page.
import { promisify } from 'node:util';
import { deflate, inflateSync } from 'node:zlib';
import { rest } from '../process/rest.ts';
import { builtFile } from './built.ts';
import { pngOf } from './png.ts';
import { palette } from './styles/palette.ts';

/** What Open Graph asks for. */
export const CARD = { width: 1200, height: 630 };
const MARGIN = 72;
const CODE_PIXELS = 470;
const QUIET_ZONE = 4;
const TEXT_WIDTH = CARD.width - CODE_PIXELS - 3 * MARGIN + 24;
const MAX_TITLE_LINES = 3;
const BAND = 14;

/** What is written on it. Names may be in letters that are not drawn here; then they are left out. */
export interface CardParts {
  /** What the code says. */
  url: string;
  usd: string;
  title: string;
  shop: string;
  host: string;
}

/** A part of `letters.png`: cells in rows, each with a letter in white; its first pixel is how far it advances. */
interface Alphabet {
  top: number;
  cell: { width: number; height: number };
  columns: number;
  letters: string;
}

const characters = (from: number, to: number): string =>
  String.fromCharCode(...Array.from({ length: to - from }, (_, at) => from + at));
/** Where a letter begins in its cell. */
const BEARING = 6;
const big: Alphabet = {
  top: 0,
  cell: { width: 80, height: 128 },
  columns: 13,
  letters: '0123456789.,$',
};
const small: Alphabet = {
  top: 128,
  cell: { width: 48, height: 56 },
  columns: 21,
  letters: characters(0x20, 0x7f) + characters(0xa0, 0x100),
};

interface Grey {
  width: number;
  pixels: Buffer;
}

/** A grey PNG of 8 bits whose rows are not filtered, which is how ours was written. */
function readLetters(file: Buffer): Grey {
  const width = file.readUInt32BE(16);
  const at = file.indexOf('IDAT');
  const rows = inflateSync(file.subarray(at + 4, at + 4 + file.readUInt32BE(at - 4)));
  const height = rows.length / (width + 1);
  const pixels = Buffer.alloc(width * height);
  for (let y = 0; y < height; y++) rows.copy(pixels, y * width, y * (width + 1) + 1, (y + 1) * (width + 1));
  return { width, pixels };
}

let drawn: Grey | undefined;
/** Read when the first card is drawn: most starts draw none. */
const atlas = (): Grey => {
  drawn ??= readLetters(builtFile('letters.png'));
  return drawn;
};

/** Where a letter's cell is; null where the alphabet lacks it. */
function cellOf({ letters, columns, cell, top }: Alphabet, letter: string): number | null {
  const at = letters.indexOf(letter);
  if (at < 0) return null;
  const y = top + Math.floor(at / columns) * cell.height;
  return y * atlas().width + (at % columns) * cell.width;
}

/** In pixels; null where a letter is missing. */
function widthOf(alphabet: Alphabet, text: string): number | null {
  let width = 0;
  for (const letter of text) {
    const cell = cellOf(alphabet, letter);
    if (cell === null) return null;
    width += atlas().pixels[cell] ?? 0;
  }
  return width;
}

const rgb = (color: string): number[] => [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));

/** Three bytes a pixel. */
type Canvas = Buffer;

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

function fill(canvas: Canvas, { x, y, width, height }: Box, color: string): void {
  const row = Buffer.alloc(width * 3, Buffer.from(rgb(color)));
  for (let line = y; line < y + height; line++) row.copy(canvas, (line * CARD.width + x) * 3);
}

function write(
  canvas: Canvas,
  alphabet: Alphabet,
  { text, x, y, color }: { text: string; x: number; y: number; color: string },
): void {
  const ink = rgb(color);
  const { pixels, width } = atlas();
  let left = x;
  for (const letter of text) {
    const cell = cellOf(alphabet, letter);
    if (cell === null) continue;
    for (let row = 0; row < alphabet.cell.height; row++)
      for (let column = 0; column < alphabet.cell.width; column++) {
        const share = row + column === 0 ? 0 : (pixels[cell + row * width + column] ?? 0) / 255;
        const at = ((y + row) * CARD.width + left + column - BEARING) * 3;
        if (share === 0) continue;
        for (const [channel, value] of ink.entries()) {
          const under = canvas[at + channel] ?? 0;
          canvas[at + channel] = Math.round(under + (value - under) * share);
        }
      }
    left += pixels[cell] ?? 0;
  }
}

/** In lines that fit; what is too long ends with dots. Empty where a letter is missing. */
function wrapped(text: string, most: number): string[] {
  const fits = (line: string): boolean => (widthOf(small, line) ?? 0) <= TEXT_WIDTH;
  if (widthOf(small, text) === null) return [];
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const longer = lines.length === 0 ? word : `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && fits(longer)) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  const shown = lines.slice(0, most);
  return shown.map((line, at) => {
    let cut = line;
    const is_last = at === most - 1 && lines.length > most;
    while (cut !== '' && !fits(cut + (is_last || cut !== line ? '...' : ''))) cut = cut.slice(0, -1);
    return is_last || cut !== line ? `${cut}...` : cut;
  });
}

async function drawCode(canvas: Canvas, url: string): Promise<void> {
  const { default: library } = await rest.qrcode();
  const { size, data } = library.create(url, { errorCorrectionLevel: 'M' }).modules;
  const scale = Math.floor(CODE_PIXELS / (size + 2 * QUIET_ZONE));
  const side = scale * (size + 2 * QUIET_ZONE);
  const x = CARD.width - MARGIN - side;
  const y = Math.floor((CARD.height - side) / 2);
  fill(canvas, { x: x - 1, y: y - 1, width: side + 2, height: side + 2 }, palette.light.line);
  fill(canvas, { x, y, width: side, height: side }, '#ffffff');
  for (let row = 0; row < size; row++)
    for (let column = 0; column < size; column++)
      if (data[row * size + column]) {
        const [left, top] = [x + (column + QUIET_ZONE) * scale, y + (row + QUIET_ZONE) * scale];
        fill(canvas, { x: left, y: top, width: scale, height: scale }, '#000000');
      }
}

/** The card as a PNG. */
export async function drawCard({ url, usd, title, shop, host }: CardParts): Promise<Buffer> {
  const { ink, soft, card, accent } = palette.light;
  const canvas = Buffer.alloc(CARD.width * CARD.height * 3);
  fill(canvas, { x: 0, y: 0, ...CARD }, card);
  fill(canvas, { x: 0, y: 0, width: BAND, height: CARD.height }, accent);
  const line = small.cell.height;
  let y = MARGIN;
  for (const text of wrapped(shop, 1)) {
    write(canvas, small, { text, x: MARGIN, y, color: soft });
    y += line + 16;
  }
  for (const text of wrapped(title, MAX_TITLE_LINES)) {
    write(canvas, small, { text, x: MARGIN, y, color: ink });
    y += line;
  }
  const is_short = (widthOf(big, usd) ?? Number.POSITIVE_INFINITY) <= TEXT_WIDTH;
  const bottom = CARD.height - MARGIN;
  write(canvas, is_short ? big : small, { text: usd, x: MARGIN, y: bottom - line - 150, color: ink });
  for (const text of wrapped(host, 1))
    write(canvas, small, { text, x: MARGIN, y: bottom - line, color: soft });
  await drawCode(canvas, url);
  return writePng(canvas);
}

async function writePng(canvas: Canvas): Promise<Buffer> {
  const stride = CARD.width * 3;
  const rows = Buffer.alloc(CARD.height * (stride + 1));
  for (let y = 0; y < CARD.height; y++) canvas.copy(rows, y * (stride + 1) + 1, y * stride, (y + 1) * stride);
  return pngOf({ ...CARD, color: 'rgb', bits: 8 }, await promisify(deflate)(rows));
}
