// The floors of data/: what a file imports stands on its own floor or below, and nothing is reached in a circle.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../data', import.meta.url));

/** From the ground up; nouns are the files of data/ itself. */
const floors = ['schema', 'db', 'migrations', 'nouns', 'views', 'verify'];

const floorOf = (path: string): string => (path.includes('/') ? dirname(path) : 'nouns');

const paths = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));

/** What each file of data/ imports of data/, types included. */
const imports = new Map(
  paths.map((path) => [
    path,
    ts
      .preProcessFile(readFileSync(join(root, path), 'utf8'))
      .importedFiles.filter(({ fileName }) => fileName.startsWith('.'))
      .map(({ fileName }) => join(dirname(path), fileName))
      .filter((name) => !name.startsWith('..')),
  ]),
);

test('are the folders there are', () => {
  expect([...new Set(paths.map(floorOf))].sort()).toEqual([...floors].sort());
});

test('import downwards only', () => {
  const upwards = [...imports].flatMap(([path, names]) =>
    names
      .filter((name) => floors.indexOf(floorOf(name)) > floors.indexOf(floorOf(path)))
      .map((name) => `${path} → ${name}`),
  );
  expect(upwards).toEqual([]);
  // And the reader of imports is not blind: each floor but the lowest stands on another.
  for (const floor of floors.slice(1))
    expect(
      [...imports].some(
        ([path, names]) => floorOf(path) === floor && names.some((name) => floorOf(name) !== floor),
      ),
      floor,
    ).toBe(true);
});

test('have no circle', () => {
  /** Taken away step by step: files that import nothing that is left. What stays imports itself in the end. */
  const left = new Map(imports);
  for (let before = -1; before !== left.size; ) {
    before = left.size;
    for (const [path, names] of left) if (!names.some((name) => left.has(name))) left.delete(path);
  }
  expect([...left.keys()]).toEqual([]);
});
