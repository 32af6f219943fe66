// Reads the settings: flags, environment, file and defaults become one checked configuration.
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { z } from 'zod';
import { type Catalogue, measureFaultsOf } from '../../src/chains/catalogue.ts';
import {
  type Custom,
  contractFaultsOf,
  customFaults,
  type Fault,
  withCustom,
} from '../../src/chains/custom.ts';
import { AddressError } from '../../src/chains/family.ts';
import { builtIn, providerKinds } from '../../src/chains/gateways.ts';
import { decodeText, UnreadableText } from '../../src/clean.ts';
import type { SignupMode } from '../../src/identity.ts';
import { nearest } from '../../src/nearest.ts';
import { DIRECTLY, type Proxies, proxiesIn } from '../../src/proxy.ts';
import {
  isServiceLink,
  type Layer,
  type Leaf,
  leavesOf,
  mergeLayers,
  type Origin,
  readLayer,
} from './layers.ts';
import { customSchema, type Settings, settings, settingsSchema, settingsSchemaFor } from './schema.ts';

/** A configuration or environment that the daemon cannot run with; exit code 78. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

export const CONFIG_FILE = 'gatewayd.config.json';
/** Real money waits at least this long for its buyer. */
const MAINNET_MIN_TTL_SECONDS = 60;
/** Read once: to compile a parser takes longer than to parse. */
const ONCE = { jitless: true };

/** The settings in force: defaults that depend on others are filled in. */
export type Config = Omit<
  Settings,
  | 'demo'
  | 'public_url'
  | 'data_dir'
  | 'database_url'
  | 'webhook_allow_private'
  | 'signup'
  | 'proxy'
  | 'no_proxy'
> & {
  demo: boolean;
  public_url: string;
  data_dir: string;
  database_url: string;
  webhook_allow_private: boolean;
  signup: SignupMode;
  proxies: Proxies;
  /** To the letter, with a line end that may stand behind it. */
  secret_as_written: string | undefined;
  previous_secret_as_written: string | undefined;
  /** The blockchains and gateways there are: those that are built in, and those of the settings. */
  chains: Catalogue;
};

export interface Effective {
  config: Config;
  /** Where the value of each setting comes from, by its dotted path; absent means default. */
  origins: ReadonlyMap<string, Origin>;
  /** Every single setting, with those of what the settings add. */
  settings: readonly Leaf[];
  /** Variables that look like settings and are links to a Service of Kubernetes. */
  service_links: readonly string[];
}

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
  const read = readFile(file, cwd);
  const layersOf = (leaves: readonly Leaf[], errors: string[]) =>
    mergeLayers([
      readLayer(leaves, { kind: 'file', ...read }, errors),
      readLayer(leaves, { kind: 'env', env }, errors),
      readLayer(leaves, { kind: 'flag', flags }, errors),
    ]);
  const custom = customIn(layersOf(settings, []));
  const schema = settingsSchemaFor(withCustom(builtIn, 'testnet', custom));
  const leaves = schema === settingsSchema ? settings : leavesOf(schema);
  const errors: string[] = [];
  const { value, origins, written } = layersOf(leaves, errors);
  const parsed = schema.safeParse(value, ONCE);
  for (const issue of parsed.error?.issues ?? []) errors.push(sentence(issue, origins, leaves));
  const config = parsed.success ? derive(parsed.data, env, written) : undefined;
  const has_figure = (ticker: string) =>
    !config || (config.rates.source === 'fixed' && config.rates.usd[ticker] !== undefined);
  for (const each of customFaults(builtIn, custom, has_figure)) errors.push(located(each, origins));
  if (config) errors.push(...contradictions(config, origins));
  if (!config || errors.length > 0) throw unusable(errors);
  const service_links = Object.keys(env).filter((name) => isServiceLink(name, env[name] ?? ''));
  return { config, origins, settings: leaves, service_links };
}

const unusable = (errors: readonly string[]): ConfigError =>
  new ConfigError(`the configuration cannot be used:\n${errors.map((line) => `  - ${line}`).join('\n')}`);

