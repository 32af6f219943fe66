// Where the secrets of a profile are: in the keyring of the system, here a program that stands in for its own, else in the file.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { accountOf, findKeyring } from '../../cli/engine/keyring.ts';
import { verifies } from '../requirements.ts';
import { type Gw, makeGw } from './helpers/gw.ts';

/** What secret-tool and security do, with a file for each secret, and a record of their arguments. */
const STAND_IN = `#!/bin/sh
echo "$*" >> "$RING/arguments"
[ "$1" = -i ] && read -r line && set -- $line
item="$RING/$(echo "$*" | sed -e 's/ -w.*//' -e 's/.* //')"
if [ -n "$RING_LOCKED" ]; then echo 'it is locked' >&2; exit 1; fi
case "$1" in
  store) cat > "$item" ;;
  add-generic-password) echo "$8" > "$item" ;;
  lookup) [ -f "$item" ] && cat "$item" ;;
  find-generic-password) [ -f "$item" ] && cat "$item" || exit 44 ;;
  clear | delete-generic-password) rm -f "$item" ;;
esac
`;
const TOKEN = 'token.of.a.test';

let gw: Gw;
let ring: string;
let env: Record<string, string>;
beforeEach(() => {
  // Nothing listens there: storing and reading asks no service.
  gw = makeGw('http://127.0.0.1:9');
  ring = join(gw.dir, 'ring');
  mkdirSync(ring);
  for (const name of ['secret-tool', 'security']) writeFileSync(join(ring, name), STAND_IN, { mode: 0o700 });
  env = { PATH: `${ring}:${process.env.PATH}`, RING: ring, DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' };
});
afterEach(() => gw.remove());

const file = () => readFileSync(join(gw.dir, 'gw.json'), 'utf8');
const stored = () => readdirSync(ring).filter((name) => name.startsWith('default-'));
const setToken = (more: Record<string, string> = {}) =>
  gw(['config', 'set', 'token', '-'], { stdin: TOKEN, env: { ...env, ...more } });

it.runIf(process.platform === 'linux')(
  'has the secrets where there is one, and the file the rest',
  async () => {
    verifies('gw-keyring');
    // What an older version stored is moved by the next sign-in.
    await gw(['config', 'set', 'api_key', '-'], {
      stdin: 'gw_an_older_key',
      env: { ...env, GW_KEYRING: 'off' },
    });
    expect([file().includes('gw_an_older_key'), stored()]).toEqual([true, []]);
    expect((await setToken()).code).toBe(0);
    expect(file()).toContain('Secret Service');
    for (const secret of [TOKEN, 'gw_an_older_key']) {
      expect(file()).not.toContain(secret);
      expect(readFileSync(join(ring, 'arguments'), 'utf8')).not.toContain(secret);
    }
    expect(stored()).toHaveLength(1);
    const { json } = await gw(['config', 'list', '--json'], { env });
    expect(json).toContainEqual({ key: 'token', value: '…', origin: 'keyring' });
    expect((await gw(['config', 'get', 'api_key'], { env })).stdout).toBe('gw_an_older_key\n');
    // What needs no secret asks for none.
    writeFileSync(join(ring, 'arguments'), '');
    await gw(['config', 'set', 'email', 'ada@example.com'], { env });
    expect(readFileSync(join(ring, 'arguments'), 'utf8')).toBe('');
    await gw(['logout'], { env });
    expect(stored()).toEqual([]);
    expect(JSON.parse(file()).profiles.default).toEqual({
      url: 'http://127.0.0.1:9',
      email: 'ada@example.com',
    });
  },
);

it.runIf(process.platform === 'linux')(
  'that does not answer is named, and a sign-in then stores in the file',
  async () => {
    verifies('gw-keyring');
    await setToken();
    const locked = await gw(['whoami', '--json'], { env: { ...env, RING_LOCKED: '1' } });
    expect(locked).toMatchObject({ code: 78, error: { error: { code: 'keyring_failed' } } });
    expect(locked.error.error.message).toBe('the Secret Service does not answer: it is locked');
    const away = await gw(['whoami', '--json'], { env: { ...env, GW_KEYRING: 'off' } });
    expect(away).toMatchObject({ code: 78, error: { error: { code: 'no_keyring' } } });
    // The environment needs neither.
    expect(
      (await gw(['whoami', '--json'], { env: { ...env, RING_LOCKED: '1', GW_TOKEN: 'other' } })).code,
    ).toBe(69);
    expect((await setToken({ RING_LOCKED: '1' })).code).toBe(0);
    expect(file()).toContain(TOKEN);
    expect(statSync(join(gw.dir, 'gw.json')).mode & 0o777).toBe(0o600);
    expect((await gw(['config', 'get', 'token', '--show-origin'], { env })).stdout).toBe(
      `${TOKEN} (profile)\n`,
    );
  },
);

it('is called by the program of each system, with the secret on stdin alone', () => {
  verifies('gw-keyring');
  const account = accountOf('/home/ada/gw.json', 'default');
  for (const platform of ['linux', 'darwin'] as const) {
    const keyring = findKeyring({ ...process.env, ...env }, platform);
    expect(keyring?.read(account)).toBeUndefined();
    expect(keyring?.write(account, '{"token":"ü"}')).toBe(true);
    expect(keyring?.read(account)).toBe('{"token":"ü"}');
    keyring?.remove(account);
    expect(keyring?.read(account)).toBeUndefined();
  }
  expect(readFileSync(join(ring, 'arguments'), 'utf8')).not.toContain(
    Buffer.from('{"token').toString('base64').slice(0, 8),
  );
  expect(findKeyring({ ...env, PATH: '/nowhere:.' }, 'linux')).toBeUndefined();
  expect(findKeyring({ PATH: String(env.PATH) }, 'linux')).toBeUndefined();
  expect(findKeyring({ ...env, GW_KEYRING: 'off' }, 'darwin')).toBeUndefined();
  expect(findKeyring(env, 'win32')).toBeUndefined();
});
