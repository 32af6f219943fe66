// What a flag that every command has costs: one row, from which help, completion, routing and the environment follow.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Copy, copyRooms } from '../helpers/copy.ts';

/** A busy machine compiles slowly. */
const LIMIT_MS = 300_000;
const TABLE = 'cli/engine/globals.ts';

let copy: Copy;
beforeAll(async () => {
  copy = copyRooms();
  copy.edit(
    TABLE,
    "  { name: 'yes', short: 'y',",
    "  { name: 'proxy', value: 'address', help: 'send requests through it', variable: 'GW_PROXY' },\n  { name: 'yes', short: 'y',",
  );
  expect(await copy.compile()).toEqual([]);
}, LIMIT_MS);
afterAll(() => copy.remove());

test('one row', () => {
  expect(copy.touched).toEqual([TABLE]);
});

test(
  'is in the help of every command, in completion and in the tree for programs',
  async () => {
    const help = await copy.run('bin/gw.js', ['invoice', 'get', '--help']);
    expect(help.stdout.replaceAll(/\s+/g, ' ')).toContain(
      '--proxy <address> send requests through it [env: GW_PROXY]',
    );
    const script = (await copy.run('bin/gw.js', ['completion', 'bash'])).stdout;
    expect(script.match(/"invoice get"\) list="([^"]*)"/)?.[1]).toContain('--proxy');
    const tree = JSON.parse((await copy.run('bin/gw.js', ['--help', '--json'])).stdout);
    expect(tree.global_flags).toContain('--proxy');
    expect(tree.environment.GW_PROXY).toBe('send requests through it');
  },
  LIMIT_MS,
);

test(
  'takes its value before the command as well, and is read with its variable',
  async () => {
    const before = await copy.run('bin/gw.js', ['--proxy', 'invoice', 'config', 'path'], {
      GW_CONFIG_DIR: copy.root,
    });
    expect(before.stdout).toContain(copy.root);
    copy.write(
      'dist/read.mjs',
      `import { readGlobals } from './cli/engine/globals.js';
       const read = (options, env) => readGlobals(options, [], env).text('proxy');
       console.log(JSON.stringify([read({ proxy: 'a' }, { GW_PROXY: 'b' }), read({}, { GW_PROXY: 'b' }), read({}, {}) ?? null]));`,
    );
    expect(JSON.parse((await copy.run('dist/read.mjs')).stdout)).toEqual(['a', 'b', null]);
  },
  LIMIT_MS,
);