/** What the settings add to what is built in: it has settings of its own. Throws ConfigError. */
function customIn({ value, origins }: Layer): Custom {
  const { custom_blockchains, custom_gateways } = value;
  const parsed = customSchema.safeParse({ custom_blockchains, custom_gateways }, ONCE);
  if (!parsed.success) throw unusable(parsed.error.issues.map((issue) => sentence(issue, origins, settings)));
  return parsed.data;
}

function readFile(file: string | undefined, cwd: string): { name: string; text: string | undefined } {
  const name = resolve(cwd, file ?? CONFIG_FILE);
  try {
    return { name, text: decodeText(readFileSync(name)) };
  } catch (error) {
    if (file === undefined && (error as NodeJS.ErrnoException).code === 'ENOENT')
      return { name, text: undefined };
    const why = error instanceof UnreadableText ? `it ${error.message}` : (error as Error).message;
    throw new ConfigError(`the configuration file ${name} cannot be read: ${why}`);
  }
}

function sentence(
  issue: z.core.$ZodIssue,
  origins: ReadonlyMap<string, Origin>,
  leaves: readonly Leaf[],
): string {
  const path = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') {
    const known = leaves.map((leaf) => leaf.name).filter((name) => name.startsWith(path));
    return issue.keys
      .map((key) => {
        const name = path ? `${path}.${key}` : key;
        return known.length === 0
          ? `unknown member ${name}`
          : `unknown setting ${name}: did you mean ${nearest(name, known)}?`;
      })
      .join('; ');
  }
  return located({ path, says: issue.message }, origins);
}

/** With where the value is from; a fault of a member of a list is where the list is from. */
function located({ path, says }: Fault, origins: ReadonlyMap<string, Origin>): string {
  const names = path.split('.');
  const origin = names
    .map((_, at) => origins.get(names.slice(0, names.length - at).join('.')))
    .find((each) => each !== undefined);
  return `${path}${origin ? ` (${origin.label})` : ''}: ${says}`;
}

/** Throws ConfigError for a variable that names no proxy: what was to go through one must not go directly. */
function wayOut({ proxy, no_proxy }: Settings, env: Readonly<Record<string, string | undefined>>): Proxies {
  const found = proxiesIn(
    proxy === undefined ? env : { no_proxy: env.no_proxy, NO_PROXY: env.NO_PROXY },
    (name) => {
      throw new ConfigError(
        `${name} must be http://… or https://…; with proxy set to none requests go out directly`,
      );
    },
  );
  const except = no_proxy ?? found.except;
  if (proxy === undefined) return { ...found, except };
  const named = proxy === DIRECTLY ? null : proxy;
  return { http: named, https: named, except, from: 'proxy' };
}

/** Throws ConfigError for a user without a home: a container may run as one that no list of users has. */
function stateHome(env: Readonly<Record<string, string | undefined>>): string {
  if (env.XDG_STATE_HOME?.startsWith('/')) return env.XDG_STATE_HOME;
  try {
    return join(homedir(), '.local', 'state');
  } catch {
    throw new ConfigError('this user has no home directory: name one for the data, in data_dir');
  }
}

function derive(
  read: Settings,
  env: Readonly<Record<string, string | undefined>>,
  written: Layer['written'],
): Config {
  const demo = read.demo ?? read.network === 'testnet';
  const data_dir = resolve(read.data_dir ?? join(stateHome(env), 'gatewayd'));
  const { proxy: _, no_proxy: __, ...stated } = read;
  return {
    ...stated,
    proxies: wayOut(read, env),
    // Where a database was made with the line end that stood behind its secret, that opens it still.
    secret_as_written: written.get('secret'),
    previous_secret_as_written: written.get('previous_secret'),
    demo,
    data_dir,
    public_url: (read.public_url ?? localUrl(read.host, read.port)).replace(/\/+$/, ''),
    database_url: read.database_url ?? `sqlite:${join(data_dir, 'gatewayd.db')}`,
    webhook_allow_private: read.webhook_allow_private ?? demo,
    signup: read.signup ?? (read.network === 'mainnet' ? 'closed' : 'open'),
    chains: withCustom(builtIn, read.network, read),
  };
}

