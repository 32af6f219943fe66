// What gw knows of an endpoint without its schemas, which take longer to load than a command to run.
import type { Endpoint } from '../../src/api/describe/endpoint.ts';
import { endpointsOf } from '../../src/api/endpoints/by-tag.ts';
import { type Facts, schemaFacts } from './schema-facts.ts';

/** An endpoint as the built program has it (`.ci/outlines.ts`): facts in place of its schemas. */
export type Outline = Endpoint & { facts: Facts };

export const isOutline = (endpoint: Endpoint): endpoint is Outline => 'facts' in endpoint;

/** Facts of an outline, or of schemas where the sources run. */
export const factsOf = (endpoint: Endpoint): Facts =>
  isOutline(endpoint) ? endpoint.facts : schemaFacts(endpoint);

/** The endpoint with its schemas. */
export async function whole(endpoint: Endpoint): Promise<Endpoint> {
  if (!isOutline(endpoint)) return endpoint;
  const list = await endpointsOf[endpoint.tag]();
  return list.find(({ id }) => id === endpoint.id) ?? endpoint;
}

const typeOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;

/** Whether a reply has the members that it must have. What they hold is not checked: a newer service may know more. */
export function isShaped({ shape }: Facts, reply: unknown): boolean {
  if (!shape) return true;
  if (!shape.type.includes(typeOf(reply))) return false;
  const row = reply as Record<string, unknown>;
  return (
    shape.required.every((name) => Object.hasOwn(row, name)) &&
    Object.entries(shape.members).every(
      ([name, types]) => row[name] === undefined || types.includes(typeOf(row[name])),
    )
  );
}
