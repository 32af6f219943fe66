#!/usr/bin/env node
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19) || major === 21 || (major === 22 && minor < 14)) {
  process.stderr.write(
    `gw needs Node.js 20.19 or newer of 20, or 22.14 or newer; this is ${process.versions.node}\n`,
  );
  process.exit(78);
}
// Keeps compiled code between starts, where Node.js can: among this user's own files, not in the directory of /tmp that Node.js
// would take, which another user may have made, with code of his in it.
const { NODE_COMPILE_CACHE, XDG_CACHE_HOME, HOME } = process.env;
const caches = XDG_CACHE_HOME || (HOME && `${HOME}/.cache`);
const cache = NODE_COMPILE_CACHE || (caches && `${caches}/gatewayd`);
if (cache) process.getBuiltinModule?.('node:module').enableCompileCache?.(cache);
const { main } = await import('../dist/gw/main.js');
await main(process.argv.slice(2));
