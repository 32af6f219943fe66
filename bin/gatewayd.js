#!/usr/bin/env node
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19) || major === 21 || (major === 22 && minor < 14)) {
  process.stderr.write(
    `gatewayd needs Node.js 20.19 or newer of 20, or 22.14 or newer; this is ${process.versions.node}\n`,
  );
  process.exit(78);
}
// Keeps compiled code between starts: among this user's own files, not in the directory of /tmp that Node.js would take, which
// another user may have made, with code of his in it.
const { NODE_COMPILE_CACHE, NODE_DISABLE_COMPILE_CACHE, XDG_CACHE_HOME, HOME } = process.env;
const caches = XDG_CACHE_HOME || (HOME && `${HOME}/.cache`);
const cache = NODE_DISABLE_COMPILE_CACHE ? undefined : NODE_COMPILE_CACHE || (caches && `${caches}/gatewayd`);
const { createRequire, enableCompileCache } = process.getBuiltinModule('node:module');
const require = createRequire(import.meta.url);
if (cache && process.argv[2] === 'start') {
  const { openCompiled } = await import('./compiled.js');
  const { main, keep } = openCompiled(require.resolve('../dist/gatewayd/main.cjs'), `${cache}/start`);
  await main(process.argv, keep);
} else {
  if (cache) enableCompileCache?.(cache);
  await require('../dist/gatewayd/main.cjs').main(process.argv);
}
