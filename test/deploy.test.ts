// The files that run the daemon as a container or a unit of systemd: they parse, and name only settings that there are.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
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
    const known = settings.flatMap(({ env, secret }) => (secret === false ? [env] : [env, `${env}_FILE`]));
    const named = textOf(name).match(/GATEWAYD_\w+/g) ?? [];
    expect(named.filter((variable) => !known.includes(variable))).toEqual([]);
    expect(named).not.toEqual([]);
  });
});

describe('compose.yaml', () => {
  const { services, volumes, secrets } = parse(textOf('compose.yaml'), { merge: true });

  test('gives the daemon settings that it takes, and secrets as files that are mounted', () => {
    const directory = mkdtempSync(join(tmpdir(), 'gatewayd-compose-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const handed: Record<string, string> = {
      secret: 'a secret for tests only\n',
      database_url: 'postgres://gatewayd:secret@postgres/gatewayd\n',
      passphrase: 'a passphrase for tests only\n',
      metrics_token: 'a-token-for-metrics-only\n',
    };
    expect(services.gatewayd.secrets.toSorted()).toEqual(Object.keys(handed).toSorted());
    expect(Object.keys(secrets)).toEqual(expect.arrayContaining(Object.keys(handed)));
    const values = Object.entries<string>(services.gatewayd.environment).map(([name, value]) => {
      const [, mounted] = /^\/run\/secrets\/(\w+)$/.exec(value) ?? [];
      if (mounted !== undefined) {
        writeFileSync(join(directory, mounted), handed[mounted] ?? '');
        return [name, join(directory, mounted)];
      }
      return [
        name,
        value.replace(/\$\{\w+:-([^}]*)\}/g, '$1').replace(/\$\{DOMAIN:\?[^}]*\}/g, 'pay.example.com'),
      ];
    });
    const { config } = loadConfig({ env: Object.fromEntries(values), cwd: '/nonexistent' });
    expect(config).toMatchObject({
      network: 'testnet',
      public_url: 'https://pay.example.com',
      secret: 'a secret for tests only',
      database_url: 'postgres://gatewayd:secret@postgres/gatewayd',
      trust_proxy: true,
      backup: { every: '1d', to: '/backups', passphrase: 'a passphrase for tests only' },
      metrics: { host: '0.0.0.0', port: 9464, token: 'a-token-for-metrics-only' },
    });
  });

  test('names nothing in clear that is secret, keeps the log small, and shows the metrics to this machine only', () => {
    const with_secrets = settings.filter(({ secret }) => secret !== false).map(({ env }) => env);
    expect(Object.keys(services.gatewayd.environment).filter((name) => with_secrets.includes(name))).toEqual(
      [],
    );
    for (const { environment } of Object.values<{ environment?: object }>(services))
      expect(Object.keys(environment ?? {}).filter((name) => name.endsWith('PASSWORD'))).toEqual([]);
    for (const service of Object.values<{ logging: unknown; restart: string }>(services))
      expect(service).toMatchObject({
        restart: 'unless-stopped',
        logging: { driver: 'json-file', options: { 'max-size': '10m', 'max-file': '5' } },
      });
    expect(services.gatewayd.ports).toEqual(['127.0.0.1:9464:9464']);
    expect(services.gatewayd.volumes).toEqual(
      expect.arrayContaining([
        './gatewayd.config.json:/etc/gatewayd/gatewayd.config.json:ro',
        './backups:/backups',
      ]),
    );
    expect(services.gatewayd.command).toEqual(['start', '--config', '/etc/gatewayd/gatewayd.config.json']);
  });

  test('has what stands next to it neither in an image nor in a commit', () => {
    const next_to_it = [
      ...services.gatewayd.volumes,
      ...Object.values<{ file: string }>(secrets).map(({ file }) => file),
    ]
      .filter((path: string) => path.startsWith('./'))
      .map((path: string) => `.github/deploy/${path.split(/[/:]/)[1]}`);
    expect(new Set(next_to_it).size).toBe(3);
    for (const list of [textOf('Dockerfile.dockerignore'), textOf('../../.gitignore')])
      expect(list.split('\n')).toEqual(expect.arrayContaining([...next_to_it, '.github/deploy/.env']));
  });

  test('asks the daemon for its health as the image does, and lets each image be pinned', () => {
    const { test: command } = services.gatewayd.healthcheck;
    expect(command).toEqual(['CMD', ...JSON.parse(/CMD (\[.*\])$/.exec(stepOf('HEALTHCHECK'))?.[1] ?? '[]')]);
    expect(Object.values<{ image?: string }>(services).flatMap(({ image }) => image ?? [])).toEqual([
      expect.stringMatching(/^\$\{POSTGRES_IMAGE:-postgres:\d+-alpine\}$/),
      expect.stringMatching(/^\$\{CADDY_IMAGE:-caddy:\d+-alpine\}$/),
    ]);
    expect(services.gatewayd.build.args.NODE_IMAGE).toBe(`\${NODE_IMAGE:-${stepOf('ARG').split('=')[1]}}`);
    expect(steps.filter((step) => step.startsWith('FROM')).map((step) => step.split(' ')[1])).toEqual([
      expect.stringMatching(/^\$\{NODE_IMAGE\}$/),
      expect.stringMatching(/^\$\{NODE_IMAGE\}$/),
    ]);
  });

  test('runs it on a read-only root, without capabilities, and keeps what has to last', () => {
    expect(services.gatewayd).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
    // Buyers come through the proxy.
    expect(JSON.stringify(services.gatewayd.ports)).not.toContain('4020');
    const lasting = Object.values<{ volumes: string[] }>(services)
      .flatMap(({ volumes: of }) => of)
      .filter((volume) => !volume.startsWith('./'));
    expect(lasting.map((volume) => volume.split(':')[0]).sort()).toEqual(Object.keys(volumes).sort());
    const { build } = services.gatewayd;
    expect(existsSync(pathOf(`${build.context}/${build.dockerfile}`))).toBe(true);
  });
});

