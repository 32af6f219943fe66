// The settings: one schema is their names, types, defaults and help; values come from flags, environment, file, defaults.
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { AddressError, type Network } from '../src/chains/chain.ts';
import { blockchains, findBlockchain, gatewayIds, tickers } from '../src/chains/gateways.ts';
import { PLATFORM_KEY_PATTERN } from '../src/keys.ts';
import { MIN_SECRET_LENGTH } from './secrets.ts';
import { type Leaf, leavesOf, mergeLayers, nearest, type Origin, readLayer } from './settings.ts';

/** A configuration or environment that the daemon cannot run with; exit code 78. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

export const CONFIG_FILE = 'gatewayd.config.json';
const MAX_PORT = 65_535;
const MAX_CONFIRMATIONS = 10_000;
const MAX_TTL_SECONDS = 7 * 24 * 3600;
const MAX_POLL_SECONDS = 3600;
/** Real money waits at least this long for its buyer. */
const MAINNET_MIN_TTL_SECONDS = 60;
const TESTNET_MIN_TTL_SECONDS = 5;

const text = (help: string) => z.string().min(1).describe(help);
const secret = (help: string) => text(help).meta({ secret: true });
const decimalText = (help: string) =>
  z
    .union([z.string(), z.number()])
    .transform(String)
    .pipe(z.string().regex(/^\d{1,9}(\.\d{1,18})?$/, 'must be a plain decimal number'))
    .describe(help);
const url = (protocols: RegExp, help: string) =>
  z.url({ protocol: protocols, error: 'must be a URL' }).describe(help);
const whole = (min: number, max: number, help: string) => z.int().min(min).max(max).describe(help);
const perMinute = (calls: number, help: string) =>
  whole(0, 1_000_000, `${help}, per minute; 0 turns it off`).default(calls);

/** One member for each name. */
const each = <T extends z.ZodType>(names: readonly string[], make: (name: string) => T) =>
  z.strictObject(Object.fromEntries(names.map((name) => [name, make(name)]))).prefault({});

const chainIds = blockchains.map((chain) => chain.id);

