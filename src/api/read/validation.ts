// Reads a request by its description: the parsed input, or every error at once in FastAPI's form.
import type { z } from 'zod';
import { looksSecret } from '../../secret-text.ts';
import type { Endpoint, Fields, InputOf } from '../describe/endpoint.ts';
import { secretNames } from '../describe/fields.ts';
import { findJsonError } from './json-error.ts';

/** One entry of a 422 body. */
export interface ValidationError {
  type: string;
  loc: (string | number)[];
  msg: string;
  /** What was sent; left out for secrets. */
  input?: unknown;
  ctx?: Record<string, unknown>;
}

/** A request as it arrived: texts of path and query, and the JSON value or the form's fields. */
export interface Sent {
  params?: Readonly<Record<string, unknown>>;
  query?: Readonly<Record<string, unknown>>;
  /** Undefined where nothing was sent; a text where it is not JSON by its content type. */
  body?: unknown;
}

export type ParsedInput<E extends Endpoint> =
  | { ok: true; value: InputOf<E> }
  | { ok: false; detail: ValidationError[] };

/** An echoed value is cut at this many characters. */
const MAX_INPUT = 1024;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a value is itself what no one is shown: not by the name of its field, which may be any. */
const isSecret = (value: unknown): boolean => typeof value === 'string' && looksSecret(value);

/**
 * A copy for the answer: left out are members with secret names, and those whose name or value looks like a secret; long
 * values are cut as text. Undefined where none can be made.
 */
function shown(value: unknown): unknown {
  try {
    const json: string | undefined = JSON.stringify(value ?? null, (name, member) =>
      secretNames.has(name) || isSecret(member) || looksSecret(name) ? undefined : member,
    );
    if (json === undefined) return undefined;
    if (json.length <= MAX_INPUT) return JSON.parse(json);
    const long = typeof value === 'string' ? value : json;
    return long.slice(0, MAX_INPUT).replace(/[\uD800-\uDBFF]$/, '');
  } catch (error) {
    // JSON.parse reads deeper nesting than JSON.stringify can write.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The value that an issue's path leads to. */
const valueAt = (root: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined,
    root,
  );

type Message = Pick<ValidationError, 'type' | 'msg' | 'ctx'>;

const items = (count: number): string => `${count} item${count === 1 ? '' : 's'}`;

/** What pydantic says of a list that is too short or too long. */
function lengthMessage(issue: z.core.$ZodIssue, value: unknown): Message | null {
  if (!Array.isArray(value)) return null;
  const actual_length = value.length;
  if (issue.code === 'too_small')
    return {
      type: 'too_short',
      msg: `List should have at least ${items(Number(issue.minimum))} after validation, not ${actual_length}`,
      ctx: { field_type: 'List', min_length: Number(issue.minimum), actual_length },
    };
  if (issue.code === 'too_big')
    return {
      type: 'too_long',
      msg: `List should have at most ${items(Number(issue.maximum))} after validation, not ${actual_length}`,
      ctx: { field_type: 'List', max_length: Number(issue.maximum), actual_length },
    };
  return null;
}

/** Type, message and context of an issue: the field's own words, or those for lists and objects. */
function messageOf(issue: z.core.$ZodIssue, value: unknown): Message {
  if (value === undefined) return { type: 'missing', msg: 'Field required' };
  if (issue.code === 'custom' && typeof issue.params?.type === 'string')
    return {
      type: issue.params.type,
      msg: issue.message,
      ...(issue.params.ctx ? { ctx: issue.params.ctx } : {}),
    };
  if (issue.code === 'invalid_type' && issue.expected === 'array')
    return { type: 'list_type', msg: 'Input should be a valid list' };
  if (issue.code === 'invalid_type' && issue.expected === 'object')
    return {
      type: 'model_attributes_type',
      msg: 'Input should be a valid dictionary or object to extract fields from',
    };
  return lengthMessage(issue, value) ?? { type: 'value_error', msg: issue.message };
}

/** Whether a body that is not an object could hold a secret all the same. */
const takesSecrets = (schema: z.ZodType): boolean =>
  'shape' in schema &&
  isObject(schema.shape) &&
  Object.keys(schema.shape).some((name) => secretNames.has(name));

function explain(
  issues: readonly z.core.$ZodIssue[],
  start: readonly (string | number)[],
  root: unknown,
  hidden = false,
): ValidationError[] {
  return issues.map((issue) => {
    const path = issue.path.map((key) => (typeof key === 'number' ? key : String(key)));
    const loc = [...start, ...path];
    const value = valueAt(root, issue.path);
    const { type, msg, ctx } = messageOf(issue, value);
    const secret = hidden || loc.some((part) => secretNames.has(String(part)));
    // Of a missing member pydantic shows the object that lacks it.
    const input = value === undefined && path.length > 0 ? valueAt(root, issue.path.slice(0, -1)) : value;
    return { type, loc, msg, ...(secret ? {} : { input: shown(input) }), ...(ctx ? { ctx } : {}) };
  });
}

function readFields(
  fields: Fields | undefined,
  sent: Readonly<Record<string, unknown>>,
  place: 'path' | 'query',
): { value: Record<string, unknown>; detail: ValidationError[] } {
  const value: Record<string, unknown> = {};
  const detail: ValidationError[] = [];
  for (const [name, field] of Object.entries(fields ?? {})) {
    const raw = Object.hasOwn(sent, name) ? sent[name] : undefined;
    const result = field.safeParse(raw);
    if (result.success) value[name] = result.data;
    else detail.push(...explain(result.error.issues, [place, name], raw));
  }
  return { value, detail };
}

/** A form's empty fields count as absent, and an empty form is a form. */
const readForm = (body: unknown): Record<string, unknown> =>
  Object.fromEntries(Object.entries(isObject(body) ? body : {}).filter(([, value]) => value !== ''));

function readBody(endpoint: Endpoint, sent: unknown): { value: unknown; detail: ValidationError[] } {
  if (!endpoint.body) return { value: undefined, detail: [] };
  const form = endpoint.encoding === 'form';
  const body = form ? readForm(sent) : (sent ?? undefined);
  const result = endpoint.body.safeParse(body);
  if (result.success) return { value: result.data, detail: [] };
  const hidden = body !== undefined && !isObject(body) && takesSecrets(endpoint.body);
  const detail = explain(result.error.issues, ['body'], body, hidden);
  if (form) for (const error of detail) if (error.type === 'missing') error.input = null;
  return { value: undefined, detail };
}

/** Validates path, query and body; all errors at once, in that order. Unknown members are ignored. */
export function parseInput<E extends Endpoint>(endpoint: E, sent: Sent): ParsedInput<E> {
  const params = readFields(endpoint.params, sent.params ?? {}, 'path');
  const query = readFields(endpoint.query, sent.query ?? {}, 'query');
  const body = readBody(endpoint, sent.body);
  const detail = [...params.detail, ...query.detail, ...body.detail];
  if (detail.length > 0) return { ok: false, detail };
  const value = { params: params.value, query: query.value, body: body.value };
  // Each part was read by the schema that InputOf is inferred from.
  return { ok: true, value: value as InputOf<E> };
}

/** The 422 entry for a body that JSON.parse refused. */
export function jsonInvalid(text: string): ValidationError {
  const { position, error } = findJsonError(text) ?? { position: 0, error: 'Expecting value' };
  return {
    type: 'json_invalid',
    loc: ['body', position],
    msg: 'JSON decode error',
    input: {},
    ctx: { error },
  };
}
