// What a request carries in vain: names of query and body that its endpoint does not know.
import type { z } from 'zod';
import { looksSecret } from '../../secret-text.ts';
import type { Endpoint } from '../describe/endpoint.ts';
import type { Sent } from './validation.ts';

/** The header that names them. */
export const IGNORED_HEADER = 'x-ignored-fields';
const MAX_NAMES = 20;
/** As written in the header. */
const MAX_NAME = 64;
/** Deeper nesting is no request of ours. */
const MAX_DEPTH = 8;
const SAFE = /[\w.-]/;

type Names = Set<string>;

/** What stands behind alternatives with null, defaults and conversions. */
function essence(schema: z.ZodType): z.ZodType {
  const def = schema._zod.def as { innerType?: z.ZodType; in?: z.ZodType };
  const inner = def.innerType ?? def.in;
  return inner ? essence(inner) : schema;
}

function collect(schema: z.ZodType, value: unknown, place: readonly string[], found: Names): void {
  if (typeof value !== 'object' || value === null || place.length > MAX_DEPTH) return;
  const known = essence(schema);
  if (Array.isArray(value)) {
    const { element } = known._zod.def as { element?: z.ZodType };
    if (element) for (const each of value) collect(element, each, place, found);
    return;
  }
  if (!('shape' in known)) return;
  const shape = known.shape as Record<string, z.ZodType>;
  for (const [name, member] of Object.entries(value)) {
    const field = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (field) collect(field, member, [...place, name], found);
    else note([...place, name], found);
  }
}

function note(path: readonly string[], found: Names): void {
  // A name that looks like a key is one that was pasted in the wrong place.
  if (found.size < MAX_NAMES && !path.some(looksSecret)) found.add(headerSafe(path.join('.')));
}

/** Letters, digits and `_.-` as they are, each other byte of UTF-8 as `%20`. */
function headerSafe(name: string): string {
  let safe = '';
  for (const byte of new TextEncoder().encode(name.slice(0, MAX_NAME))) {
    const character = String.fromCharCode(byte);
    const next = SAFE.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    if (safe.length + next.length > MAX_NAME) break;
    safe += next;
  }
  return safe;
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value of the header, nested names with dots; undefined where everything that was sent is known. */
export function ignoredFields(endpoint: Endpoint, { query = {}, body }: Sent): string | undefined {
  const found: Names = new Set();
  for (const name in query)
    if (!(endpoint.query && Object.hasOwn(endpoint.query, name)) && !isCredential(endpoint, name))
      note([name], found);
  if (endpoint.body) collect(endpoint.body, body, [], found);
  else if (isObject(body)) for (const name of Object.keys(body)) note([name], found);
  return found.size > 0 ? [...found].join(', ') : undefined;
}

/** A key may stand in the query. */
const isCredential = ({ auth }: Endpoint, name: string): boolean => auth === 'key' && name === 'api_key';
