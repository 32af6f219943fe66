// Flags made from endpoint descriptions: names, help, defaults and choices come from their JSON Schema.
import type { Endpoint, Fields } from '../../src/api/describe/endpoint.ts';
import { secretNames } from '../../src/api/describe/fields.ts';
import { isOptional, type JsonSchema, jsonSchema } from '../../src/api/describe/json-schema.ts';
import { pictureNames } from '../../src/api/describe/shop-fields.ts';
import { flagName } from '../../src/api/project/commands.ts';
import type { WantedKind } from '../../src/explain.ts';

export type InputPart = 'params' | 'query' | 'body' | 'own';
export type Kind = 'text' | 'integer' | 'boolean' | 'list';

export interface Flag {
  /** Member of the input, snake_case. */
  field: string;
  /** Without dashes: `external-ref`. */
  name: string;
  place: InputPart;
  kind: Kind;
  help: string;
  required?: boolean;
  nullable?: boolean;
  secret?: boolean;
  /** Whether `@path` stands for the picture in that file. */
  picture?: boolean;
  choices?: readonly string[];
  default?: unknown;
  /** What its value names, of a flag of one command: it takes any reference to one. */
  names?: WantedKind;
  /** How the value is called in the help. */
  value?: string;
}

export const variableOf = (flag: Pick<Flag, 'name'>): string =>
  `GW_${flag.name.toUpperCase().replaceAll('-', '_')}`;

/**
 * Whether the environment may give a flag. Not what a change leaves alone by default: GW_PASSWORD, set for signing
 * in, must not become the new password of the user that is changed.
 */
export const readsEnvironment = (flag: Flag, method: string | undefined): boolean =>
  !(method === 'PATCH' && flag.place === 'body' && !flag.required);

/** The schema behind alternatives with null or with another spelling of the same value. */
function essence(schema: JsonSchema): { schema: JsonSchema; nullable: boolean } {
  if (Array.isArray(schema.type)) {
    const [type, ...others] = schema.type.filter((each) => each !== 'null');
    return { schema: { ...schema, type: others.length > 0 ? 'string' : type }, nullable: true };
  }
  const choices = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined;
  if (!choices) return { schema, nullable: false };
  const real = choices.filter(({ type }) => type !== 'null');
  const inner = essence(real[0] ?? {});
  return {
    schema: { ...inner.schema, ...(real.length > 1 && !inner.schema.enum ? { type: 'string' } : {}) },
    nullable: real.length < choices.length || inner.nullable,
  };
}

const kindOf = ({ type }: JsonSchema): Kind =>
  type === 'boolean' ? 'boolean' : type === 'integer' ? 'integer' : type === 'array' ? 'list' : 'text';

const words = (field: string): string => field.replaceAll('_', ' ');

/** What the schema says about a value, for people. */
function limitsOf(schema: JsonSchema): string[] {
  const { minLength, maxLength, minimum, maximum, exclusiveMinimum, format } = schema;
  const limits: string[] = [];
  if (format === 'uuid' || format === 'email' || format === 'date') limits.push(String(format));
  if (typeof minLength === 'number' && minLength > 1) limits.push(`at least ${minLength} characters`);
  if (typeof maxLength === 'number') limits.push(`at most ${maxLength} characters`);
  if (minimum !== undefined) limits.push(`from ${minimum}`);
  if (maximum !== undefined) limits.push(`to ${maximum}`);
  if (exclusiveMinimum !== undefined) limits.push(`above ${exclusiveMinimum}`);
  return limits;
}

function flagOf(name: string, field: string, place: InputPart, schema: JsonSchema, required: boolean): Flag {
  const { schema: inner, nullable } = essence(schema);
  const kind = kindOf(inner);
  const secret = secretNames.has(field);
  const description = (schema.description ?? inner.description) as string | undefined;
  const limits = limitsOf(inner);
  // A word that the service takes too, and that finds nothing, is none for a person: it is mistyped.
  const choices = (inner.enum ?? inner.examples) as string[] | undefined;
  const help = [description ?? words(field), limits.length > 0 ? `(${limits.join(', ')})` : '']
    .join(' ')
    .trim();
  return {
    field,
    name,
    place,
    kind,
    help: help.replaceAll('`', ''),
    required,
    nullable,
    secret,
    ...(place === 'body' && pictureNames.has(field) ? { picture: true } : {}),
    ...(choices ? { choices } : {}),
    ...(schema.default == null ? {} : { default: schema.default }),
    value: choices ? 'word' : kind === 'list' ? 'a,b' : kind === 'integer' ? 'number' : 'text',
  };
}

const ofFields = (endpoint: Endpoint, place: 'params' | 'query'): Flag[] =>
  Object.entries((endpoint[place] ?? {}) as Fields).map(([field, type]) =>
    flagOf(
      flagName(endpoint, field),
      field,
      place,
      jsonSchema(type),
      place === 'params' || !isOptional(type),
    ),
  );

/** One flag for each member of path, query and body. */
export function flagsOf(endpoint: Endpoint): Flag[] {
  const body = endpoint.body ? jsonSchema(endpoint.body) : {};
  const required = (body.required ?? []) as string[];
  const members = Object.entries((body.properties ?? {}) as Record<string, JsonSchema>);
  return [
    ...ofFields(endpoint, 'params'),
    ...ofFields(endpoint, 'query'),
    ...members.map(([field, schema]) =>
      flagOf(flagName(endpoint, field), field, 'body', schema, required.includes(field)),
    ),
  ];
}

const TRUE = /^(true|1|yes|on)$/i;

/** A flag's text as the wire carries it; what it cannot be is sent as it is, for the validation to name. */
export function wireValue(flag: Flag, given: string | boolean | readonly string[]): unknown {
  if (flag.kind === 'list') {
    const texts = typeof given === 'object' ? given : [String(given)];
    return texts
      .flatMap((text) => text.split(','))
      .map((text) => text.trim())
      .filter((text) => text !== '');
  }
  if (flag.kind === 'boolean')
    return typeof given === 'boolean'
      ? given
      : TRUE.test(String(given)) || (/^(false|0|no|off)$/i.test(String(given)) ? false : given);
  if (flag.kind === 'integer' && typeof given === 'string' && /^-?\d{1,15}$/.test(given))
    return Number(given);
  return given;
}
