// Settings: precedence, provenance, and every way a configuration is refused.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CONFIG_FILE, ConfigError, loadConfig, type Sources } from '../../../daemon/settings/config.ts';
import { shown } from '../../../daemon/settings/layers.ts';
import { settings } from '../../../daemon/settings/schema.ts';
import { blockchains, gatewayIds, tickers } from '../../../src/chains/gateways.ts';
import { nearest } from '../../../src/nearest.ts';
import { verifies } from '../../requirements.ts';

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'gatewayd-config-'));
});
afterAll(() => rmSync(cwd, { recursive: true }));

const load = (sources: Sources = {}) =>
  loadConfig({ env: { XDG_STATE_HOME: '/state' }, cwd: '/nowhere', ...sources });

function refusal(sources: Sources): string {
  try {
    load(sources);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
  throw new Error('the configuration was accepted');
}

const written = (value: unknown): string => {
  const file = join(cwd, `${Math.random().toString(36).slice(2)}.json`);
  writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value));
  return file;
};

describe('with nothing configured', () => {
  test('a newcomer gets a demo on testnet that listens on loopback only', () => {
    verifies('default-demo');
    const { config, origins } = load();
    expect(config).toMatchObject({
      network: 'testnet',
      demo: true,
      host: '127.0.0.1',
      port: 4020,
      public_url: 'http://127.0.0.1:4020',
      data_dir: '/state/gatewayd',
      database_url: 'sqlite:/state/gatewayd/gatewayd.db',
      service_fee_percent: '0',
      webhook_allow_private: true,
      trust_proxy: false,
      rates: { source: 'live' },
    });
    expect([...origins]).toEqual([]);
  });

  test('state goes to the home directory where XDG_STATE_HOME is not set', () => {
    expect(load({ env: {} }).config.data_dir).toMatch(/\/\.local\/state\/gatewayd$/);
  });

  test('mainnet turns demo off and private webhooks with it', () => {
    verifies('mainnet-no-demo');
    expect(load({ flags: { network: 'mainnet' } }).config).toMatchObject({
      demo: false,
      webhook_allow_private: false,
    });
  });
});

