// What a language costs: one file of texts and one line, in a copy that is compiled and run.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import type { chooseLanguage } from '../../../daemon/checkout/language.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const TEXTS = 'daemon/checkout/texts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A copy of what pages say, with one more language. */
function copyWith(texts: string): string {
  const copy = realpathSync(mkdtempSync(join(tmpdir(), 'gatewayd-language-')));
  folders.push(copy);
  for (const part of ['daemon/checkout/language.ts', TEXTS, 'package.json', 'tsconfig.json'])
    cpSync(join(root, part), join(copy, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  writeFileSync(
    join(copy, 'tsconfig.copy.json'),
    JSON.stringify({
      extends: './tsconfig.json',
      compilerOptions: { noEmit: false, outDir: 'dist', rootDir: '.' },
      include: ['daemon/checkout/language.ts'],
    }),
  );
  writeFileSync(join(copy, TEXTS, 'he.ts'), texts);
  const list = join(copy, TEXTS, 'languages.ts');
  writeFileSync(list, `${readFileSync(list, 'utf8')}export { he } from './he.ts';\n`);
  return copy;
}

/** The messages of the compiler; none where it is content. */
function compile(copy: string): string {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  try {
    execFileSync(process.execPath, [compiler, '-p', 'tsconfig.copy.json'], { cwd: copy, stdio: 'pipe' });
    return '';
  } catch (error) {
    return String((error as { stdout: Buffer }).stdout);
  }
}

const english = readFileSync(join(root, TEXTS, 'en.ts'), 'utf8');
const hebrew = english.replace('const en:', 'const he:').replace("amount: 'Amount'", "amount: 'סכום'");

test('a new language is one file and one line: it is chosen, and its direction is known', async () => {
  const copy = copyWith(hebrew);
  expect(compile(copy)).toBe('');
  const built = pathToFileURL(join(copy, 'dist/daemon/checkout/language.js')).href;
  const module = (await import(/* @vite-ignore */ built)) as { chooseLanguage: typeof chooseLanguage };
  const language = module.chooseLanguage({ accept: 'he-IL,en;q=0.5' });
  expect([language.code, language.dir, language.say('amount')]).toEqual(['he', 'rtl', 'סכום']);
}, 120_000);

test('a language that does not say everything does not compile', () => {
  expect(compile(copyWith(hebrew.replace(/^ {2}offline: .*\n/m, '')))).toContain("'offline' is missing");
}, 120_000);
