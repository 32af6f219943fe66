// Smaller bodies for callers that take them: gzip for what is made for each answer, brotli once for what never changes.
import { promisify } from 'node:util';
import { brotliCompress, gzip, gzipSync } from 'node:zlib';
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
