// QR codes: the stored payload of an invoice as SVG and as PNG. The library is loaded for the first of them.
import { rest } from '../process/rest.ts';

/** Modules of white around the code, as ISO 18004 asks. */
const QUIET_ZONE = 4;
const PNG_PIXELS = 392;
const CORRECTION = 'M';
/** The code as one SVG element, dark on white, quiet zone included. */
export async function drawQrSvg(payload: string): Promise<string> {
  const options = { type: 'svg', margin: QUIET_ZONE, errorCorrectionLevel: CORRECTION } as const;
  const { default: library } = await rest.qrcode();
  return (await library.toString(payload, options)).trim();
}

/** The same code as a PNG of exactly 392 × 392 pixels: as many whole pixels for each module as fit, the rest is margin. */
export async function drawQrPng(payload: string): Promise<Buffer> {
  const { default: library } = await rest.qrcode();
  const { size } = library.create(payload, { errorCorrectionLevel: CORRECTION }).modules;
  const scale = Math.floor(PNG_PIXELS / (size + 2 * QUIET_ZONE));
  // The library rounds the picture's size down: a quarter of a pixel more keeps 392 from becoming 391.
  const margin = ((PNG_PIXELS + 0.25) / scale - size) / 2;
  return library.toBuffer(payload, { type: 'png', scale, margin, errorCorrectionLevel: CORRECTION });
}
