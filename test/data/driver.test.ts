// The two SQLite drivers: which Node.js is given which, and that an install brings no one the other.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sqlite } from '../../data/db/driver.ts';

const textOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('the driver of this Node.js opens a database and computes in it', () => {
  const database = new (sqlite())(':memory:');
  database.defaultSafeIntegers(true);
  expect(database.prepare('select 9007199254740993 as exact').get()).toEqual({ exact: 9007199254740993n });
  database.close();
});

test('the lock file installs each driver only where it is loaded', () => {
  const { packages } = JSON.parse(textOf('package-lock.json'));
  // Its own word is "any Node.js to 26". npm skips an optional package whose engines do not fit: written by hand, so that
  // a newer Node.js neither fetches nor compiles what it never loads. `npm install` may bring the wider word back.
  expect(packages['node_modules/better-sqlite3']).toMatchObject({
    optional: true,
    engines: { node: '<22.14' },
  });
  expect(packages['node_modules/better-sqlite3-prebuilt']).toMatchObject({
    optional: true,
    engines: { node: '>=22' },
  });
});

test('the version that a refusal names is the one that tests run on', () => {
  const { optionalDependencies } = JSON.parse(textOf('test/package.json'));
  expect(textOf('data/db/driver.ts')).toContain(
    `COMPILED_VERSION = '${optionalDependencies['better-sqlite3']}'`,
  );
});
