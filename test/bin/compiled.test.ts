// What a start keeps for the next one, with modules of two lines that say what ran.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const COMPILED = new URL('../../bin/compiled.js', import.meta.url).href;
let home = '';
let file = '';

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'gatewayd-compiled-'));
  file = join(home, 'cache/start');
  put('part.cjs', 'exports.part = () => "part one";');
  put('later.cjs', 'exports.later = () => "later";');
  put(
    'main.cjs',
    `const { part } = require('./part.cjs');
exports.say = () => part() + ', ' + require('./later.cjs').later();
exports.fail = () => { throw new Error('on line three'); };`,
  );
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

function put(name: string, source: string): void {
  writeFileSync(join(home, name), source);
}

/** Runs the program in a process of its own, and keeps its code. */
function run(call = 'say()', node: string[] = []): string {
  const program = `const { openCompiled } = await import('${COMPILED}');
const { keep, ...program } = openCompiled(process.argv[1], process.argv[2]);
process.stdout.write(String(program.${call}));
keep();`;
  const args = [...node, '--input-type=module', '-e', program, join(home, 'main.cjs'), file];
  return execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

const written = (): number => statSync(file).ino;

test('the second run finds all that the first has written, and writes nothing', () => {
  expect(run()).toBe('part one, later');
  const first = written();
  expect(run()).toBe('part one, later');
  expect(written()).toBe(first);
  expect(readdirSync(join(home, 'cache'))).toEqual(['start']);
});

test('only its owner can read and write it', () => {
  run();
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(join(home, 'cache')).mode & 0o777).toBe(0o700);
});

test('a file that others may write is not taken', () => {
  run();
  const first = written();
  chmodSync(file, 0o622);
  expect(run()).toBe('part one, later');
  expect(written()).not.toBe(first);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test.skipIf(process.getuid?.() !== 0)('a file that another user has made is not taken', () => {
  run();
  const first = written();
  chownSync(file, 1, 1);
  expect(run()).toBe('part one, later');
  expect(written()).not.toBe(first);
  expect(statSync(file).uid).toBe(0);
});

test('a module that was changed runs as it is now, also where it is as long as before', () => {
  run();
  const first = written();
  put('part.cjs', 'exports.part = () => "part two";');
  expect(run()).toBe('part two, later');
  expect(written()).not.toBe(first);
  expect(run()).toBe('part two, later');
});

test.each<[string, (bytes: Buffer) => Buffer]>([
  ['is empty', () => Buffer.alloc(0)],
  ['was cut off', (bytes) => bytes.subarray(0, bytes.length - 9)],
  ['has a byte changed', (bytes) => bytes.fill(0xff, bytes.length - 40, bytes.length - 39)],
  ['is all zeros', (bytes) => bytes.fill(0)],
  ['is something else', () => Buffer.from('{"compiled":[]}')],
])('a file that %s is written again', (_, damage) => {
  run();
  const [whole, first] = [readFileSync(file), written()];
  writeFileSync(file, damage(Buffer.from(whole)));
  expect(run()).toBe('part one, later');
  expect(written()).not.toBe(first);
  expect(readFileSync(file).length).toBe(whole.length);
});

test('code of other options of V8 is not taken', () => {
  run();
  const first = written();
  expect(run('say()', ['--no-opt'])).toBe('part one, later');
  expect(written()).not.toBe(first);
});

test('where nothing can be written it runs as well', () => {
  writeFileSync(join(home, 'cache'), 'a file, not a folder');
  expect(run()).toBe('part one, later');
  mkdirSync(join(home, 'other'));
  file = join(home, 'other');
  expect(run()).toBe('part one, later');
  expect(existsSync(`${home}/other/start`)).toBe(false);
  expect(readdirSync(home).filter((name) => /^other\./.test(name))).toEqual([]);
});

test('a module that fails is asked again', () => {
  put(
    'later.cjs',
    'globalThis.asked = (globalThis.asked ?? 0) + 1; if (asked < 2) throw new Error("not yet"); exports.later = () => asked;',
  );
  put(
    'part.cjs',
    'exports.part = () => { try { require("./later.cjs"); } catch (error) { return error.message; } };',
  );
  expect(run()).toBe('not yet, 2');
});

test('a link that another has put in its place is not followed', () => {
  mkdirSync(join(home, 'cache'));
  const victim = join(home, 'victim');
  writeFileSync(victim, 'as it was');
  put(
    'main.cjs',
    `require('node:fs').symlinkSync(${JSON.stringify(victim)}, ${JSON.stringify(file)} + '.' + process.pid);
exports.say = () => 'sent';`,
  );
  expect(run()).toBe('sent');
  expect(readFileSync(victim, 'utf8')).toBe('as it was');
});

test('what it throws names file and line', () => {
  for (const _ of ['compiled', 'read'])
    expect(() => run('fail()')).toThrow(new RegExp(`${join(home, 'main.cjs')}:3:`));
});

test('nothing of the built daemon uses import(), which code that was read cannot do', () => {
  const built = new URL('../../dist/gatewayd/', import.meta.url);
  const files = readdirSync(built).filter((name) => name.endsWith('.cjs'));
  expect(files.length).toBeGreaterThan(10);
  for (const name of files)
    expect(readFileSync(new URL(name, built), 'utf8'), name).not.toMatch(/(?<![.\w$])import\s*\(/);
});
