// The words of the field: names, comments, messages and papers use plain, modern English and no vocabulary of our own.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The word on the left is not used; what stands in its place. */
const words: Record<string, string> = {
  'adopt(s|ed|ing|ion)?': 'claim, take over',
  anew: 'again',
  beside: 'next to, alongside, besides',
  'by itself|by themselves': 'automatically, on its own',
  '(go|goes|going|went) on': 'continue',
  kept: 'stored, cached, remaining',
  'lanes?': 'receiver, limiter',
  'look(s|ed|ing)? at': 'read, evaluate, check',
  'mend(s|ed|ing)?': 'fix, remedy, correct',
  nobody: 'no one',
  'remember(s|ed|ing)?': 'store, cache, record, note',
  said: 'reported, stated, sent; a message',
  'strays?': 'unapplied, unmatched',
  told: 'given, known, reported; by default',
  whoever: 'who, anyone who, the caller',
  'wish(es|ed)?': 'request, option',
};

/** Everything that is written by hand. */
const rooms = [
  'README.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  '.ci',
  '.github',
  'bin',
  'cli',
  'daemon',
  'data',
  'src',
  'test',
  'rolldown.config.ts',
  'vitest.config.ts',
];

/** What stays although it says such a word, and why. */
const exceptions: { text: RegExp; reason: string }[] = [
  { text: /adoptedStyleSheets/g, reason: 'what browsers call it' },
  { text: /remember_me/g, reason: 'a member that a caller makes up, like those of other services' },
  { text: /a bill nobody paid/g, reason: 'what people type into the search, as they typed it' },
];

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

/** A line as words: names are taken apart, and what may stay is left out. */
function wordsOf(line: string): string {
  const left = exceptions.reduce((text, exception) => text.replaceAll(exception.text, ''), line);
  return left.replaceAll('_', ' ').replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2');
}

describe('no file says', () => {
  const texts = rooms
    .flatMap(filesOf)
    .filter((path) => path !== 'test/words.test.ts')
    .map((path) => ({ path, lines: read(path).split('\n').map(wordsOf) }));

  test.each(Object.entries(words))('%s, but: %s', (word) => {
    const banned = new RegExp(`\\b(${word})\\b`, 'i');
    const found = texts.flatMap(({ path, lines }) =>
      lines.flatMap((line, at) => {
        const match = banned.exec(line)?.[0];
        return match === undefined ? [] : [`${path}:${at + 1} ${match}`];
      }),
    );
    expect(found).toEqual([]);
  });

  test('without a reason that is still needed', () => {
    const all = rooms
      .flatMap(filesOf)
      .filter((path) => path !== 'test/words.test.ts')
      .map(read);
    const unused = exceptions.filter(({ text }) => !all.some((one) => new RegExp(text.source).test(one)));
    expect(unused).toEqual([]);
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
