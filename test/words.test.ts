// The words of the field: names, comments, messages and papers use plain, modern English and no vocabulary of our own.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The word on the left is not used; what is said in its place. */
const words: Record<string, string> = {
  'adopt(s|ed|ing|ion)?': 'claim, take over',
  anew: 'again',
  'by itself|by themselves': 'automatically, on its own',
  '(go|goes|going|went) on': 'continue',
  kept: 'stored, cached, remaining',
  'mend(s|ed|ing)?': 'fix, remedy, correct',
  nobody: 'no one',
  'strays?': 'unapplied, unmatched',
  told: 'given, known, reported; by default',
  whoever: 'who, anyone who, the caller',
  'wish(es|ed)?': 'request, option',
};

/** The rooms in which this holds; a room is added here when its last such word is gone. */
const rooms = [
  'README.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  '.ci',
  '.github',
  'bin',
  'daemon/checkout',
  'daemon/mail',
  'rolldown.config.ts',
  'src/chains/README.md',
  'test/api',
  'test/bench',
  'test/daemon',
  'test/e2e',
  'test/helpers',
  'test/pictures',
  'test/requirements',
  'test/simulator/README.md',
  'test/src',
  'test/architecture.test.ts',
  'test/papers.test.ts',
  'test/requirements.test.ts',
  'test/requirements.ts',
];

/** Words that people type into the search, and that stay as they typed them. */
const quoted: Record<string, string[]> = { 'test/daemon/discovery/intents.ts': ['nobody'] };

/** The rooms whose modules open with backticks that close. */
const headed = ['bin', 'src', 'data', 'daemon', 'cli', 'test'];

const isText = (path: string): boolean =>
  /\.(tsx?|m?js|md|yml|json|css|svg)$/.test(path) || path.startsWith('.ci/');

/** Files of a folder, or the file itself, by path below the root. */
function filesOf(path: string): string[] {
  if (statSync(join(root, path)).isFile()) return [path];
  return readdirSync(join(root, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
    .filter(isText);
}

const read = (path: string): string => readFileSync(join(root, path), 'utf8');

describe('no file says', () => {
  const texts = rooms.flatMap(filesOf).map((path) => ({ path, lines: read(path).split('\n') }));

  test.each(Object.entries(words))('%s, but: %s', (word) => {
    const said = new RegExp(`\\b(${word})\\b`, 'i');
    const found = texts.flatMap(({ path, lines }) =>
      lines
        .map((line, at) => ({ at: `${path}:${at + 1}`, match: said.exec(line)?.[0] }))
        .filter(({ match }) => match !== undefined && !quoted[path]?.includes(match))
        .map(({ at, match }) => `${at} ${match}`),
    );
    expect(found).toEqual([]);
  });
});

test('the line that a module opens with closes its backticks', () => {
  const open = headed
    .flatMap(filesOf)
    .filter((path) => /\.(tsx?|m?js)$/.test(path))
    .filter((path) => {
      const [first = ''] = read(path)
        .split('\n')
        .filter((line) => line.startsWith('//'));
      // One after a backslash closes nothing.
      return first.includes('\\`') || (first.split('`').length - 1) % 2 === 1;
    });
  expect(open).toEqual([]);
});