describe('precedence', () => {
  test('flags win over environment over file over defaults, and each value knows where it is from', () => {
    verifies('settings-order');
    const file = written({ port: 1, host: '10.0.0.1', log_level: 'warn', admin: { email: 'a@example.com' } });
    const { config, origins } = load({
      file,
      env: { GATEWAYD_PORT: '2', GATEWAYD_HOST: '10.0.0.2', GATEWAYD_ADMIN_PASSWORD: 'long enough' },
      flags: { port: '3' },
    });
    expect(config).toMatchObject({ port: 3, host: '10.0.0.2', log_level: 'warn', network: 'testnet' });
    expect(config.admin).toEqual({ email: 'a@example.com', password: 'long enough' });
    expect(Object.fromEntries([...origins].map(([name, origin]) => [name, origin.label]))).toEqual({
      port: '--port',
      host: 'GATEWAYD_HOST',
      log_level: file,
      'admin.email': file,
      'admin.password': 'GATEWAYD_ADMIN_PASSWORD',
    });
  });

  test('a file of the known name in the working directory is read', () => {
    writeFileSync(join(cwd, CONFIG_FILE), JSON.stringify({ $schema: 'x', port: 4321 }));
    expect(load({ cwd }).config.port).toBe(4321);
  });

  test('every setting of decisions §9 has its name in the environment', () => {
    verifies('settings-env');
    const { config } = load({
      env: {
        GATEWAYD_DATABASE_URL: 'postgres://u:p@h/d',
        GATEWAYD_BLOCKCHAINS_TON_URL: 'https://ton.example/api/v3',
        GATEWAYD_BLOCKCHAINS_BITCOIN_PROVIDER: 'core',
        GATEWAYD_BLOCKCHAINS_BITCOIN_URL: 'http://user:pass@host:8332',
        GATEWAYD_GATEWAYS_TON_USDT_TOKEN_CONTRACT: 'kQ…',
        GATEWAYD_GATEWAYS_TON_USDT_ENABLED: 'no',
        GATEWAYD_GATEWAYS_TON_PAYMENT_TTL_SECONDS: '5',
        GATEWAYD_RATES_SOURCE: 'fixed',
        GATEWAYD_RATES_USD_TON: '3.1',
        GATEWAYD_GOOGLE_CLIENT_ID: 'id',
        GATEWAYD_TELEGRAM_BOT_TOKEN: '1:x',
        GATEWAYD_TRUST_PROXY: '1',
        GATEWAYD_DEMO: 'off',
        GATEWAYD_SMTP_URL: '',
      },
    });
    expect(config.database_url).toBe('postgres://u:p@h/d');
    expect(config.blockchains.ton?.url).toBe('https://ton.example/api/v3');
    expect(config.gateways['ton-usdt']).toEqual({ token_contract: 'kQ…', enabled: false });
    expect(config.gateways.ton?.payment_ttl_seconds).toBe(5);
    expect(config.rates).toEqual({ source: 'fixed', usd: { TON: '3.1' } });
    expect(config.trust_proxy).toBe(true);
    expect(config.demo).toBe(false);
    expect(config.smtp_url).toBeUndefined();
  });

  test('the providers of a blockchain are a list: in the file, in a variable and as a flag', () => {
    verifies('urls-failover');
    const urls = ['https://a.example/api', 'https://b.example:8332'];
    const of = (sources: Sources) => load(sources).config.blockchains.bitcoin;
    expect(of({ file: written({ blockchains: { bitcoin: { urls } } }) })).toEqual({ urls });
    expect(of({ env: { GATEWAYD_BLOCKCHAINS_BITCOIN_URLS: urls.join(', ') } })).toEqual({ urls });
    expect(of({ flags: { 'blockchains.bitcoin.urls': urls.join(' ') } })).toEqual({ urls });
    expect(
      of({ flags: { 'blockchains.bitcoin.provider': 'core', 'blockchains.bitcoin.urls': urls[1] ?? '' } }),
    ).toEqual({ provider: 'core', urls: [urls[1]] });
  });

  test('settings of all chains, gateways and tickers exist, each with a help text and a name of its own', () => {
    const names = settings.map((leaf) => leaf.name);
    for (const { id } of blockchains) expect(names).toContain(`wallets.${id}`);
    for (const id of gatewayIds) expect(names).toContain(`gateways.${id}.min_confirmations`);
    for (const ticker of tickers) expect(names).toContain(`rates.usd.${ticker}`);
    expect(settings.filter((leaf) => leaf.help === '')).toEqual([]);
    for (const key of ['name', 'env', 'flag'] as const)
      expect(new Set(settings.map((leaf) => leaf[key])).size).toBe(settings.length);
  });
});

describe('a secret in a file that a variable names', () => {
  const KEY = 'a secret for tests only';

  test('counts as the variable itself, without the end of its line', () => {
    verifies('settings-files');
    const env = { GATEWAYD_SECRET_FILE: written(`${KEY}\n`) };
    expect(load({ env, file: written({ secret: 'another one, of the file' }) }).config.secret).toBe(KEY);
    const url = 'postgres://gatewayd:secret@postgres/gatewayd';
    const database = { GATEWAYD_DATABASE_URL_FILE: written(`${url}\n`) };
    expect(load({ env: database }).config.database_url).toBe(url);
  });

  test('is refused where it cannot be read, is given twice, or is of a setting that is no secret', () => {
    verifies('settings-files');
    expect(refusal({ env: { GATEWAYD_SECRET_FILE: '/nowhere/secret' } })).toContain(
      'GATEWAYD_SECRET_FILE: the file /nowhere/secret cannot be read',
    );
    const twice = refusal({ env: { GATEWAYD_SECRET: KEY, GATEWAYD_SECRET_FILE: written(KEY) } });
    expect(twice).toContain('GATEWAYD_SECRET and GATEWAYD_SECRET_FILE are both set: remove one');
    expect(twice).not.toContain(KEY);
    expect(refusal({ env: { GATEWAYD_PORT_FILE: written('4021') } })).toContain(
      'unknown environment variable GATEWAYD_PORT_FILE',
    );
  });
});

