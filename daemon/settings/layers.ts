// From a zod schema to named settings: what each is called in file, environment and flags, and how the layers merge.

import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { cleanText, decodeText, UnreadableText, withoutLineEnd } from '../../src/clean.ts';
import { nearest } from '../../src/nearest.ts';

const ENV_PREFIX = 'GATEWAYD_';
/** Behind the variable of a secret: the file that has it, as containers are handed secrets. */
const FILE = '_FILE';
/** No setting: where `gatewayd move` leads, with a password that other users would see on a command line. */
export const MOVE_TO = 'GATEWAYD_MOVE_TO';
/** Text that a shell or a file may write for a boolean. */
const BOOLEANS: Readonly<Record<string, boolean>> = {
  true: true,
  '1': true,
  yes: true,
  on: true,
  false: false,
  '0': false,
  no: false,
  off: false,
};

/** One setting. */
export interface Leaf {
  /** Dotted path: `admin.email`. */
  name: string;
  path: readonly string[];
  /** `GATEWAYD_ADMIN_EMAIL` */
  env: string;
  /** `--admin-email` */
  flag: string;
  kind: 'text' | 'number' | 'boolean' | 'list';
  choices?: readonly string[];
  help: string;
  default?: unknown;
  /** Never shown: wholly, or only what lets in within a URL. */
  secret: false | 'whole' | 'password';
}

export interface Origin {
  kind: 'file' | 'env' | 'flag';
  /** The file's name, the variable or the flag. */
  label: string;
}

/** Values given in one place, nested as in the file. */
export interface Layer {
  value: Record<string, unknown>;
  origins: Map<string, Origin>;
  /** Secrets to the letter, by name. */
  written: Map<string, string>;
}

const emptyLayer = (): Layer => ({ value: {}, origins: new Map(), written: new Map() });

type Source =
  | { kind: 'file'; name: string; text: string | undefined }
  | { kind: 'env'; env: Readonly<Record<string, string | undefined>> }
  | { kind: 'flag'; flags: Readonly<Record<string, string | boolean>> };

/** The settings of a schema made of objects, scalars and lists of text, in its order. */
export function leavesOf(schema: z.ZodType, path: readonly string[] = []): Leaf[] {
  const { inner, help, meta, value } = unwrap(schema);
  if (inner instanceof z.ZodObject)
    return Object.entries(inner.shape as Record<string, z.ZodType>).flatMap(([name, member]) =>
      leavesOf(member, [...path, name]),
    );
  const kebab = path.join('-').replaceAll('_', '-');
  return [
    {
      name: path.join('.'),
      path,
      env: ENV_PREFIX + kebab.replaceAll('-', '_').toUpperCase(),
      flag: `--${kebab.toLowerCase()}`,
      kind: (meta.kind as Leaf['kind'] | undefined) ?? kindOf(inner),
      ...(inner instanceof z.ZodEnum ? { choices: inner.options.map(String) } : {}),
      help: help ?? '',
      ...(value === undefined ? {} : { default: value }),
      secret: meta.secret ? 'whole' : meta.secret_url ? 'password' : false,
    },
  ];
}

function kindOf(schema: z.ZodType): Leaf['kind'] {
  if (schema instanceof z.ZodNumber) return 'number';
  if (schema instanceof z.ZodBoolean) return 'boolean';
  return schema instanceof z.ZodArray ? 'list' : 'text';
}

interface Unwrapped {
  inner: z.ZodType;
  help: string | undefined;
  meta: Record<string, unknown>;
  value: unknown;
}

/** The scalar or object within optional, default and pipe, with what was declared at any of these layers. */
function unwrap(schema: z.ZodType): Unwrapped {
  const { description, ...meta } = schema.meta() ?? {};
  let next: z.ZodType | undefined;
  let value: unknown;
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    next = schema.unwrap() as z.ZodType;
    value = schema.def.defaultValue;
  } else if (schema instanceof z.ZodOptional) next = schema.unwrap() as z.ZodType;
  else if (schema instanceof z.ZodPipe) next = schema.in as z.ZodType;
  if (!next) return { inner: schema, help: description, meta, value };
  const within = unwrap(next);
  return {
    inner: within.inner,
    help: description ?? within.help,
    meta: { ...within.meta, ...meta },
    value: value ?? within.value,
  };
}

