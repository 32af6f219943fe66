// The two programs with the libraries they use, in few files: Node reads those in half the time of a thousand modules.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, resolve } from 'node:path';
import type { BuildOptions, Plugin } from 'rolldown';
import { NO_FACTS, outlines } from './outlines.ts';

/**
 * Not bundled: compiled for one machine (the first), written in a syntax that modules do not allow, or wanted by a
 * library only where somebody has installed them.
 */
const SEPARATE = [
  '@node-rs/argon2',
  'qrcode-terminal',
  'pg-native',
  'react-devtools-core',
  'bufferutil',
  'utf-8-validate',
];
/** What nearly every command of gw needs, and what of that the daemon needs too. */
const ENGINE = [
  'commands',
  'start',
  'engine/(address|context|derive|errors|facts|flags|globals|help|help-layout|ignored|input|invoke|keyring|options|outlines)',
  'engine/(pages|parse|picture-file|plain-words|profile|registry|repeat|resolve|run|timeout|topics|transport)',
  'output/(columns|io|progress|text|value|view)',
];
const SHARED = [
  'api/client/call',
  'api/project/commands',
  'api/read/ignored',
  'nearest',
  'picture',
  'secret-text',
];
const oneOf = (folder: string, modules: readonly string[]): RegExp =>
  new RegExp(`/dist/${folder}/(${modules.join('|')})[.]js$`);
const MAIN = 'dist/daemon/main.js';
const COMMANDS = 'dist/daemon/commands';
const START = 'start.js';
/** Opens no database. */
const CONFIG = 'config.js';
const GW = 'dist/cli/main.js';
const LICENCE = /^(licen[cs]e|notice)/i;

type Info = { importedIds: readonly string[] };

/** A module and all that is loaded with it. */
function closureOf(root: string, infoOf: (id: string) => Info | null): Set<string> {
  const found = new Set([root]);
  for (const id of found) for (const each of infoOf(id)?.importedIds ?? []) found.add(each);
  return found;
}

let groups: Map<string, string> | undefined;
/** In one file each: what only a start of the daemon loads, and what of it other commands load, too. */
function daemonGroup(id: string, graph: { getModuleInfo(id: string): Info | null }): string | null {
  groups ??= daemonGroups((of) => graph.getModuleInfo(of));
  return groups.get(id) ?? null;
}

function daemonGroups(infoOf: (id: string) => Info | null): Map<string, string> {
  const command = (name: string) => closureOf(resolve(COMMANDS, name), infoOf);
  const found = new Map([...command(START)].map((id) => [id, 'daemon']));
  for (const name of readdirSync(COMMANDS).filter((file) => /\.js$/.test(file) && file !== START))
    for (const id of command(name)) if (found.has(id)) found.set(id, 'commands');
  for (const id of command(CONFIG)) if (found.has(id)) found.set(id, 'config');
  for (const id of closureOf(resolve(MAIN), infoOf)) found.delete(id);
  return found;
}

