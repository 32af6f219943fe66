// The files that run the daemon as a container or a unit of systemd: they parse, and name only settings that there are.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../daemon/settings/config.ts';
import { settings } from '../daemon/settings/schema.ts';

const pathOf = (name: string): string => fileURLToPath(new URL(`../.github/deploy/${name}`, import.meta.url));
const textOf = (name: string): string => readFileSync(pathOf(name), 'utf8');
const hasSystemd = spawnSync('systemd-analyze', ['--version'], { stdio: 'ignore' }).status === 0;

/** Instructions, with continued lines joined and comments left out. */
const steps = textOf('Dockerfile')
  .replace(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line && !line.startsWith('#'));
const stepOf = (name: string): string => steps.findLast((step) => step.startsWith(`${name} `)) ?? '';

describe('settings named', () => {
  test.each(['Dockerfile', 'compose.yaml', 'gatewayd.service'])('in %s exist', (name) => {
    const known = settings.map(({ env }) => env);
    const named = textOf(name).match(/GATEWAYD_\w+/g) ?? [];
    expect(named.filter((variable) => !known.includes(variable))).toEqual([]);
    expect(named).not.toEqual([]);
  });
});

describe('compose.yaml', () => {
  const { services, volumes } = parse(textOf('compose.yaml'));

  test('gives the daemon settings that it takes', () => {
    const values = Object.entries<string>(services.gatewayd.environment).map(([name, value]) => [
      name,
      value.replace(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, variable: string, kind: string, rest: string) =>
        kind === '-' ? rest : variable === 'DOMAIN' ? 'pay.example.com' : 'secret',
      ),
    ]);
    const { config } = loadConfig({ env: Object.fromEntries(values), cwd: '/nonexistent' });
    expect(config).toMatchObject({
      network: 'testnet',
      public_url: 'https://pay.example.com',
      database_url: 'postgres://gatewayd:secret@postgres/gatewayd',
      trust_proxy: true,
    });
  });

  test('runs it on a read-only root, without capabilities, and keeps what has to last', () => {
    expect(services.gatewayd).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
    expect(services.gatewayd.ports).toBeUndefined();
    const lasting = Object.values<{ volumes: string[] }>(services).flatMap(({ volumes: of }) => of);
    expect(lasting.map((volume) => volume.split(':')[0]).sort()).toEqual(Object.keys(volumes).sort());
    const { build } = services.gatewayd;
    expect(existsSync(pathOf(`${build.context}/${build.dockerfile}`))).toBe(true);
  });
});

describe('Dockerfile', () => {
  test('ends as a user who is not root, with a health check that asks the daemon', () => {
    const known = `FROM WORKDIR COPY RUN ENV USER VOLUME EXPOSE HEALTHCHECK STOPSIGNAL ENTRYPOINT CMD`.split(
      ' ',
    );
    expect(steps.filter((step) => !known.includes(step.split(' ')[0] ?? ''))).toEqual([]);
    expect(stepOf('USER')).toBe('USER node');
    expect(stepOf('ENTRYPOINT')).toBe('ENTRYPOINT ["gatewayd"]');
    const [, , script = ''] = JSON.parse(/CMD (\[.*\])$/.exec(stepOf('HEALTHCHECK'))?.[1] ?? '[]');
    expect(script).toContain("fetch('http://127.0.0.1:4020/health')");
    // Where no daemon answers, it says so by its exit code.
    const closed = script.replace(':4020', ':9');
    expect(spawnSync(process.execPath, ['-e', closed]).status).toBe(1);
  });
});

describe('gatewayd.service', () => {
  test.skipIf(!hasSystemd)('is a unit as systemd reads it', () => {
    expect(
      execFileSync('systemd-analyze', ['verify', pathOf('gatewayd.service')], {
        encoding: 'utf8',
        stdio: 'pipe',
      }),
    ).toBe('');
  });

  test('waits for the word of the daemon, and does not start again what an operator must repair', () => {
    const unit = textOf('gatewayd.service');
    for (const line of [
      'Type=notify',
      'NotifyAccess=all',
      'DynamicUser=yes',
      'RestartPreventExitStatus=78',
      'StartLimitIntervalSec=0',
    ])
      expect(unit.split('\n')).toContain(line);
  });
});