export const settingsSchema = z.strictObject({
  network: z.enum(['testnet', 'mainnet']).default('testnet').describe('mainnet moves real money'),
  demo: z
    .boolean()
    .optional()
    .describe('allow simulated payments; default: on with testnet, never with mainnet'),
  host: z
    .string()
    .regex(/^(?!-)[\d.:A-Za-z-]{1,63}(?<!-)$/, 'must be an address or a host name')
    .default('127.0.0.1')
    .describe('address to listen on'),
  port: whole(0, MAX_PORT, 'port to listen on; 0 takes a free one').default(4020),
  public_url: url(/^https?$/, 'how buyers reach this daemon; default: from host and port').optional(),
  data_dir: text('where state is kept; default: $XDG_STATE_HOME/gatewayd').optional(),
  database_url: z
    .string()
    .regex(/^(sqlite:.+|postgres(ql)?:\/\/.+)$/, 'must be sqlite:FILE or postgres://…')
    .meta({ secret_url: true })
    .describe('sqlite:FILE or postgres://…; default: a file in data_dir')
    .optional(),
  secret: z
    .string()
    .min(MIN_SECRET_LENGTH, `must have at least ${MIN_SECRET_LENGTH} characters`)
    .meta({ secret: true })
    .describe('encrypts stored keys and signs tokens; default: made once, in data_dir/secret')
    .optional(),
  admin: z
    .strictObject({
      email: z.email('must be a mail address').optional().describe('first superuser'),
      password: z
        .string()
        .min(8, 'must have at least 8 characters')
        .max(128)
        .meta({ secret: true })
        .optional()
        .describe('its password; default: made at the first start and shown once'),
    })
    .prefault({}),
  platform_key: z
    .string()
    .regex(PLATFORM_KEY_PATTERN, 'must be gw_ and at least 24 further characters')
    .meta({ secret: true })
    .optional()
    .describe("key of the operator's own invoices, paid to the wallets below"),
  wallets: each(chainIds, (id) =>
    text(`receive address on ${id} for platform invoices and refills`).optional(),
  ),
  service_fee_percent: decimalText("surcharge on the buyer's total").default('0'),
  rates: z
    .strictObject({
      source: z
        .enum(['live', 'fixed'])
        .default('live')
        .describe('live: median of public sources; fixed: the figures below'),
      usd: each(tickers, (ticker) =>
        decimalText(`USD for one ${ticker}, with rates.source fixed`).optional(),
      ),
    })
    .prefault({}),
  smtp_url: url(/^smtps?$/, 'mail server; without it no mail is sent')
    .meta({ secret_url: true })
    .optional(),
  mail_from: text('sender of mails').optional(),
  google: z
    .strictObject({
      client_id: text('turns on sign-in with Google').optional(),
      jwks_url: url(/^https?$/, 'keys of Google').default('https://www.googleapis.com/oauth2/v3/certs'),
    })
    .prefault({}),
  telegram: z.strictObject({ bot_token: secret('turns on sign-in with Telegram').optional() }).prefault({}),
  webhook_allow_private: z
    .boolean()
    .optional()
    .describe('send webhooks to private addresses too; default: as demo'),
  blockchains: each(chainIds, (id) =>
    z
      .strictObject({
        provider: z
          .enum(['toncenter', 'solana', 'esplora', 'core'])
          .optional()
          .describe(`kind of the ${id} provider`),
        url: url(/^https?$/, `${id} provider; default: public ones`)
          .meta({ secret_url: true })
          .optional(),
        api_key: secret(`key of the ${id} provider`).optional(),
      })
      .prefault({}),
  ),
  gateways: each(gatewayIds, (id) =>
    z
      .strictObject({
        enabled: z.boolean().optional().describe(`offer ${id}`),
        token_contract: text(`contract, mint or master of ${id}`).optional(),
        min_confirmations: whole(1, MAX_CONFIRMATIONS, `confirmations ${id} waits for`).optional(),
        poll_interval_seconds: whole(1, MAX_POLL_SECONDS, `pause between looks at ${id}`).optional(),
        payment_ttl_seconds: whole(
          TESTNET_MIN_TTL_SECONDS,
          MAX_TTL_SECONDS,
          `how long a ${id} invoice waits`,
        ).optional(),
        unique_amount: z.boolean().optional().describe(`match ${id} by amount as well as by memo`),
      })
      .prefault({}),
  ),
  log_level: z
    .enum(['silent', 'error', 'warn', 'info', 'debug'])
    .default('info')
    .describe('how much is logged to stderr'),
  trust_proxy: z
    .boolean()
    .default(false)
    .describe("take callers' addresses from the last entry of X-Forwarded-For"),
  limits: z
    .strictObject({
      login_per_address: perMinute(10, 'sign-ins of one address'),
      login_per_identity: perMinute(5, 'sign-ins of one identity'),
      recovery_per_address: perMinute(10, 'password recoveries of one address'),
      recovery_per_identity: perMinute(5, 'password recoveries of one identity'),
      signup_per_address: perMinute(10, 'sign-ups of one address'),
      checkout_per_address: perMinute(30, 'public checkouts of one address'),
    })
    .prefault({}),
});

type Settings = z.output<typeof settingsSchema>;

/** The settings in force: defaults that depend on others are filled in. */
export type Config = Omit<
  Settings,
  'demo' | 'public_url' | 'data_dir' | 'database_url' | 'webhook_allow_private'
> & {
  demo: boolean;
  public_url: string;
  data_dir: string;
  database_url: string;
  webhook_allow_private: boolean;
};

export interface Effective {
  config: Config;
  /** Where the value of each setting comes from, by its dotted path; absent means default. */
  origins: ReadonlyMap<string, Origin>;
}

/** Every single setting, in the order of the schema. */
export const settings: readonly Leaf[] = leavesOf(settingsSchema);

export interface Sources {
  /** Values of flags by dotted path, as typed. */
  flags?: Readonly<Record<string, string | boolean>>;
  env?: Readonly<Record<string, string | undefined>>;
  /** `--config FILE`; without it, `gatewayd.config.json` of `cwd` where there is one. */
  file?: string | undefined;
  cwd?: string;
}

