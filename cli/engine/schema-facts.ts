// What gw needs to know of an endpoint's schemas, made of them. The build makes it once, so that no command needs zod to start.
import { z } from 'zod';
import type { Endpoint, Fields } from '../../src/api/describe/endpoint.ts';
import { secretNames } from '../../src/api/describe/fields.ts';
import { isOptional, type JsonSchema, jsonSchema } from '../../src/api/describe/json-schema.ts';
import { pictureNames } from '../../src/api/describe/shop-fields.ts';
import { flagName } from '../../src/api/project/commands.ts';
import type { Flag, InputPart, Kind } from './flag.ts';

export interface Facts {
  flags: readonly Flag[];
  /** The members of its reply, and of the rows in it. */
  members: readonly string[];
  /** Null where any reply will do. */
  shape: Shape | null;
}

/** The types, as JSON has them, of a reply and of its members. */
export interface Shape {
  type: readonly string[];
  required: readonly string[];
  members: Readonly<Record<string, readonly string[]>>;
}

export function schemaFacts(endpoint: Endpoint): Facts {
  const { response } = endpoint;
  const flags = flagsFrom(endpoint);
  if (!(response instanceof z.ZodType)) return { flags, members: [], shape: null };
  const schema = jsonSchema(response);
  return { flags, members: membersOf(schema), shape: shapeOf(schema) };
}

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

/** One flag for each member of path, query and body: names, help, defaults and choices come from its schema. */
function flagsFrom(endpoint: Endpoint): Flag[] {
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

/** What a reference within a schema stands for. */
const resolver = (schema: JsonSchema) => {
  const definitions = (schema.$defs ?? {}) as Record<string, JsonSchema>;
  return (part: JsonSchema | undefined): JsonSchema =>
    typeof part?.$ref === 'string' ? (definitions[part.$ref.replace('#/$defs/', '')] ?? {}) : (part ?? {});
};

const propertiesOf = ({ properties = {} }: JsonSchema) =>
  Object.entries(properties as Record<string, JsonSchema>);

/** The members of a reply, and of the rows in it. */
function membersOf(schema: JsonSchema): string[] {
  const resolve = resolver(schema);
  const rows = (list: JsonSchema) => resolve(list.items as JsonSchema);
  const top = schema.type === 'array' ? rows(schema) : schema;
  const names = propertiesOf(top).flatMap(([name, member]) =>
    member.type === 'array' ? [name, ...propertiesOf(rows(member)).map(([inner]) => inner)] : [name],
  );
  return [...new Set(names)];
}

/** The types of a reply and of its members. */
function shapeOf(schema: JsonSchema): Shape | null {
  const resolve = resolver(schema);
  const type = typeOf(schema);
  if (type === null) return null;
  return {
    type,
    required: (schema.required ?? []) as string[],
    members: Object.fromEntries(
      propertiesOf(schema).flatMap(([name, member]) => {
        const known = typeOf(resolve(member), resolve);
        return known === null ? [] : [[name, known]];
      }),
    ),
  };
}

/** The types that a value may have; null where that depends, as with words to which a newer service may add. */
function typeOf(schema: JsonSchema, resolve = resolver(schema)): string[] | null {
  const choices = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined;
  if (choices) {
    const types = choices.map((choice) => typeOf(resolve(choice), resolve));
    const [one, other] = types;
    const isNullable = types.length === 2 && types.some((type) => type?.[0] === 'null');
    return isNullable && one && other ? [...one, ...other] : null;
  }
  if (schema.enum !== undefined || schema.const !== undefined || schema.type === undefined) return null;
  return [schema.type].flat().map((type) => (type === 'integer' ? 'number' : String(type)));
}