/** How this machine reaches itself on that host and port. */
export function localUrl(host: string, port: number): string {
  const own = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${own.includes(':') ? `[${own}]` : own}:${port}`;
}

/** What each value alone does not show to be wrong. */
function contradictions(config: Config, origins: ReadonlyMap<string, Origin>): string[] {
  const errors = faultsOfChains(config).map((each) => located(each, origins));
  const { network, rates, admin } = config;
  if (network === 'mainnet' && config.demo)
    errors.push('demo: simulated payments are refused with network mainnet');
  if (admin.password && !admin.email) errors.push('admin.password: needs admin.email');
  if (config.previous_secret !== undefined && config.secret === undefined)
    errors.push('previous_secret: needs secret');
  for (const name of ['database_listen_url', 'database_read_url'] as const)
    if (config[name] && config.database_url.startsWith('sqlite:'))
      errors.push(`${name}: needs a database_url of PostgreSQL`);
  for (const [at, { to }] of config.notify.entries())
    if (to.startsWith('telegram:') && !config.telegram.bot_token)
      errors.push(`notify.${at}: ${to} needs telegram.bot_token`);
  const { username, search, hash } = new URL(config.public_url);
  if (username || search || hash)
    errors.push('public_url: must be scheme, host and path only, for paths are put behind it');
  if (Number(config.service_fee_percent) > 100) errors.push('service_fee_percent: must be at most 100');
  if (rates.source === 'fixed' && !Object.values(rates.usd).some((usd) => usd !== undefined))
    errors.push('rates.usd: rates.source fixed needs at least one figure');
  for (const [ticker, usd] of Object.entries(rates.usd))
    if (usd !== undefined && !/[1-9]/.test(usd)) errors.push(`rates.usd.${ticker}: must be greater than 0`);
  for (const [id, address] of Object.entries(config.wallets)) {
    const fault = address === undefined ? null : addressFault(config, id, address);
    if (fault) errors.push(`wallets.${id}: ${fault}`);
  }
  for (const [id, { payment_ttl_seconds: ttl }] of Object.entries(config.gateways))
    if (network === 'mainnet' && ttl !== undefined && ttl < MAINNET_MIN_TTL_SECONDS)
      errors.push(
        `gateways.${id}.payment_ttl_seconds: must be at least ${MAINNET_MIN_TTL_SECONDS} on mainnet`,
      );
  for (const chain of config.chains.withoutContract(network, config.gateways))
    errors.push(`gateways.${chain}.token_contract: must be set, for none is known on ${network}`);
  for (const [id, chain] of Object.entries(config.blockchains))
    if (chain.url === undefined && chain.urls === undefined && needsUrl(chain.provider))
      errors.push(`blockchains.${id}.url: provider ${chain.provider} needs the URL of its node`);
  return errors;
}

const needsUrl = (provider: string | undefined): boolean =>
  providerKinds.some(({ kind, needs_url }) => kind === provider && needs_url);

/** What is wrong with the blockchains and gateways that the settings add, and with contracts. */
function faultsOfChains(config: Config): Fault[] {
  const { network, chains, blockchains, gateways, custom_blockchains } = config;
  const unread = custom_blockchains.flatMap(({ id }) => {
    const { url, urls } = blockchains[id] ?? {};
    const says = `must be set: of a blockchain of custom_blockchains no public provider is known`;
    return url === undefined && urls === undefined ? [{ path: `blockchains.${id}.url`, says }] : [];
  });
  return [
    ...contractFaultsOf(chains, network, gateways),
    ...measureFaultsOf(chains, gateways, blockchains),
    ...unread,
  ];
}

function addressFault({ chains, network }: Config, id: string, address: string): string | null {
  try {
    chains.find(id)?.family.normalizeAddress(address, network);
    return null;
  } catch (error) {
    if (error instanceof AddressError) return error.message;
    throw error;
  }
}