/** The package that a module belongs to: its directory and its name. */
function packageOf(module: string): { directory: string; name: string } | undefined {
  const [, directory, name] = /^\0?(.*\/node_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(module) ?? [];
  return directory && name ? { directory, name } : undefined;
}

/** The file a package is bound to be passed on with; what its manifest says where it has none. */
function licenceOf(directory: string): string {
  const texts = readdirSync(directory)
    .filter((file) => LICENCE.test(file))
    .sort()
    .map((file) => readFileSync(join(directory, file), 'utf8').trim());
  return texts.length > 0 ? texts.join('\n\n') : 'It has no file of its licence; see its package.';
}

/** Puts the licences of all that was bundled next to it. */
const licences: Plugin = {
  name: 'licences',
  generateBundle(_options, bundle) {
    const packages = new Map<string, string>();
    for (const chunk of Object.values(bundle))
      if (chunk.type === 'chunk')
        for (const module of chunk.moduleIds) {
          const { directory, name } = packageOf(module) ?? {};
          if (!directory || !name || !existsSync(join(directory, 'package.json'))) continue;
          const { version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
          packages.set(`${name} ${version} (${license})`, directory);
        }
    const texts = [...packages]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([title, directory]) => `${title}\n${'-'.repeat(title.length)}\n\n${licenceOf(directory)}\n`);
    this.emitFile({ type: 'asset', fileName: 'LICENSES.txt', source: texts.join('\n\n') });
  },
};

/** The version as it is built: to find package.json takes longer than to say it. */
const version: Plugin = {
  name: 'version',
  load(id) {
    if (!id.endsWith('/dist/cli/engine/version.js')) return null;
    return `export const VERSION = ${JSON.stringify(JSON.parse(readFileSync('package.json', 'utf8')).version)};`;
  },
};

/**
 * Of this library, which brings word lists and ciphers along, the one that reads cells needs a hash, which Node has; what it
 * would sign with is not there.
 */
const hash: Plugin = {
  name: 'hash of cells',
  load(id) {
    if (!id.endsWith('/node_modules/@ton/crypto/dist/index.js')) return null;
    return `const { createHash } = require('node:crypto');
exports.sha256_sync = (bytes) => createHash('sha256').update(bytes).digest();`;
  },
};

/** listhen makes certificates with it, where it is asked for HTTPS. The daemon never asks: HTTPS is its proxy's. */
const certificates: Plugin = {
  name: 'no certificates',
  load: (id) => (id.endsWith('/node_modules/node-forge/lib/index.js') ? 'module.exports = {};' : null),
};

interface Parts {
  name: string;
  input: string;
  plugins: Plugin[];
  groups: { name: string | typeof daemonGroup; test?: RegExp | ((id: string) => boolean) }[];
  format: 'esm' | 'cjs';
}

function program({ name, input, plugins, groups, format }: Parts): BuildOptions {
  const extension = format === 'cjs' ? 'cjs' : 'js';
  return {
    input: { main: input },
    platform: 'node',
    // Chunks may export to each other besides.
    preserveEntrySignatures: 'allow-extension',
    external: (module) =>
      isBuiltin(module) || SEPARATE.some((one) => module === one || module.startsWith(`${one}/`)),
    transform: {
      define: {
        // React would bring its build for developers of screens along.
        'process.env.NODE_ENV': '"production"',
        // Of other bundlers; consola asks for it.
        'import.meta.env': 'undefined',
      },
    },
    plugins: [...plugins, licences],
    output: {
      // As deep as the modules that it is made of: they name files by their own address. `bin/` starts it there.
      dir: `dist/${name}`,
      cleanDir: true,
      format,
      // Code that V8 has read again loads nothing by `import()`.
      dynamicImportInCjs: false,
      entryFileNames: `[name].${extension}`,
      chunkFileNames: `[name]-[hash].${extension}`,
      // V8 holds the text of all that is loaded, with two bytes for each character where one of them is not of Latin-1. Licences stay.
      comments: { legal: true, annotation: false, jsdoc: false },
      minify: { compress: false, mangle: false, codegen: { removeWhitespace: false, asciiOnly: true } },
      // A file more takes as long to load as the code in it.
      codeSplitting: { includeDependenciesRecursively: false, groups },
    },
  };
}

export const programs: BuildOptions[] = [
  program({
    name: 'gatewayd',
    input: MAIN,
    plugins: [hash, certificates],
    groups: [{ name: daemonGroup }],
    // Of modules of this kind bin/compiled.js can keep the compiled code with every Node.js.
    format: 'cjs',
  }),
  program({
    name: 'gw',
    input: GW,
    plugins: [version, hash, outlines],
    groups: [
      { name: 'engine', test: (id) => id === NO_FACTS || oneOf('cli', ENGINE).test(id) },
      { name: 'shared', test: oneOf('src', SHARED) },
    ],
    // Ink waits for a part of itself while it is loaded, which only these can.
    format: 'esm',
  }),
];
