// The databases of a test run: both, or those that the variable DATABASES names (`DATABASES=sqlite npm test`).

export type Database = 'sqlite' | 'postgres';

/** The database of the run that others are copied from: its name on the server, and its file. */
export const MIGRATED = 'migrated';

const all: readonly Database[] = ['sqlite', 'postgres'];

/** In the order of `all`; throws for a name that is none of them. */
export function databasesOfRun(names = process.env.DATABASES): readonly Database[] {
  if (!names) return all;
  const wanted = names.split(',').map((name) => name.trim());
  const unknown = wanted.filter((name) => !all.some((one) => one === name));
  if (unknown.length > 0) throw new Error(`DATABASES: ${unknown.join(', ')} is not one of ${all.join(', ')}`);
  return all.filter((name) => wanted.includes(name));
}
