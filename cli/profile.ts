// Where gw talks to and as whom: flags over GW_* over the profile over defaults; profiles are kept in one 0600 file.
import { chmodSync, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { GwError, usage } from './errors.ts';

/** What a profile can hold. */
export const profileKeys = ['url', 'api_key', 'token', 'email', 'listen_secret'] as const;
export type ProfileKey = (typeof profileKeys)[number];
export type Profile = Partial<Record<ProfileKey, string>>;

export const isSecret = (key: ProfileKey): boolean => key !== 'url' && key !== 'email';

export const DEFAULT_URL = 'http://127.0.0.1:4020';
const DEFAULT_PROFILE = 'default';
/** Keys and tokens are sent as headers. */
const HEADER_VALUE = /^[\x20-\x7e]*$/;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Where a value is from. */
export type Origin = 'flag' | 'environment' | 'profile' | 'default';
export interface Setting {
  value: string;
  origin: Origin;
}

interface Kept extends Record<string, unknown> {
  current: string;
  profiles: Record<string, Profile>;
}

export interface Store {
  readonly path: string;
  /** The profile in use by default. */
  current(): string;
  use(name: string): void;
  names(): string[];
  read(name: string): Profile;
  /** Undefined removes a key. */
  write(name: string, values: { [Key in ProfileKey]?: string | undefined }): void;
  remove(name: string): void;
}

/** Opens the file of profiles; GW_CONFIG_DIR names another directory. Nothing is written until something is set. */
export async function openStore(env: NodeJS.ProcessEnv): Promise<Store> {
  const { default: Conf } = await import('conf');
  let broken: Error | undefined;
  const options = {
    projectName: 'gatewayd',
    projectSuffix: '',
    configName: 'gw',
    configFileMode: 0o600,
    accessPropertiesByDotNotation: false,
    // Told after conf knows its path, so that the file can be named.
    deserialize(text: string): Kept {
      try {
        return JSON.parse(text) as Kept;
      } catch (error) {
        broken = error as Error;
        return {} as Kept;
      }
    },
    ...(env.GW_CONFIG_DIR ? { cwd: env.GW_CONFIG_DIR } : {}),
  };
  let conf: InstanceType<typeof Conf<Kept>>;
  try {
    conf = new Conf<Kept>(options);
    if (existsSync(conf.path)) void conf.store;
  } catch (error) {
    throw new GwError('config', `the profiles cannot be read: ${(error as Error).message}`);
  }
  if (broken)
    throw new GwError('config', `the profiles cannot be read: ${broken.message}`, {
      hint: `mend or remove ${conf.path}`,
    });
  const profiles = (): Record<string, Profile> => conf.get('profiles', {});
  const save = (values: Partial<Kept>): void => {
    conf.set(values);
    // An older file, or a directory that conf made on the way, may be open to others.
    chmodSync(conf.path, 0o600);
    if (!env.GW_CONFIG_DIR) chmodSync(dirname(conf.path), 0o700);
  };
  return {
    path: conf.path,
    current: () => conf.get('current', DEFAULT_PROFILE),
    use: (name) => save({ current: checkName(name) }),
    names: () => Object.keys(profiles()),
    read: (name) => profiles()[name] ?? {},
    write(name, values) {
      const merged = Object.entries({ ...profiles()[checkName(name)], ...values });
      const profile = Object.fromEntries(merged.filter(([, value]) => value !== undefined)) as Profile;
      save({ profiles: { ...profiles(), [name]: profile } });
    },
    remove(name) {
      const { [name]: _, ...others } = profiles();
      save({ profiles: others });
    },
  };
}

function checkName(name: string): string {
  if (NAME.test(name) && name !== '__proto__') return name;
  throw usage(`“${name}” is no name of a profile: letters, digits, dot, dash and underscore`);
}

/** The global flags that say where and as whom. */
export interface Target {
  url?: string | undefined;
  api_key?: string | undefined;
  token?: string | undefined;
  profile?: string | undefined;
}

const variables: Partial<Record<ProfileKey, string>> = {
  url: 'GW_URL',
  api_key: 'GW_API_KEY',
  token: 'GW_TOKEN',
};

/** Settings in force, with their origin. */
export class Settings {
  readonly store: Store;
  readonly profile: Setting;
  readonly #flags: Target;
  readonly #env: NodeJS.ProcessEnv;
  constructor(store: Store, flags: Target, env: NodeJS.ProcessEnv) {
    this.store = store;
    this.#flags = flags;
    this.#env = env;
    this.profile = flags.profile
      ? { value: checkName(flags.profile), origin: 'flag' }
      : env.GW_PROFILE
        ? { value: checkName(env.GW_PROFILE), origin: 'environment' }
        : { value: store.current(), origin: 'profile' };
  }
  get(key: ProfileKey): Setting | undefined {
    const found = this.#find(key);
    if (found && (key === 'api_key' || key === 'token') && !HEADER_VALUE.test(found.value))
      throw new GwError('config', `the ${key} (${found.origin}) has characters that no key has`, {
        hint: 'was it copied whole? gw login keeps a new one',
      });
    return found;
  }
  #find(key: ProfileKey): Setting | undefined {
    const flag = key === 'url' || key === 'api_key' || key === 'token' ? this.#flags[key] : undefined;
    if (flag) return { value: flag, origin: 'flag' };
    const variable = this.#env[variables[key] ?? ''];
    if (variable) return { value: variable, origin: 'environment' };
    const kept = this.store.read(this.profile.value)[key];
    if (kept) return { value: kept, origin: 'profile' };
    return key === 'url' ? { value: DEFAULT_URL, origin: 'default' } : undefined;
  }
  /** The service's address, without a slash at its end. */
  get url(): string {
    const { value, origin } = this.get('url') ?? { value: DEFAULT_URL, origin: 'default' };
    const { protocol, username } = URL.canParse(value) ? new URL(value) : { protocol: '', username: '' };
    if (!/^https?:$/.test(protocol) || username)
      throw new GwError('config', `“${value}” (${origin}) is no http or https address`, {
        hint: `--url ${DEFAULT_URL}, GW_URL, or gw config set url ${DEFAULT_URL}`,
      });
    return value.replace(/\/+$/, '');
  }
  write(values: { [Key in ProfileKey]?: string | undefined }): void {
    this.store.write(this.profile.value, values);
  }
}

/** `gw_…3kQz`: enough to tell keys apart, too little to use. */
export const masked = (secret: string): string =>
  secret.length > 16 ? `${secret.slice(0, 3)}…${secret.slice(-4)}` : '…';
