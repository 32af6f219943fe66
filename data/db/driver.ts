// The SQLite driver that the running Node.js can load: one with binaries of its own, or an older one made for this machine.
import { createRequire } from 'node:module';
import type SQLite from 'better-sqlite3';
import { DatabaseError } from './failures.ts';

/** Brings binaries for glibc, musl, macOS and Windows. Older Node.js, 20 among them, crashes on it. */
const PREBUILT = 'better-sqlite3-prebuilt';
/** The interface between Node.js and binaries that they were built for. */
const PREBUILT_NODE_API = 10;
/** The last one for older Node.js: fetched or compiled for exactly one machine when it is installed. */
const COMPILED = 'better-sqlite3';
const COMPILED_MAJOR = 12;
const COMPILED_VERSION = '12.11.1';

const require = createRequire(import.meta.url);
const hasPrebuilt = Number(process.versions.napi) >= PREBUILT_NODE_API;

let loaded: typeof SQLite | undefined;

/** The file that `require` finds the driver in, for a thread that finds none by name. Throws what `require` throws. */
export const driverPath = (): string => require.resolve(hasPrebuilt ? PREBUILT : COMPILED);

/** The driver, with its binary. Throws DatabaseError, which says what to install, where it cannot be loaded. */
export function sqlite(): typeof SQLite {
  loaded ??= load();
  return loaded;
}

function load(): typeof SQLite {
  try {
    if (!hasPrebuilt) refuseNewer();
    const Driver = require(driverPath()) as typeof SQLite;
    // The binary is read by the first connection.
    new Driver(':memory:').close();
    return Driver;
  } catch (error) {
    // Only the first line: the rest is the paths that were tried.
    const [reason = ''] = (error as Error).message.split('\n');
    throw new DatabaseError(
      `SQLite cannot be loaded on Node.js ${process.versions.node} (${reason}); ${remedy()}`,
    );
  }
}

/** Loading a newer one would end the process without a word. */
function refuseNewer(): void {
  const { version } = require(`${COMPILED}/package.json`) as { version: string };
  if (Number(version.split('.')[0]) > COMPILED_MAJOR)
    throw new Error(`${COMPILED} ${version} needs Node.js 22.14 or newer`);
}

function remedy(): string {
  const other = 'or set database_url to PostgreSQL';
  return hasPrebuilt
    ? `install gatewayd again, without leaving out its optional packages, ${other}`
    : `use Node.js 22.14 or newer, or install it next to gatewayd (npm install -g ${COMPILED}@${COMPILED_VERSION}; in a clone npm ci), ${other}`;
}
