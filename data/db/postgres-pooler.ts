// Tells a connection to PostgreSQL itself from one by way of a pooler, such as PgBouncer in transaction mode.

/** Asks for the process that runs the statement, as `pid`. */
export const PROCESS_OF_SESSION = 'select pg_backend_pid() as pid';

/**
 * Whether a pooler stands between, by the answer to `PROCESS_OF_SESSION`: the server names its own process when a connection
 * begins, and a pooler, which cannot know it by then, makes a number up.
 */
export function isPooled(client: object, answer: readonly unknown[]): boolean {
  const { processID: promised } = client as { processID?: number | null };
  const [row] = answer as readonly { pid: number }[];
  return row?.pid !== promised;
}
