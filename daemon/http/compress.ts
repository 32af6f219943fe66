// Smaller bodies for callers that take them: gzip for what is made anew, brotli once for what never changes.
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import type { Raw } from '../../src/api/endpoint.ts';

/** A level that costs a fraction of the rendering and gives nearly all of the gain. */
const LEVEL = 3;
/** Below this, headers weigh more than what is won. */
const MIN_BYTES = 1_000;

const gzipped = promisify(gzip);
const brotlied = promisify(brotliCompress);

/** Whether the caller accepts an encoding (RFC 9110, section 12.5.3). */
function accepts(headers: Headers, encoding: 'gzip' | 'br'): boolean {
  return (headers.get('accept-encoding') ?? '').split(',').some((entry) => {
    const [name, ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
    return name === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

/** The reply, gzipped where the caller takes it. The work is done off the event loop. */
export async function compressed(raw: Raw & { body: string }, request: Headers): Promise<Raw> {
  const headers = varying(raw.headers);
  if (raw.body.length < MIN_BYTES || !accepts(request, 'gzip')) return { ...raw, headers };
  return {
    ...raw,
    body: await gzipped(raw.body, { level: LEVEL }),
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
