// The cursor of TON: up to when the accounts were read together, and whose turn it is to be proved.
import { z } from 'zod';
import type { Json } from '../family.ts';

const cursorSchema = z.object({
  utime: z.int(),
  assets: z.array(z.string()),
  turns: z.object({ at: z.int(), after: z.string() }).nullish(),
});
/**
 * `utime`: the shared reading has been up to here. `assets`: those for which that holds. `turns`: when the round began in
 * which all accounts are proved, and after which account it continues.
 */
export type Cursor = z.infer<typeof cursorSchema>;

/** The stored cursor; null before the first reading, and where it cannot be read. */
export function readCursor(stored: Json | null): Cursor | null {
  const parsed = cursorSchema.safeParse(stored);
  return parsed.success ? parsed.data : null;
}
