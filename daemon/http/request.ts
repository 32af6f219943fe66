// Reads what a caller sent: id, address and body, each within its limit.
import type { IncomingMessage } from 'node:http';
import { jsonInvalid, type ValidationError } from '../../src/api/read/validation.ts';
import { decodeText, UnreadableText } from '../../src/clean.ts';
import { Refusal } from '../../src/errors.ts';

export const MAX_BODY_BYTES = 256 * 1024;
/** Of bodies of one address that are not answered yet: a slow line has one, who holds thousands wants the memory. */
const MAX_HELD_BYTES = 8 * 1024 * 1024;
const RETRY_SECONDS = 1;
const MAX_MULTIPART_FIELDS = 50;
const SANE_REQUEST_ID = /^[A-Za-z0-9._:-]{1,64}$/;

/** The caller's own id where it is harmless to repeat, a new one otherwise. */
export function requestId(headers: Pick<Headers, 'get'>, { uuid }: { uuid(): string }): string {
  const given = headers.get('x-request-id');
  return given && SANE_REQUEST_ID.test(given) ? given : uuid();
}

/** A body that is no JSON or no form: answered with 422 before anything else is checked. */
export class MalformedBody extends Error {
  override name = 'MalformedBody';
  readonly detail: ValidationError;
  constructor(detail: ValidationError) {
    super(detail.msg);
    this.detail = detail;
  }
}

const unreadable = (why = ''): MalformedBody =>
  new MalformedBody({ type: 'value_error', loc: ['body'], msg: `There was an error parsing the body${why}` });

/** What one call holds of its address's share of bodies: they count while they come, and while they wait to be answered. */
export interface Held {
  /** Whether it may hold so many bytes more. */
  take(bytes: number): boolean;
  /** Gives back all that was taken. */
  end(): void;
}

/** Who is exempt holds as much as it likes, and is counted all the same. */
export function openHeld(): (caller: string, is_exempt: boolean) => Held {
  const held = new Map<string, number>();
  const add = (caller: string, bytes: number) => {
    const sum = (held.get(caller) ?? 0) + bytes;
    if (sum > 0) held.set(caller, sum);
    else held.delete(caller);
  };
  return (caller, is_exempt) => {
    let own = 0;
    return {
      take(bytes) {
        if ((held.get(caller) ?? 0) + bytes > MAX_HELD_BYTES && !is_exempt) return false;
        add(caller, bytes);
        own += bytes;
        return true;
      },
      end() {
        if (own > 0) add(caller, -own);
        own = 0;
      },
    };
  };
}

/**
 * The body's text, which is UTF-8, without a byte-order mark; throws `body_too_large`, also where the length was not announced,
 * and `rate_limited` where its address holds too much already. `node` is the request behind it.
 */
export async function readText(
  request: Request,
  node: IncomingMessage | undefined,
  held: Held,
): Promise<string> {
  const bytes = await (node ? readNode(node, held) : readWeb(request));
  try {
    return decodeText(bytes);
  } catch (error) {
    // Decoded all the same, what is given back would not be what was sent.
    throw error instanceof UnreadableText && error.is_wide
      ? unreadable(': it is in UTF-16, and must be in UTF-8')
      : unreadable();
  }
}

function readNode(request: IncomingMessage, held: Held): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const refuse = (refusal: Refusal) => {
      // The rest flows past, so that the refusal arrives and the connection stays usable; the request's timeout bounds it.
      request.removeAllListeners('data').resume();
      chunks.length = 0;
      reject(refusal);
    };
    request.on('data', (chunk: Buffer) => {
      size += chunk.byteLength;
      if (size > MAX_BODY_BYTES) return refuse(new Refusal('body_too_large'));
      if (!held.take(chunk.byteLength))
        return refuse(new Refusal('rate_limited', { retry_after: RETRY_SECONDS }));
      chunks.push(chunk);
    });
    const gone = () => reject(new Error('the caller went away'));
    request.once('end', () => {
      request.off('close', gone);
      resolve(Buffer.concat(chunks));
    });
    request.once('error', reject);
    if (request.destroyed) gone();
    else request.once('close', gone);
  });
}

async function readWeb(request: Request): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_BODY_BYTES) throw new Refusal('body_too_large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * The JSON value of a body; undefined for an empty one. Throws MalformedBody. Under another content type than
 * JSON (what `curl -d` sends), text that is no JSON is handed on as text, for the validation to refuse.
 */
export function parseJson(text: string, type: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    if (type === '' || /^application\/(?:[\w.+-]+\+)?json\b/i.test(type))
      throw new MalformedBody(jsonInvalid(text));
    return text;
  }
}

/** The fields of a form; of a repeated one, the last. */
export async function parseForm(text: string, type: string): Promise<Record<string, string>> {
  if (!type.toLowerCase().startsWith('multipart/form-data')) return lastValues(new URLSearchParams(text));
  const form = await new Response(text, { headers: { 'content-type': type } }).formData().catch(() => {
    throw unreadable();
  });
  const fields = [...form.entries()].slice(0, MAX_MULTIPART_FIELDS);
  return lastValues(fields.filter((field): field is [string, string] => typeof field[1] === 'string'));
}

/** Names to values without a prototype, so that no name is special; of repeated names, the last value. */
export function lastValues(pairs: Iterable<[string, string]>): Record<string, string> {
  const values: Record<string, string> = Object.create(null);
  for (const [name, value] of pairs) values[name] = value;
  return values;
}

/** Whether it has two Host headers, of which a proxy may read one and this daemon the other (RFC 9112 §3.2). */
export function namesTwoHosts(req: Pick<IncomingMessage, 'rawHeaders'> | undefined): boolean {
  let hosts = 0;
  const names = req?.rawHeaders ?? [];
  for (let at = 0; at < names.length; at += 2) if (names[at]?.toLowerCase() === 'host') hosts++;
  return hosts > 1;
}
