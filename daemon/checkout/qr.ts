// QR codes: the stored payload of an invoice as SVG and as PNG. The library is loaded for the first of them.
import { deflateSync } from 'node:zlib';
import { rest } from '../process/rest.ts';
import { pngOf } from './png.ts';

/** Modules of white around the code, as ISO 18004 asks. */
const QUIET_ZONE = 4;
const PNG_PIXELS = 392;
const CORRECTION = 'M';
const WHITE = 0xff;

/** The code as one SVG element, dark on white, quiet zone included. */
export async function drawQrSvg(payload: string): Promise<string> {
  const options = { type: 'svg', margin: QUIET_ZONE, errorCorrectionLevel: CORRECTION } as const;
  const { default: library } = await rest.qrcode();
  return (await library.toString(payload, options)).trim();
}

/** The same code as a PNG of exactly 392 × 392 pixels of one bit: as many whole pixels for each module as fit, the rest is margin. */
export async function drawQrPng(payload: string): Promise<Buffer> {
  const { default: library } = await rest.qrcode();
  const { size, data } = library.create(payload, { errorCorrectionLevel: CORRECTION }).modules;
  const scale = Math.floor(PNG_PIXELS / (size + 2 * QUIET_ZONE));
  const margin = Math.floor((PNG_PIXELS - scale * size) / 2);
  const stride = 1 + PNG_PIXELS / 8;
  const rows = Buffer.alloc(stride * PNG_PIXELS, WHITE);
  for (let y = 0; y < PNG_PIXELS; y++) rows[y * stride] = 0;
  for (let row = 0; row < size; row++) {
    const first = (margin + row * scale) * stride;
    for (let column = 0; column < size; column++) {
      if (!data[row * size + column]) continue;
      const left = margin + column * scale;
      for (let x = left; x < left + scale; x++) {
        const at = first + 1 + (x >> 3);
        rows[at] = (rows[at] ?? WHITE) & ~(0x80 >> (x & 7));
      }
    }
    for (let line = 1; line < scale; line++) rows.copy(rows, first + line * stride, first, first + stride);
  }
  const head = { width: PNG_PIXELS, height: PNG_PIXELS, color: 'grey', bits: 1 } as const;
  return pngOf(head, deflateSync(rows));
}