describe('Dockerfile', () => {
  test('ends as a user who is not root, with a health check that asks the daemon', () => {
    const known =
      `ARG FROM WORKDIR COPY RUN ENV USER VOLUME EXPOSE HEALTHCHECK STOPSIGNAL ENTRYPOINT CMD`.split(' ');
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
      'ExecReload=/bin/kill -HUP $MAINPID',
      'RestartPreventExitStatus=78',
      'StartLimitIntervalSec=0',
    ])
      expect(unit.split('\n')).toContain(line);
  });

  test.skipIf(!hasSystemd)(
    'documents how commands run alongside it, with properties that systemd knows',
    () => {
      const found = [textOf('gatewayd.service'), textOf('README.md')].map((text) => {
        const command = /systemd-run -qtPG [\s\S]*? gatewayd doctor/.exec(text)?.[0] ?? '';
        return command.replace(/\\\n#?\s*/g, '');
      });
      expect(found[0]).toBe(found[1]);
      const [command = ''] = found;
      const properties = [...command.matchAll(/ -p (\S+)/g)].map(([, property]) => property);
      const variables = [...command.matchAll(/ -E (\S+)/g)].map(([, variable]) => `Environment=${variable}`);
      expect(properties).toEqual(
        expect.arrayContaining(['DynamicUser=yes', 'User=gatewayd', 'StateDirectory=gatewayd']),
      );
      const directory = mkdtempSync(join(tmpdir(), 'unit-'));
      onTestFinished(() => rmSync(directory, { recursive: true }));
      const unit = join(directory, 'command.service');
      writeFileSync(unit, ['[Service]', 'ExecStart=/bin/true', ...properties, ...variables, ''].join('\n'));
      expect(execFileSync('systemd-analyze', ['verify', unit], { encoding: 'utf8', stdio: 'pipe' })).toBe('');
    },
  );
});