describe('a configuration is refused', () => {
  test('for an unknown key of the file, naming the nearest known one', () => {
    verifies('settings-unknown');
    expect(refusal({ file: written({ databse_url: 'x' }) })).toContain(
      'unknown setting databse_url: did you mean database_url?',
    );
    expect(refusal({ file: written({ gateways: { 'ton-usdt': { min_confirmation: 1 } } }) })).toContain(
      'unknown setting gateways.ton-usdt.min_confirmation: did you mean gateways.ton-usdt.min_confirmations?',
    );
  });

  test('for an unknown variable, naming the nearest known one', () => {
    expect(refusal({ env: { GATEWAYD_PROT: '1' } })).toContain(
      'unknown environment variable GATEWAYD_PROT: did you mean GATEWAYD_PORT?',
    );
  });

  test('for demo with mainnet', () => {
    verifies('mainnet-no-demo');
    expect(refusal({ flags: { network: 'mainnet', demo: true } })).toContain('refused with network mainnet');
  });

  test('for a wallet that is no address of its blockchain and network', () => {
    verifies('wallet-validated');
    expect(refusal({ file: written({ wallets: { ton: 'nonsense' } }) })).toContain('wallets.ton: ');
    const mainnet_address = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq';
    expect(refusal({ file: written({ wallets: { bitcoin: mainnet_address } }) })).toContain(
      'wallets.bitcoin: ',
    );
    const { config } = load({ file: written({ network: 'mainnet', wallets: { bitcoin: mainnet_address } }) });
    expect(config.wallets).toEqual({ bitcoin: mainnet_address });
  });

  test.each<[string, Sources, string]>([
    ['a port that is no number', { env: { GATEWAYD_PORT: 'x' } }, 'port (GATEWAYD_PORT): '],
    ['a port out of range', { flags: { port: '70000' } }, 'port (--port): '],
    ['a short secret', { flags: { secret: 'short' } }, 'secret (--secret): must have at least 16 characters'],
    ['a short platform key', { flags: { platform_key: `gw_${'x'.repeat(23)}` } }, 'platform_key'],
    ['a platform key without its prefix', { flags: { platform_key: 'x'.repeat(40) } }, 'platform_key'],
    ['an admin password without a mail', { flags: { 'admin.password': 'long enough' } }, 'needs admin.email'],
    ['fixed rates without a figure', { flags: { 'rates.source': 'fixed' } }, 'rates.usd'],
    ['a rate with an exponent', { flags: { 'rates.usd.TON': '1e3' } }, 'rates.usd.TON (--rates-usd-ton)'],
    ['a rate of zero', { flags: { 'rates.usd.TON': '0.0' } }, 'must be greater than 0'],
    [
      'a node without URL',
      { flags: { 'blockchains.bitcoin.provider': 'core' } },
      'needs the URL of its node',
    ],
    [
      'short-lived invoices on mainnet',
      { flags: { network: 'mainnet', 'gateways.ton.payment_ttl_seconds': '5' } },
      'at least 60',
    ],
    [
      'a public URL that paths cannot follow',
      { flags: { public_url: 'https://x.test/?a=1' } },
      'public_url: ',
    ],
    [
      'a provider that is no URL',
      { env: { GATEWAYD_BLOCKCHAINS_TON_URLS: 'https://a.example,b.example' } },
      'blockchains.ton.urls.1 (GATEWAYD_BLOCKCHAINS_TON_URLS): must be a URL',
    ],
    [
      'an address for notifications of a database that has none',
      { flags: { database_listen_url: 'postgres://h/d' } },
      'database_listen_url: needs a database_url of PostgreSQL',
    ],
    [
      'a replica of a database that has none',
      { env: { GATEWAYD_DATABASE_READ_URL: 'postgres://h/d' } },
      'database_read_url: needs a database_url of PostgreSQL',
    ],
    [
      'a token that has no contract on the network',
      { flags: { 'gateways.ethereum-usdt.enabled': true } },
      'gateways.ethereum-usdt.token_contract: must be set, for none is known on testnet',
    ],
    ['a database of another kind', { flags: { database_url: 'mysql://x' } }, 'sqlite:FILE or postgres://'],
  ])('for %s', (_, sources, message) => {
    verifies('platform-key-form');
    expect(refusal(sources)).toContain(message);
  });

  test('for all of its errors at once', () => {
    const message = refusal({
      env: { GATEWAYD_PROT: '1', GATEWAYD_PORT: 'x' },
      flags: { log_level: 'loud' },
    });
    expect(message.split('\n')).toHaveLength(4);
  });

  test('for a file that is not JSON, no object, or not there when it was named', () => {
    expect(refusal({ file: written('{') })).toContain('is not JSON');
    expect(refusal({ file: written('[]') })).toContain('must hold one JSON object');
    expect(refusal({ file: '/nowhere/x.json' })).toContain('cannot be read');
  });

  test('without repeating the secrets it was given', () => {
    expect(refusal({ flags: { platform_key: 'hunter2-hunter2', secret: 'swordfish' } })).not.toMatch(
      /hunter2|swordfish/,
    );
  });
});

