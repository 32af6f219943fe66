// Settings as the places they come from give them: what a container platform adds, line ends behind values, marks and encodings.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { assertSecretMatches, openSecrets } from '../../../daemon/process/data-dir.ts';
import { ConfigError, loadConfig } from '../../../daemon/settings/config.ts';
import { startApp } from '../../helpers/app.ts';
import { databases, openDatabase } from '../../helpers/database.ts';
import { verifies } from '../../requirements.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'gatewayd-places-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

const load = (env: Record<string, string>, file?: string) =>
  loadConfig({ env: { XDG_STATE_HOME: '/state', ...env }, cwd: '/nowhere', file });

/** Of a Service of this name, with one port that is named and one that is not. */
const linksOf = (name: string, port = 4020, address = '10.43.7.21'): Record<string, string> => ({
  [`${name}_SERVICE_HOST`]: address,
  [`${name}_SERVICE_PORT`]: String(port),
  [`${name}_SERVICE_PORT_HTTP`]: String(port),
  [`${name}_PORT`]: `tcp://${address}:${port}`,
  [`${name}_PORT_${port}_TCP`]: `tcp://${address}:${port}`,
  [`${name}_PORT_${port}_TCP_PROTO`]: 'tcp',
  [`${name}_PORT_${port}_TCP_PORT`]: String(port),
  [`${name}_PORT_${port}_TCP_ADDR`]: address,
});

describe('links to a Service', () => {
  test.each([
    ['named as the daemon', linksOf('GATEWAYD')],
    ['named after it', linksOf('GATEWAYD_METRICS', 9464)],
    ['at an address of IPv6', linksOf('GATEWAYD', 4020, 'fd00::7')],
    ['of UDP', { GATEWAYD_DNS_PORT: 'udp://10.0.0.1:53', GATEWAYD_DNS_PORT_53_UDP_PROTO: 'udp' }],
  ])('%s are no settings', (_, links) => {
    verifies('service-links');
    const { config, service_links } = load({ ...links, GATEWAYD_HOST: '0.0.0.0' });
    expect(service_links.toSorted()).toEqual(Object.keys(links).toSorted());
    expect([config.host, config.port, config.metrics.port]).toEqual(['0.0.0.0', 4020, undefined]);
  });

  test('leave settings and misspelt ones what they are', () => {
    expect(load({ GATEWAYD_PORT: '4021' })).toMatchObject({ config: { port: 4021 }, service_links: [] });
    for (const [name, text] of [
      ['GATEWAYD_PROT', '4020'],
      ['GATEWAYD_SERVICE_HOSTS', '10.0.0.1'],
      ['GATEWAYD_SERVICE_PORT', 'http'],
      ['GATEWAYD_SERVICE_FEE', '2'],
      ['GATEWAYD_PORT_TCP', 'tcp://10.0.0.1:1'],
    ] as const)
      expect(() => load({ [name]: text }), name).toThrow(`unknown environment variable ${name}`);
    expect(() => load({ GATEWAYD_PORT: 'http://10.0.0.1' })).toThrow(ConfigError);
  });
});

const SECRET = '0123456789abcdef0123456789abcdef0123456789abcdef';

describe('a line end behind a value', () => {
  test.each(['\n', '\r', '\r\n'])('is no part of it: %j', (end) => {
    verifies('clean-line-ends');
    const values = {
      GATEWAYD_ADMIN_EMAIL: 'root@example.com',
      GATEWAYD_ADMIN_PASSWORD: 'root password 1',
      GATEWAYD_SECRET: SECRET,
      GATEWAYD_PREVIOUS_SECRET: `${SECRET}0`,
      GATEWAYD_PORT: '4021',
      GATEWAYD_NETWORK: 'testnet',
      GATEWAYD_DEMO: 'true',
      GATEWAYD_PUBLIC_URL: 'https://pay.example.com',
    };
    const ended = Object.fromEntries(Object.entries(values).map(([name, text]) => [name, text + end]));
    const { secret_as_written: _, previous_secret_as_written: __, ...config } = load(ended).config;
    const { secret_as_written: ___, previous_secret_as_written: ____, ...plain } = load(values).config;
    expect(config).toEqual(plain);
    expect(load({ GATEWAYD_SMTP_URL: end }).config.smtp_url).toBeUndefined();
    const file = join(dir, 'ended.json');
    writeFileSync(
      file,
      JSON.stringify({
        secret: SECRET + end,
        admin: { email: `a@b.de${end}`, password: `secret word${end}` },
      }),
    );
    expect(load({}, file).config).toMatchObject({
      secret: SECRET,
      admin: { email: 'a@b.de', password: 'secret word' },
    });
  });

  test.each(databases)(
    'opens a database that was made with it, and one that was not, on %s',
    async (database) => {
      verifies('clean-line-ends');
      const check = async (made_with: string, env: Record<string, string>) => {
        const { db, stop } = await openDatabase(database);
        onTestFinished(stop);
        await assertSecretMatches(db, openSecrets({ data_dir: dir, secret: made_with }), dir);
        await assertSecretMatches(db, openSecrets({ ...load(env).config, data_dir: dir }), dir);
      };
      await check(`${SECRET}\n`, { GATEWAYD_SECRET: `${SECRET}\n` });
      await check(SECRET, { GATEWAYD_SECRET: `${SECRET}\n` });
      await expect(check(`${SECRET}\n`, { GATEWAYD_SECRET: SECRET })).rejects.toThrow(
        'the secret is not the one',
      );
    },
  );
});

describe('a file', () => {
  const settings = '{\r\n  "network": "testnet",\r\n  "demo": true,\r\n  "port": 4021\r\n}\r\n';
  const fileOf = (bytes: Buffer) => {
    const file = join(dir, 'settings.json');
    writeFileSync(file, bytes);
    return file;
  };

  test('with a byte-order mark is read as without', () => {
    verifies('clean-bytes');
    expect(load({}, fileOf(Buffer.from(`\uFEFF${settings}`))).config.port).toBe(4021);
  });

  test.each([
    ['UTF-16', Buffer.from(`\uFEFF${settings}`, 'utf16le'), 'it is in UTF-16; save it as UTF-8'],
    ['another encoding', Buffer.from([0x7b, 0xe9, 0x7d]), 'it is not in UTF-8'],
  ])('in %s is refused by its name', (_, bytes, why) => {
    verifies('clean-bytes');
    const file = fileOf(bytes);
    expect(() => load({}, file)).toThrow(`the configuration file ${file} cannot be read: ${why}`);
  });
});

test('a body with a byte-order mark is read as without, one in UTF-16 is refused by its name', async () => {
  verifies('clean-bytes');
  const service = await startApp();
  onTestFinished(() => service.stop());
  const merchant = await service.merchant();
  const post = (body: Buffer) =>
    service.fetch('POST', '/v1/invoices', {
      key: merchant.key,
      headers: { 'content-type': 'application/json' },
      body,
    });
  const text = '{"chain":"ton","amount":"5","external_ref":"1001"}';
  expect((await post(Buffer.from(`\uFEFF${text}`))).json).toMatchObject({ external_ref: '1001' });
  const wide = await post(Buffer.from(`\uFEFF${text}`, 'utf16le'));
  expect([wide.status, wide.json.detail[0].msg]).toEqual([
    422,
    'There was an error parsing the body: it is in UTF-16, and must be in UTF-8',
  ]);
});
