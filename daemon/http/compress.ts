// Smaller bodies for callers that take them: gzip for what is made for each answer, brotli once for what never changes.
import { promisify } from 'node:util';
import { brotliCompress, constants, crc32, deflateRawSync, gzip, gzipSync } from 'node:zlib';
import type { Raw } from '../../src/api/describe/endpoint.ts';

/** A tenth smaller than the fastest level, for a third of a millisecond; pages are cached for a second. */
const LEVEL = 5;
/** Below this, headers weigh more than what is saved. */
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

/** A text that is put together with others: compressed once, whatever stands before and behind it. */
export interface Piece {
  text: Buffer;
  /** As blocks of deflate that others may follow. */
  packed: Buffer;
}

/** Below this a text is stored as it is: to begin compressing takes longer. */
const MIN_PIECE_BYTES = 500;
/** What one block holds that is stored as it is. */
const MAX_STORED_BYTES = 0xffff;

export function pieceOf(content: string, level = LEVEL): Piece {
  const text = Buffer.from(content);
  return { text, packed: text.byteLength < MIN_PIECE_BYTES ? storedBlock(text) : packed(text, level) };
}

/** A text that is put in once: never compressed. */
export function looseOf(content: string): Piece {
  const text = Buffer.from(content);
  return { text, packed: text.byteLength <= MAX_STORED_BYTES ? storedBlock(text) : packed(text, LEVEL) };
}

const packed = (text: Buffer, level: number): Buffer =>
  deflateRawSync(text, { level, finishFlush: constants.Z_SYNC_FLUSH });

/** RFC 1951, section 3.2.4: not the last block, its length, and the complement of that. */
function storedBlock(text: Buffer): Buffer {
  if (text.byteLength === 0) return text;
  const head = Buffer.alloc(5);
  head.writeUInt16LE(text.byteLength, 1);
  head.writeUInt16LE(~text.byteLength & MAX_STORED_BYTES, 3);
  return Buffer.concat([head, text]);
}

/** RFC 1952: deflate, no name, no time, a system that is not known. */
const GZIP_HEAD = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
/** A last block that is empty. */
const LAST_BLOCK = Buffer.from([1, 0, 0, 0xff, 0xff]);

/** The pieces in their order, gzipped where the caller takes it: without compressing anything again. */
export function together(
  pieces: readonly Piece[],
  request: Headers,
): Pick<Raw, 'headers'> & { body: Buffer } {
  if (!accepts(request, 'gzip')) return { body: Buffer.concat(pieces.map(({ text }) => text)), headers: {} };
  let sum = 0;
  let length = 0;
  for (const { text } of pieces) {
    sum = crc32(text, sum);
    length += text.byteLength;
  }
  const tail = Buffer.alloc(8);
  tail.writeUInt32LE(sum);
  tail.writeUInt32LE(length, 4);
  const body = Buffer.concat([GZIP_HEAD, ...pieces.map((piece) => piece.packed), LAST_BLOCK, tail]);
  return { body, headers: { 'content-encoding': 'gzip' } };
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
