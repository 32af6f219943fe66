// Reads a PNG of 8 bits per channel, or of one bit, into pixels, and QR codes out of them.
import { inflateSync } from 'node:zlib';
import jsqr from 'jsqr';

export interface Pixels {
  width: number;
  height: number;
  /** RGBA, row by row. */
  data: Uint8ClampedArray;
}

const CHANNELS: Record<number, number> = { 0: 1, 2: 3, 6: 4 };

/** The pixels of a grey, RGB or RGBA picture that is not interlaced: what browsers and `qrcode` write. */
export function readPng(file: Buffer): Pixels {
  const width = file.readUInt32BE(16);
  const height = file.readUInt32BE(20);
  const channels = CHANNELS[file[25] ?? -1];
  const bits = file[24] ?? 0;
  if (channels === undefined || !(bits === 8 || (bits === 1 && channels === 1)) || file[28] !== 0)
    throw new Error('a kind of PNG not read here');
  const parts: Buffer[] = [];
  for (let at = 8; at < file.length; at += 12 + file.readUInt32BE(at))
    if (file.toString('latin1', at + 4, at + 8) === 'IDAT')
      parts.push(file.subarray(at + 8, at + 8 + file.readUInt32BE(at)));
  const stride = Math.ceil((width * channels * bits) / 8);
  const packed = unfilter(inflateSync(Buffer.concat(parts)), stride, height, channels);
  const rows = bits === 8 ? packed : spread(packed, { width, height, stride });
  const data = new Uint8ClampedArray(width * height * 4).fill(255);
  for (let pixel = 0; pixel < width * height; pixel++)
    for (let channel = 0; channel < 4; channel++) {
      const from = channels === 1 ? 0 : channel;
      if (channel < 3 || channels === 4) data[pixel * 4 + channel] = rows[pixel * channels + from] ?? 255;
    }
  return { width, height, data };
}

/** One byte for each bit. */
function spread(
  packed: Uint8Array,
  { width, height, stride }: { width: number; height: number; stride: number },
): Uint8Array {
  const rows = new Uint8Array(width * height);
  for (let at = 0; at < rows.length; at++) {
    const [x, y] = [at % width, Math.floor(at / width)];
    rows[at] = ((packed[y * stride + (x >> 3)] ?? 0) >> (7 - (x & 7))) & 1 ? 255 : 0;
  }
  return rows;
}

/** Undoes the filter of each row (PNG, section 9). */
function unfilter(packed: Buffer, stride: number, height: number, step: number): Uint8Array {
  const rows = new Uint8Array(stride * height);
  for (let y = 0; y < height; y++) {
    const kind = packed[y * (stride + 1)];
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x;
      const left = x < step ? 0 : (rows[at - step] ?? 0);
      const up = y === 0 ? 0 : (rows[at - stride] ?? 0);
      const corner = x < step || y === 0 ? 0 : (rows[at - stride - step] ?? 0);
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][kind ?? 0] ?? 0;
      rows[at] = ((packed[y * (stride + 1) + 1 + x] ?? 0) + guess) & 255;
    }
  }
  return rows;
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}

/** What the QR code in a PNG says; null where none is found. */
export function readQr(file: Buffer): string | null {
  const { data, width, height } = readPng(file);
  return jsqr.default(data, width, height)?.data ?? null;
}
