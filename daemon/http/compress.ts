// Smaller bodies for callers that take them: gzip for what is made anew, brotli once for what never changes.
import { promisify } from 'node:util';
import { brotliCompress, constants, crc32, deflateRawSync, gzip, gzipSync } from 'node:zlib';
import type { Raw } from '../../src/api/describe/endpoint.ts';

/** A level that costs a fraction of the rendering and gives nearly all of the gain. */
const LEVEL = 3;
/** Of one UTF-16 unit: a character of four bytes has two. */
const MAX_UTF8_BYTES = 3;
/** 8 kB, about what is made anew of a page: clearing a larger window would take as long as the work in it. */
const WINDOW_BITS = 13;
/** Below this, headers weigh more than what is won. */
const MIN_BYTES = 1_000;

const gzipped = promisify(gzip);
const brotlied = promisify(brotliCompress);

/** Whether the caller accepts an encoding (RFC 9110, section 12.5.3). */
export function accepts(headers: Headers, encoding: 'gzip' | 'br'): boolean {
  return (headers.get('accept-encoding') ?? '').split(',').some((entry) => {
    const [name, ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
    return name === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

/** The reply, gzipped where the caller takes it; at once, because a page takes less time than handing it to a thread. */
export function compressed(raw: Raw & { body: string }, request: Headers): Raw {
  const headers = varying(raw.headers);
  if (raw.body.length < MIN_BYTES || !accepts(request, 'gzip')) return { ...raw, headers };
  return {
    ...raw,
    body: gzipSync(raw.body, { level: LEVEL }),
    headers: { ...headers, 'content-encoding': 'gzip' },
  };
}

/** What many texts begin with: encoded and compressed once. */
export interface Opening {
  bytes: Buffer;
  /** Whole blocks of a deflate stream that goes on. */
  deflated: Buffer;
  crc: number;
}

/** The opening that `text` is, as UTF-8; made once, at the best level. */
export function openingOf(text: string): Opening {
  const bytes = Buffer.from(text);
  const finishFlush = constants.Z_SYNC_FLUSH;
  return { bytes, deflated: deflateRawSync(bytes, { level: 9, finishFlush }), crc: crc32(bytes) };
}

/** Magic, method, no flags, no time, no extras, unknown system (RFC 1952, section 2.3.1). */
const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);

/** The reply that begins with `opening` and goes on with `raw.body`: one gzip member where the caller takes it. */
export function compressedAfter(opening: Opening, raw: Raw & { body: string }, request: Headers): Raw {
  const headers = varying(raw.headers);
  if (!accepts(request, 'gzip')) return { ...raw, headers, body: joined(opening.bytes, raw.body) };
  const rest = Buffer.from(raw.body);
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc32(rest, opening.crc), 0);
  trailer.writeUInt32LE(opening.bytes.length + rest.length, 4);
  const body = [
    GZIP_HEADER,
    opening.deflated,
    deflateRawSync(rest, { level: LEVEL, windowBits: WINDOW_BITS }),
    trailer,
  ];
  return { ...raw, headers: { ...headers, 'content-encoding': 'gzip' }, body: Buffer.concat(body) };
}

/** Bytes and then a text, written straight behind them. */
function joined(bytes: Buffer, text: string): Buffer {
  const whole = Buffer.allocUnsafe(bytes.length + text.length * MAX_UTF8_BYTES);
  bytes.copy(whole);
  return whole.subarray(0, bytes.length + whole.write(text, bytes.length));
}

/** A text that is the same in every answer: each encoding is made once, as small as it gets. */
export function compressedOnce(text: string): (request: Headers) => Promise<Pick<Raw, 'body' | 'headers'>> {
  const made = new Map<'gzip' | 'br', Promise<Buffer>>();
  const make = { gzip: () => gzipped(text, { level: 9 }), br: () => brotlied(text) };
  return async (request) => {
    const encoding = (['br', 'gzip'] as const).find((one) => accepts(request, one));
    if (encoding === undefined) return { body: text, headers: varying({}) };
    const body = made.get(encoding) ?? make[encoding]();
    made.set(encoding, body);
    return { body: await body, headers: varying({ 'content-encoding': encoding }) };
  };
}

const varying = (headers: Record<string, string> = {}): Record<string, string> => ({
  vary: 'accept-encoding',
  ...headers,
});
