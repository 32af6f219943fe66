// JSON Schema 2020-12 of inputs and replies, as a caller writes and reads them.
import { z } from 'zod';

export type JsonSchema = Record<string, unknown>;

/**
 * The schema of what goes over the wire; named shapes stand in `$defs`. Seen from the input side, where a member
 * with a default may be left out: that is what the specification calls optional, in replies too.
 */
export function jsonSchema(schema: z.ZodType): JsonSchema {
  const { $schema, ...result } = z.toJSONSchema(schema, {
    io: 'input',
    override: ({ zodSchema, jsonSchema: described }) => {
      const { def } = zodSchema._zod;
      // Zod leaves out a default behind a field that coerces, because the default is in its parsed form.
      if (def.type === 'default') described.default = (def as z.core.$ZodDefaultDef).defaultValue as never;
      // So it does with the words that a field usually takes.
      const { examples } = z.globalRegistry.get(zodSchema) ?? {};
      if (examples) described.examples = examples as never;
      // A record of known names requires them: what is required should be named.
      if (def.type === 'record' && Array.isArray(described.required)) {
        const value = described.additionalProperties;
        described.properties = Object.fromEntries(described.required.map((name) => [name, value])) as never;
        delete described.propertyNames;
      }
      // What every integer of JSON is, and what `format: uuid` says already.
      if (described.minimum === Number.MIN_SAFE_INTEGER) delete described.minimum;
      if (described.maximum === Number.MAX_SAFE_INTEGER) delete described.maximum;
      if (described.format === 'uuid' || described.format === 'date-time') delete described.pattern;
    },
  });
  return atRoot(result);
}

/** A named shape as the root itself: readers of one schema expect `type: object` there. No shape refers to itself. */
function atRoot({ $ref, ...schema }: JsonSchema): JsonSchema {
  if (typeof $ref !== 'string') return schema;
  const { [$ref.replace('#/$defs/', '')]: root, ...others } = schema.$defs as Record<string, JsonSchema>;
  return { ...root, ...(Object.keys(others).length > 0 ? { $defs: others } : {}) };
}

/** Whether a field may be left out. */
export const isOptional = (field: z.ZodType): boolean => field.safeParse(undefined).success;
