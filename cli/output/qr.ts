// QR codes of half blocks, light on dark by their own colours, so that they scan in either colour scheme.
import type { Io } from './io.ts';

/** Lines of a QR code, two modules high each; a full block is a light cell. */
export async function qrLines(text: string): Promise<string[]> {
  const { default: qrcode } = await import('qrcode-terminal');
  const drawn = await new Promise<string>((resolve) => qrcode.generate(text, { small: true }, resolve));
  return drawn.split('\n').filter((line) => line !== '');
}

/** White on black whatever the terminal's own colours are; plain where colours are not wanted. */
export const tint = (io: Pick<Io, 'color'>, line: string): string =>
  io.color ? `\u001b[97;40m${line}\u001b[0m` : line;

/** Rows of a terminal that a prompt and a sentence need besides. */
const SPARE_ROWS = 2;

/**
 * The code of `payload`, or where that is too tall for `rows`, of `page_url`, which is shorter and leads to it.
 * `lines` is empty where neither fits.
 */
export async function fittingQr(
  { payload, page_url }: { payload: string; page_url: string },
  { columns, rows }: { columns: number; rows: number },
): Promise<{ lines: string[]; encodes: 'payload' | 'page' | 'none' }> {
  for (const [encodes, text] of [
    ['payload', payload],
    ['page', page_url],
  ] as const) {
    const lines = await qrLines(text);
    if (lines.length + SPARE_ROWS <= rows && (lines[0]?.length ?? 0) <= columns) return { lines, encodes };
  }
  return { lines: [], encodes: 'none' };
}
