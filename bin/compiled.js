// Loads a program with the code that V8 compiled of it in an earlier run, which is most of what a start does. What Node.js keeps by
// itself (from 22 on) lacks the functions that are compiled when they are first called.
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';

const CHECKSUM_BYTES = 4;
/** That others may write. */
const OF_OTHERS = 0o022;

/** As Node.js wraps it, on one line with its first, so that lines keep their numbers. */
const wrapped = (source) => `(function (exports, require, module, __filename, __dirname) { ${source}\n})`;

/**
 * Loads a CommonJS module and what it requires by relative paths. None of them may use `import()`, which is lost where V8 reads code.
 *
 * `file`: one file for all of its modules, which need not be there. Who can write it decides what runs: it is taken where it is this
 * user's own, and no one else may write it.
 * V8 refuses what another version of it or other options have made; of a source it compares the length alone, and of what it
 * made nothing, so both have a checksum here.
 *
 * Returns the exports, and `keep`, which writes the file where something was missing: to be called once, when all that a start needs
 * has run, and before options of V8 change. A file that cannot be written is no error: the next start takes longer, and that is all.
 * Throws what loading the module throws.
 */
export function openCompiled(path, file) {
  const known = read(file);
  const modules = new Map();
  /** Compiled now, by name, until `keep`. */
  let fresh = new Map();
  const load = (at) => {
    const loaded = modules.get(at);
    if (loaded) return loaded.exports;
    const module = { exports: {} };
    modules.set(at, module);
    const source = wrapped(readFileSync(at, 'utf8'));
    const checksum = crc32(source);
    const name = basename(at);
    const entry = known.get(name);
    const script = new Script(source, {
      filename: at,
      cachedData: entry?.checksum === checksum ? entry.code : undefined,
    });
    if (script.cachedDataRejected !== false) fresh?.set(name, { checksum, script });
    const require = createRequire(at);
    const folder = dirname(at);
    const requireHere = Object.assign(
      (id) => (id.startsWith('./') ? load(join(folder, id)) : require(id)),
      require,
    );
    try {
      script.runInThisContext()(module.exports, requireHere, module, at, folder);
    } catch (error) {
      // It may be asked for again.
      modules.delete(at);
      throw error;
    }
    return module.exports;
  };
  /** Makes entries of what is fresh, while the options are still those that it was compiled with. */
  const collect = () => {
    for (const [name, { checksum, script }] of fresh)
      known.set(name, { checksum, code: script.createCachedData() });
    const found = fresh.size > 0;
    fresh.clear();
    return found;
  };
  const exports = load(path);
  let isNew = collect();
  const keep = () => {
    isNew = collect() || isNew;
    fresh = undefined;
    const folder = dirname(path);
    if (isNew) write(file, new Map([...known].filter(([name]) => modules.has(join(folder, name)))));
    known.clear();
  };
  return { ...exports, keep };
}

function read(file) {
  try {
    const open = openSync(file, 'r');
    try {
      // Who runs this for another user, as sudo does, may have his folders.
      const { uid, mode } = fstatSync(open);
      if (process.getuid && (uid !== process.getuid() || mode & OF_OTHERS)) return new Map();
      const bytes = readFileSync(open);
      const body = bytes.subarray(CHECKSUM_BYTES);
      // Part of a file, or one that a disk has damaged, would end the process.
      if (crc32(body) === bytes.readUInt32BE()) return deserialize(body);
    } finally {
      closeSync(open);
    }
  } catch {
    // It is not there, or shorter than a checksum.
  }
  return new Map();
}

function write(file, entries) {
  const part = `${file}.${process.pid}`;
  const body = serialize(entries);
  const head = Buffer.alloc(CHECKSUM_BYTES);
  head.writeUInt32BE(crc32(body));
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    try {
      writeFileSync(part, Buffer.concat([head, body]), { mode: 0o600, flag: 'wx' });
      // Whole or not at all, also where several daemons start at once.
      renameSync(part, file);
    } catch {
      rmSync(part, { force: true });
    }
  } catch {
    // A folder that cannot be written.
  }
}