/** Reads and checks all settings; every error at once, as one ConfigError. */
export function loadConfig({
  flags = {},
  env = process.env,
  file,
  cwd = process.cwd(),
}: Sources = {}): Effective {
  const errors: string[] = [];
  const layers = [
    readLayer(settings, { kind: 'file', ...readFile(file, cwd) }, errors),
    readLayer(settings, { kind: 'env', env }, errors),
    readLayer(settings, { kind: 'flag', flags }, errors),
  ];
  const { value, origins } = mergeLayers(layers);
  const parsed = settingsSchema.safeParse(value);
  for (const issue of parsed.error?.issues ?? []) errors.push(sentence(issue, origins));
  const config = parsed.success ? derive(parsed.data, env) : undefined;
  if (config) errors.push(...contradictions(config));
  if (!config || errors.length > 0)
    throw new ConfigError(
      `the configuration cannot be used:\n${errors.map((line) => `  - ${line}`).join('\n')}`,
    );
  return { config, origins };
}

function readFile(file: string | undefined, cwd: string): { name: string; text: string | undefined } {
  const name = resolve(cwd, file ?? CONFIG_FILE);
  try {
    return { name, text: readFileSync(name, 'utf8') };
  } catch (error) {
    if (file === undefined && (error as NodeJS.ErrnoException).code === 'ENOENT')
      return { name, text: undefined };
    throw new ConfigError(`the configuration file ${name} cannot be read: ${(error as Error).message}`);
  }
}

function sentence(issue: z.core.$ZodIssue, origins: ReadonlyMap<string, Origin>): string {
  const path = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') {
    const known = settings.map((leaf) => leaf.name).filter((name) => name.startsWith(path));
    return issue.keys
      .map((key) => {
        const name = path ? `${path}.${key}` : key;
        return `unknown setting ${name}: did you mean ${nearest(name, known)}?`;
      })
      .join('; ');
  }
  const origin = origins.get(path);
  return `${path}${origin ? ` (${origin.label})` : ''}: ${issue.message}`;
}

function derive(read: Settings, env: Readonly<Record<string, string | undefined>>): Config {
  const demo = read.demo ?? read.network === 'testnet';
  const state = env.XDG_STATE_HOME?.startsWith('/') ? env.XDG_STATE_HOME : join(homedir(), '.local', 'state');
  const data_dir = resolve(read.data_dir ?? join(state, 'gatewayd'));
  return {
    ...read,
    demo,
    data_dir,
    public_url: (read.public_url ?? localUrl(read.host, read.port)).replace(/\/+$/, ''),
    database_url: read.database_url ?? `sqlite:${join(data_dir, 'gatewayd.db')}`,
    webhook_allow_private: read.webhook_allow_private ?? demo,
  };
}

/** How this machine reaches itself on that host and port. */
export function localUrl(host: string, port: number): string {
  const own = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${own.includes(':') ? `[${own}]` : own}:${port}`;
}

/** What each value alone does not show to be wrong. */
function contradictions(config: Config): string[] {
  const errors: string[] = [];
  const { network, rates, admin } = config;
  if (network === 'mainnet' && config.demo)
    errors.push('demo: simulated payments are refused with network mainnet');
  if (admin.password && !admin.email) errors.push('admin.password: needs admin.email');
  if (Number(config.service_fee_percent) > 100) errors.push('service_fee_percent: must be at most 100');
  if (rates.source === 'fixed' && !Object.values(rates.usd).some((usd) => usd !== undefined))
    errors.push('rates.usd: rates.source fixed needs at least one figure');
  for (const [ticker, usd] of Object.entries(rates.usd))
    if (usd !== undefined && Number(usd) <= 0) errors.push(`rates.usd.${ticker}: must be greater than 0`);
  for (const [id, address] of Object.entries(config.wallets)) {
    const fault = address === undefined ? null : addressFault(id, address, network);
    if (fault) errors.push(`wallets.${id}: ${fault}`);
  }
  for (const [id, { payment_ttl_seconds: ttl }] of Object.entries(config.gateways))
    if (network === 'mainnet' && ttl !== undefined && ttl < MAINNET_MIN_TTL_SECONDS)
      errors.push(
        `gateways.${id}.payment_ttl_seconds: must be at least ${MAINNET_MIN_TTL_SECONDS} on mainnet`,
      );
  for (const [id, chain] of Object.entries(config.blockchains))
    if (chain.provider === 'core' && chain.url === undefined)
      errors.push(`blockchains.${id}.url: provider core needs the URL of its node`);
  return errors;
}

function addressFault(id: string, address: string, network: Network): string | null {
  try {
    findBlockchain(id)?.family.normalizeAddress(address, network);
    return null;
  } catch (error) {
    if (error instanceof AddressError) return error.message;
    throw error;
  }
}
