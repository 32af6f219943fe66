// The parts of replies: named objects for OpenAPI, decimal strings and times as the wire carries them.
import { z } from 'zod';

/** An object that OpenAPI names `id`. Members it does not name are dropped from replies. */
export const shape = <Shape extends z.core.$ZodShape>(id: string, members: Shape, description?: string) =>
  z.object(members).meta({ id, ...(description ? { description } : {}) });

/** A decimal string without exponent. */
export const decimalString = () =>
  z
    .string()
    .regex(/^-?\d+(\.\d+)?$/)
    .meta({ format: 'decimal' });

/** Unix seconds, UTC. */
export const unixSeconds = () => z.int().meta({ description: 'Unix seconds, UTC' });

/** A count. */
export const count = () => z.int().min(0);

/** A page that `skip` and `limit` cut. */
export const paged = <Item extends z.ZodType>(item: Item) => ({
  data: z.array(item),
  count: count().describe('How many there are in all'),
  skip: count(),
  limit: count(),
});

/** How many there are in all, of a list that says so only where it is asked to. */
export const totals = () => ({
  total: count()
    .optional()
    .describe(
      'With `count`: how many there are on all pages, counted up to 10,000. Beyond the specification',
    ),
  total_is_more: z.boolean().optional().describe('With `count`: whether there are more than were counted'),
});
