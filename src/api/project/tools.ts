// Endpoints as tools: names, schemas and annotations from the descriptions, arguments to input, answers to results.
import { z } from 'zod';
import type { AnyInput } from '../client/call.ts';
import type { Endpoint, Fields, Media } from '../describe/endpoint.ts';
import { isOptional, type JsonSchema, jsonSchema } from '../describe/json-schema.ts';
import { api } from '../endpoints/api.ts';

export interface Tool {
  name: string;
  title: string;
  description: string;
  inputSchema: ObjectSchema;
  /** Absent where the endpoint does not answer JSON. */
  outputSchema?: ObjectSchema;
  annotations: {
    title: string;
    readOnlyHint: boolean;
    destructiveHint: boolean;
    idempotentHint: boolean;
    openWorldHint: boolean;
  };
}

export type ObjectSchema = JsonSchema & { type: 'object' };

const KEY = 'idempotency_key';

/** Where a reply is no object, it stands in this member. */
const RESULT = 'result';

const authText: Record<Endpoint['auth'], string> = {
  none: 'Needs no credential.',
  key: 'Needs a merchant key.',
  jwt: 'Needs a bearer token.',
  admin: "Needs a superuser's bearer token.",
  any: 'Needs a bearer token or a merchant key.',
};

let made: { tool: Tool; hidden: boolean }[] | undefined;

/** All tools, in the order of the list; operator tools only when asked for. Made when they are first asked for. */
export function toolsOf({ include_hidden = false }: { include_hidden?: boolean } = {}): Tool[] {
  made ??= (api as readonly Endpoint[]).map((endpoint) => ({
    tool: toolOf(endpoint),
    hidden: endpoint.hidden === true,
  }));
  return made.filter(({ hidden }) => include_hidden || !hidden).map(({ tool }) => tool);
}

function toolOf(endpoint: Endpoint): Tool {
  const { id, method, summary, description, auth, effect } = endpoint;
  const isOverwrite = method === 'PUT' || method === 'PATCH';
  const output = outputSchema(endpoint);
  return {
    name: id,
    title: summary,
    description: `${summary}. ${authText[auth]}\n\n${description}`,
    inputSchema: understood(inputSchema(endpoint)),
    ...(output ? { outputSchema: understood(output) } : {}),
    annotations: {
      title: summary,
      readOnlyHint: effect === 'read',
      // To overwrite is to destroy what was there.
      destructiveHint: effect === 'destroy' || (effect === 'write' && isOverwrite),
      idempotentHint: method !== 'POST' || endpoint.repeatable === true,
      openWorldHint: false,
    },
  };
}

/** Clients complain about a format they do not know; the pattern next to it says the same. */
const understood = (schema: ObjectSchema): ObjectSchema =>
  JSON.parse(
    JSON.stringify(schema, (name, value: unknown) =>
      name === 'format' && value === 'decimal' ? undefined : value,
    ),
  );

/** Members of path, query and body side by side; no endpoint has one name in two places. */
function inputSchema(endpoint: Endpoint): ObjectSchema {
  const { properties = {}, required = [], $defs } = endpoint.body ? jsonSchema(endpoint.body) : {};
  const members: Record<string, unknown> = { ...schemasOf(endpoint.params), ...schemasOf(endpoint.query) };
  const needed = [
    ...Object.keys(endpoint.params ?? {}),
    ...Object.entries(endpoint.query ?? {})
      .filter(([, field]) => !isOptional(field))
      .map(([name]) => name),
    ...(required as string[]),
  ];
  Object.assign(members, properties);
  if (endpoint.idempotent)
    members[KEY] = {
      type: 'string',
      description: 'Makes a repetition safe for 24 hours: any text of your own',
    };
  return {
    type: 'object',
    properties: members,
    ...(needed.length > 0 ? { required: needed } : {}),
    ...($defs ? { $defs } : {}),
  };
}

const schemasOf = (fields: Fields | undefined): Record<string, JsonSchema> =>
  Object.fromEntries(Object.entries(fields ?? {}).map(([name, field]) => [name, jsonSchema(field)]));

function outputSchema({ response }: Endpoint): ObjectSchema | undefined {
  if (!(response instanceof z.ZodType)) return undefined;
  const { $defs, ...schema } = jsonSchema(response);
  const defs = $defs ? { $defs } : {};
  if (schema.type === 'object') return { ...schema, type: 'object', ...defs };
  return { type: 'object', properties: { [RESULT]: schema }, required: [RESULT], ...defs };
}

export interface ToolInput {
  input: AnyInput;
  idempotency_key: string | undefined;
}

/** Arguments of a tool, each to its place. Members that no place has are left out, as in a body. */
export function inputOf(endpoint: Endpoint, args: Readonly<Record<string, unknown>>): ToolInput {
  const pick = (names: readonly string[]) =>
    Object.fromEntries(names.filter((name) => args[name] !== undefined).map((name) => [name, args[name]]));
  const taken = [...Object.keys(endpoint.params ?? {}), ...Object.keys(endpoint.query ?? {}), KEY];
  const key = args[KEY];
  return {
    input: {
      params: pick(Object.keys(endpoint.params ?? {})),
      query: pick(Object.keys(endpoint.query ?? {})),
      ...(endpoint.body ? { body: pick(Object.keys(args).filter((name) => !taken.includes(name))) } : {}),
    },
    idempotency_key: typeof key === 'string' && key !== '' ? key : undefined,
  };
}

export interface ToolAnswer {
  status: number;
  type: string;
  bytes: Uint8Array;
  /** Of a redirect. */
  location: string | null;
}

type Content = { type: 'text'; text: string } | { type: 'image'; data: string; mimeType: string };

export interface ToolResult {
  [member: string]: unknown;
  content: Content[];
  structuredContent?: Record<string, unknown>;
  isError?: true;
}

/** An answer as the result of a tool: JSON also as structured content, refusals as errors the caller can act on. */
export function resultOf(endpoint: Endpoint, { status, type, bytes, location }: ToolAnswer): ToolResult {
  if (type.startsWith('image/png'))
    return { content: [{ type: 'image', data: base64(bytes), mimeType: 'image/png' }] };
  const text = new TextDecoder().decode(bytes);
  if (status >= 400) return { content: [{ type: 'text', text }], isError: true };
  if (location) return { content: [{ type: 'text', text: `Leads to ${location}` }] };
  const content: Content[] = [{ type: 'text', text }];
  if (!(endpoint.response instanceof z.ZodType) || !type.startsWith('application/json')) return { content };
  const value: unknown = JSON.parse(text);
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return {
    content,
    structuredContent: isObject ? (value as Record<string, unknown>) : { [RESULT]: value },
  };
}

/** `btoa` takes text of bytes; a QR code is a few kB. */
const base64 = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));

/** Whether the endpoint answers piece by piece without an end. */
export const isEndless = ({ response }: Endpoint): boolean =>
  'media' in response && (response as Media).media === 'text/event-stream';