/** What one place says; names it does not know are errors (in a file, the schema finds them). */
export function readLayer(leaves: readonly Leaf[], source: Source, errors: string[]): Layer {
  if (source.kind === 'file') return readFileLayer(leaves, source, errors);
  const layer = emptyLayer();
  const given = source.kind === 'env' ? fromEnvironment(leaves, source.env, errors) : source.flags;
  for (const leaf of leaves) {
    const value = given[leaf.name];
    if (value === undefined) continue;
    put(layer.value, leaf.path, typeof value === 'string' ? typed(leaf, cleaned(leaf.name, value)) : value);
    if (SECRETS.includes(leaf.name) && typeof value === 'string') layer.written.set(leaf.name, value);
    const label = source.kind === 'env' ? leaf.env : leaf.flag;
    layer.origins.set(leaf.name, { kind: source.kind, label });
  }
  return layer;
}

/** Keys and hashes are made of their characters, the unseen ones too. */
const VERBATIM: readonly string[] = ['secret', 'previous_secret', 'admin.password'];

const cleaned = (name: string, text: string): string =>
  VERBATIM.includes(name) ? withoutLineEnd(text) : cleanText(text);

/** The secrets whose databases may have been made with the line end that stood behind them. */
const SECRETS: readonly string[] = ['secret', 'previous_secret'];

/** All texts of a file, cleaned. */
function cleanedWithin(value: unknown, name: string): unknown {
  if (typeof value === 'string') return cleaned(name, value);
  if (Array.isArray(value)) return value.map((each) => cleanedWithin(each, name));
  if (!isObject(value)) return value;
  const within = ([key, each]: [string, unknown]): [string, unknown] => [
    key,
    cleanedWithin(each, name === '' ? key : `${name}.${key}`),
  ];
  return Object.fromEntries(Object.entries(value).map(within));
}

function readFileLayer(
  leaves: readonly Leaf[],
  { name, text }: { name: string; text: string | undefined },
  errors: string[],
): Layer {
  const layer = emptyLayer();
  if (text === undefined) return layer;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    errors.push(`${name} is not JSON: ${(error as Error).message}`);
    return layer;
  }
  if (!isObject(parsed)) {
    errors.push(`${name} must hold one JSON object`);
    return layer;
  }
  const { $schema: _, ...stated } = parsed;
  const value = cleanedWithin(stated, '') as Record<string, unknown>;
  layer.value = value;
  for (const each of SECRETS) if (typeof stated[each] === 'string') layer.written.set(each, stated[each]);
  for (const leaf of leaves)
    if (valueAt(value, leaf.path) !== undefined) layer.origins.set(leaf.name, { kind: 'file', label: name });
  return layer;
}

const PORT_NUMBER = /^\d{1,5}$/;
const LINK_URL = /^(?:tcp|udp|sctp):\/\//;
/** What Kubernetes sets for a Service whose name begins with “gatewayd”, and what its value looks like. */
const SERVICE_LINKS: readonly [name: RegExp, value: RegExp][] = [
  [/^GATEWAYD_(?:[A-Z0-9_]+_)?SERVICE_HOST$/, /^[0-9a-fA-F.:]+$/],
  [/^GATEWAYD_(?:[A-Z0-9_]+_)?SERVICE_PORT(?:_[A-Z0-9_]+)?$/, PORT_NUMBER],
  [/^GATEWAYD_(?:[A-Z0-9_]+_)?PORT$/, LINK_URL],
  [/^GATEWAYD_(?:[A-Z0-9_]+_)?PORT_\d+_(?:TCP|UDP|SCTP)$/, LINK_URL],
  [/^GATEWAYD_(?:[A-Z0-9_]+_)?PORT_\d+_(?:TCP|UDP|SCTP)_(?:PROTO|PORT|ADDR)$/, /^[0-9a-zA-Z.:]+$/],
];

