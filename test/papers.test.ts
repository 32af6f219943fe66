// The papers say what is there: paths, links, commands, citations and versions that they name exist.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { unit } from '../vitest.config.ts';
import { requirements } from './requirements.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const rooms = ['bin', 'src', 'data', 'daemon', 'cli', 'test'];

/** Every file of a folder, by its path below the root. */
const filesOf = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length));

const files = [...rooms, '.github', '.ci'].flatMap(filesOf);
const papers = [
  'README.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  ...files.filter((path) => path.endsWith('.md')),
];
const code = files.filter((path) => /\.(tsx?|mjs|js)$/.test(path));

/** Texts in backticks. */
const quoted = (text: string): string[] =>
  [...text.matchAll(/`([^`\n]+)`/g)].map(([, inside = '']) => inside);

test('each path in ARCHITECTURE.md exists', () => {
  const paths = quoted(read('ARCHITECTURE.md')).filter((text) =>
    /^(bin|src|data|daemon|cli|test|\.ci|\.github)\/\S*$/.test(text),
  );
  expect(paths.length).toBeGreaterThan(50);
  // What stands before a wildcard is a folder.
  const missing = paths.filter((path) => !existsSync(join(root, path.replace(/[^/]*[*<…].*$/, ''))));
  expect(missing).toEqual([]);
});

test('ARCHITECTURE.md names each folder of a room', () => {
  const named = quoted(read('ARCHITECTURE.md'));
  const folders = ['src', 'src/api', 'data', 'daemon', 'cli']
    .flatMap((room) =>
      readdirSync(join(root, room), { withFileTypes: true }).map((entry) => ({ room, entry })),
    )
    .filter(({ entry }) => entry.isDirectory())
    .map(({ room, entry }) => `${room}/${entry.name}/`)
    // Shown by what is in it.
    .filter((path) => path !== 'src/api/');
  expect(folders.filter((path) => !named.includes(path))).toEqual([]);
});

test('links between the papers lead somewhere', () => {
  const broken = papers.flatMap((paper) =>
    [...read(paper).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)|(?:src|href)="([^"#]+)"/g)]
      .map(([, link, source]) => link ?? source ?? '')
      .filter((link) => !/^(https?:|mailto:)/.test(link))
      .filter((link) => !existsSync(join(root, dirname(paper), link)))
      .map((link) => `${paper}: ${link}`),
  );
  expect(broken).toEqual([]);
});

test('each npm script that a paper names exists', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const missing = papers.flatMap((paper) =>
    [...read(paper).matchAll(/\bnpm run ([\w:-]+)/g)]
      .map(([, script = '']) => script)
      .filter((script) => !(script in scripts))
      .map((script) => `${paper}: ${script}`),
  );
  expect(missing).toEqual([]);
});

test('a paper that code cites is in the repository', () => {
  // What others have published, cited with where it is.
  const foreign = new Set(['API.md']);
  const missing = code.flatMap((path) =>
    [...read(path).matchAll(/(?<![\w*/.[])([A-Za-z][\w/-]*\.md)\b/g)]
      .map(([, paper = '']) => paper)
      .filter((paper) => !foreign.has(paper))
      .filter(
        (paper) => ![dirname(path), 'test/requirements', ''].some((at) => existsSync(join(root, at, paper))),
      )
      .map((paper) => `${path}: ${paper}`),
  );
  expect(missing).toEqual([]);
});

test('the source of each requirement is a section of a paper', () => {
  const headings = (path: string): Set<string> =>
    new Set([...read(path).matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading));
  const sections: Record<string, Set<string>> = {
    spec: headings('test/requirements/spec.md'),
    architecture: headings('ARCHITECTURE.md'),
    decisions: new Set(
      [...headings('test/requirements/decisions.md')].map((heading) => `§${heading.split('.')[0]}`),
    ),
  };
  const lost = requirements
    .map(({ source }) => source)
    .filter((source) => {
      const [paper = '', section = ''] = source.split(/: (.*)/);
      return !sections[paper]?.has(section);
    });
  expect([...new Set(lost)]).toEqual([]);
});

test('package.json, its lock and the newest release in CHANGELOG.md have one version', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  expect((JSON.parse(read('package-lock.json')) as { version: string }).version).toBe(version);
  expect(/^## \[(\d[^\]]*)\] - \d{4}-\d\d-\d\d$/m.exec(read('CHANGELOG.md'))?.[1]).toBe(version);
});

test('unit tests reach no server, no chain software and no built program', () => {
  const pattern = (glob: string): RegExp =>
    new RegExp(
      `^${glob
        .replaceAll('.', '\\.')
        .replace(/\{([^}]*)\}/g, (_, names: string) => `(${names.replaceAll(',', '|')})`)
        .replaceAll('**/', '(.+/)?')
        .replace(/(?<!\))\*/g, '[^/]*')}$`,
    );
  const patterns = unit.map(pattern);
  const unitTests = code.filter((path) => patterns.some((one) => one.test(path)));
  expect(unitTests.length).toBeGreaterThan(30);
  const server =
    /^node:child_process$|^(execa|playwright-core|@ton\/sandbox|@solana\/surfpool)|helpers\/postgres/;
  const reached = (path: string, seen = new Set<string>()): Set<string> => {
    if (seen.has(path)) return seen;
    seen.add(path);
    if (path.startsWith('test/') && existsSync(join(root, path)))
      for (const [, name = ''] of read(path).matchAll(/\b(?:from|import) ?\(?'([^']+)'/g))
        reached(name.startsWith('.') ? join(dirname(path), name) : name, seen);
    return seen;
  };
  const found = unitTests.flatMap((path) =>
    [...reached(path)].filter((name) => server.test(name)).map((name) => `${path} → ${name}`),
  );
  expect(found).toEqual([]);
});
