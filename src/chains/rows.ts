// A list in an answer, checked row by row: the first fault ends it, and so do more rows than were asked for.
import * as z from 'zod';

/** As `z.array`, which collects the faults of every row: a list of millions of faults would cost minutes. */
export const rows = <T>(row: z.ZodType<T, unknown>, most: number) =>
  z.custom<readonly unknown[]>(Array.isArray, 'not a list').transform((list, context): T[] => {
    const fail = (message: string, path: PropertyKey[] = []): never => {
      context.addIssue({ code: 'custom', message, path });
      return z.NEVER;
    };
    if (list.length > most) return fail(`${list.length} rows, of which ${most} are allowed`);
    const read: T[] = [];
    for (const [at, value] of list.entries()) {
      const { data, error } = row.safeParse(value);
      const [issue] = error?.issues ?? [];
      if (issue) return fail(issue.message, [at, ...issue.path]);
      read.push(data as T);
    }
    return read;
  });