/** Whether a variable is no setting but one of those, in which containers find the services of their namespace. */
export const isServiceLink = (variable: string, text: string): boolean =>
  SERVICE_LINKS.some(([name, value]) => name.test(variable) && value.test(cleanText(text)));

/** Set variables by setting; an empty one counts as not set. */
function fromEnvironment(
  leaves: readonly Leaf[],
  env: Readonly<Record<string, string | undefined>>,
  errors: string[],
): Record<string, string> {
  const names = new Map(leaves.map((leaf) => [leaf.env, leaf.name]));
  const files = new Map(
    leaves.filter(({ secret }) => secret !== false).map((leaf) => [`${leaf.env}${FILE}`, leaf]),
  );
  const given: Record<string, string> = {};
  for (const [variable, text] of Object.entries(env)) {
    if (!variable.startsWith(ENV_PREFIX) || !text || cleanText(text) === '') continue;
    if (variable === MOVE_TO || isServiceLink(variable, text)) continue;
    const name = names.get(variable);
    const within = files.get(variable);
    if (name) given[name] = text;
    else if (within && env[within.env]) errors.push(`${within.env} and ${variable} are both set: remove one`);
    else if (within) given[within.name] = fromFile(variable, text, errors);
    else
      errors.push(
        `unknown environment variable ${variable}: did you mean ${nearest(variable, names.keys())}?`,
      );
  }
  return given;
}

function fromFile(variable: string, file: string, errors: string[]): string {
  try {
    return decodeText(readFileSync(file));
  } catch (error) {
    const why = error instanceof UnreadableText ? `it ${error.message}` : (error as Error).message;
    errors.push(`${variable}: the file ${file} cannot be read: ${why}`);
    return '';
  }
}

/** Later layers win, setting by setting. */
export function mergeLayers(layers: readonly Layer[]): Layer {
  const merged = emptyLayer();
  for (const layer of layers) {
    merged.value = merge(merged.value, layer.value);
    for (const [name, origin] of layer.origins) merged.origins.set(name, origin);
    for (const [name, text] of layer.written) merged.written.set(name, text);
  }
  return merged;
}

function merge(under: Record<string, unknown>, over: Record<string, unknown>): Record<string, unknown> {
  const result = { ...under };
  for (const [name, value] of Object.entries(over)) {
    const below = result[name];
    result[name] = isObject(value) && isObject(below) ? merge(below, value) : value;
  }
  return result;
}

/** The value at a path; undefined where there is none. */
export const valueAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((at, name) => (isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined), value);

/** Sets a member, and makes the objects around it. */
export function put(target: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [name, ...rest] = path;
  if (name === undefined) return;
  if (rest.length > 0) {
    const below = isObject(target[name]) ? target[name] : {};
    put(below, rest, value);
    target[name] = below;
  } else target[name] = value;
}

/** Text as the setting's kind; what does not fit stays text, for the schema to refuse. */
function typed(leaf: Leaf, text: string): unknown {
  if (leaf.kind === 'number') return /^-?\d{1,15}(\.\d{1,6})?$/.test(text) ? Number(text) : text;
  if (leaf.kind === 'boolean') return BOOLEANS[text.toLowerCase()] ?? text;
  if (leaf.kind === 'list') return text.split(/[\s,]+/).filter((each) => each !== '');
  return text;
}

/** What may be shown of a setting's value. */
export function shown(leaf: Leaf, value: unknown): unknown {
  if (value === undefined || leaf.secret === false) return value;
  if (leaf.secret === 'whole') return '(hidden)';
  return Array.isArray(value) ? value.map(String).map(withoutKeys) : withoutKeys(String(value));
}

/** A URL without what lets in: its password, the values of its query, and long words of an http path, which providers hand out as keys. */
function withoutKeys(url: string): string {
  const shown = url
    .replace(/^([a-z]+:\/\/[^/@:]*):.*@/i, '$1:(hidden)@')
    .replace(/([?&][^=&#]*=)[^&#]*/g, '$1(hidden)');
  return /^https?:/i.test(url) ? shown.replace(/(?<![:/])\/[\w-]{20,}(?=[/?#]|$)/g, '/(hidden)') : shown;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
