// How the lists of the service are read as rows: by `skip`, by the row before, or whole.
import type { From, Page, Source } from './rows.ts';

export const bySkip = <Row extends object>(
  keyOf: (row: Row) => string,
  read: (page: { skip: number; limit: number }) => Promise<Page<Row>>,
): Source<Row> => ({ keyOf, read: ({ skip, limit }) => read({ skip, limit }) });

export const byLast = <Row extends object>(
  keyOf: (row: Row) => string,
  read: (page: { after: Row | undefined; limit: number }) => Promise<Page<Row>>,
): Source<Row> => ({ keyOf, read: ({ after, limit }: From<Row>) => read({ after, limit }) });

/** A list that has no pages. */
export const whole = <Row extends object>(
  keyOf: (row: Row) => string,
  read: () => Promise<readonly Row[]>,
): Source<Row> => ({
  keyOf,
  read: async ({ skip }) => ({ rows: skip === 0 ? await read() : [], has_more: false }),
});
