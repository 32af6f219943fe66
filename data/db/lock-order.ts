// One order for rows that several transactions write: two of them never wait for each other in a circle.

/** The same, sorted by a text of each. */
export const inOrder = <T>(rows: readonly T[], keyOf: (row: T) => string): T[] =>
  rows
    .map((row) => [keyOf(row), row] as const)
    .sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))
    .map(([, row]) => row);
