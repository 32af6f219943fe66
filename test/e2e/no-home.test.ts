// A user that no list of users has, without HOME, as containers run programs; needs `npm run build`, and root to become one.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../helpers/until.ts';
import { verifies } from '../requirements.ts';

const NO_ONE = 12_345;
const bin = (name: string) => fileURLToPath(new URL(`../../bin/${name}.js`, import.meta.url));
const isRoot = process.getuid?.() === 0;

function placeOf(): string {
  const dir = mkdtempSync(join(tmpdir(), 'gatewayd-no-home-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  chmodSync(dir, 0o755);
  chownSync(dir, NO_ONE, NO_ONE);
  return dir;
}

function launch(program: string, args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [bin(program), ...args], {
    uid: NO_ONE,
    gid: NO_ONE,
    cwd: '/',
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const output = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].on('data', (chunk) => {
      output[stream] += chunk;
    });
  return { output, ended: once(child, 'close').then(([code]) => code as number), kill: () => child.kill() };
}

test.runIf(isRoot)('the daemon starts where data_dir is named, and asks for it otherwise', async () => {
  verifies('no-home');
  const refused = launch('gatewayd', ['start']);
  expect(await refused.ended).toBe(78);
  expect(refused.output.stderr.trim()).toMatch(/^[^\n]*no home directory[^\n]*data_dir$/);

  const dir = placeOf();
  const config = join(dir, 'config.json');
  writeFileSync(
    config,
    JSON.stringify({ data_dir: join(dir, 'data'), port: 0, rates: { source: 'fixed', usd: { TON: '4' } } }),
  );
  const daemon = launch('gatewayd', ['start', '--config', config]);
  await until(
    'the daemon is ready',
    async () => daemon.output.stdout.includes('gatewayd ready on') || undefined,
  );
  daemon.kill();
  expect(await daemon.ended).toBe(0);
});

test.runIf(isRoot)(
  'gw runs where GW_CONFIG_DIR is named, writes there, and asks for it otherwise',
  async () => {
    verifies('no-home');
    const url = { GW_URL: 'http://127.0.0.1:9' };
    const refused = launch('gw', ['config', 'list'], url);
    expect(await refused.ended).toBe(78);
    expect(refused.output.stderr).toContain('no home directory');
    expect(refused.output.stderr).toContain('GW_CONFIG_DIR');

    const place = join(placeOf(), 'gw');
    mkdirSync(place);
    chownSync(place, NO_ONE, NO_ONE);
    const set = launch('gw', ['config', 'set', 'url', 'http://127.0.0.1:4020'], {
      GW_CONFIG_DIR: `${place}\n`,
    });
    expect([await set.ended, set.output.stderr]).toEqual([0, expect.not.stringContaining('failure')]);
    const got = launch('gw', ['config', 'list', '--json'], { GW_CONFIG_DIR: place });
    expect(await got.ended).toBe(0);
    expect(got.output.stdout).toContain('http://127.0.0.1:4020');
  },
);