test('what is shown of a setting holds no secret', () => {
  const of = (name: string, value: string) =>
    shown(settings.find((leaf) => leaf.name === name) ?? expect.fail(name), value);
  expect(of('secret', 'x')).toBe('(hidden)');
  expect(of('database_url', 'postgres://me:pass@db/x')).toBe('postgres://me:(hidden)@db/x');
  expect(of('database_url', 'sqlite:/a/b')).toBe('sqlite:/a/b');
  expect(of('blockchains.bitcoin.url', 'http://u:p:w@host')).toBe('http://u:(hidden)@host');
  const urls = settings.find(({ name }) => name === 'blockchains.bitcoin.urls') ?? expect.fail();
  expect(shown(urls, ['http://u:p@a.example', 'https://b.example/?key=1'])).toEqual([
    'http://u:(hidden)@a.example',
    'https://b.example/?key=(hidden)',
  ]);
  // Providers hand out keys in queries and in paths.
  expect(of('blockchains.solana.url', 'https://rpc.example.com/?api-key=1a2b&net=main')).toBe(
    'https://rpc.example.com/?api-key=(hidden)&net=(hidden)',
  );
  expect(
    of('blockchains.solana.url', 'https://solana-mainnet-of-someone.example/v2/aB3_xY9-0123456789ab'),
  ).toBe('https://solana-mainnet-of-someone.example/v2/(hidden)');
  expect(of('blockchains.ton.url', 'https://toncenter.example/api/v3')).toBe(
    'https://toncenter.example/api/v3',
  );
  expect(of('database_url', 'postgres://db/x?password=p')).toBe('postgres://db/x?password=(hidden)');
  expect(of('admin.email', 'a@example.com')).toBe('a@example.com');
  const secret = settings.filter((leaf) => leaf.secret === 'whole').map((leaf) => leaf.name);
  expect(secret).toEqual(
    expect.arrayContaining(['secret', 'admin.password', 'platform_key', 'telegram.bot_token']),
  );
});

test('the nearest name is the one with the fewest edits', () => {
  expect(nearest('hots', ['port', 'host', 'network'])).toBe('host');
});
