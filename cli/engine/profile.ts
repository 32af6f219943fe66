// Where gw talks to and as whom: flags over GW_* over the profile over defaults; profiles are stored in one 0600 file.
import { chmodSync, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { GwError, usage } from './errors.ts';
import { DEFAULT_URL, type GlobalValues, variableOf } from './globals.ts';
import { isPlain } from './transport.ts';

/** What a profile can hold. */
export const profileKeys = ['url', 'api_key', 'token', 'email', 'listen_secret', 'sandbox'] as const;
export type ProfileKey = (typeof profileKeys)[number];
export type Profile = Partial<Record<ProfileKey, string>>;

/** What only the service may see that gave it. */
const credentials = ['api_key', 'token'] as const satisfies readonly ProfileKey[];

export const isSecret = (key: ProfileKey): boolean =>
  key === 'listen_secret' || key === 'sandbox' || credentials.some((each) => each === key);

export const DEFAULT_PROFILE = 'default';
/** Keys and tokens are sent as headers. */
const HEADER_VALUE = /^[\x20-\x7e]*$/;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Where a value is from. */
export type Origin = 'flag' | 'environment' | 'profile' | 'default';
export interface Setting {
  value: string;
  origin: Origin;
}

interface Stored extends Record<string, unknown> {
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
    // Reported after conf knows its path, so that the file can be named.
    deserialize(text: string): Stored {
      try {
        return JSON.parse(text) as Stored;
      } catch (error) {
        broken = error as Error;
        return {} as Stored;
      }
    },
    ...(env.GW_CONFIG_DIR ? { cwd: env.GW_CONFIG_DIR } : {}),
  };
  let conf: InstanceType<typeof Conf<Stored>>;
  try {
    conf = new Conf<Stored>(options);
    if (existsSync(conf.path)) void conf.store;
  } catch (error) {
    throw new GwError('config', `the profiles cannot be read: ${(error as Error).message}`);
  }
  if (broken)
    throw new GwError('config', `the profiles cannot be read: ${broken.message}`, {
      hint: `correct or remove ${conf.path}`,
    });
  const profiles = (): Record<string, Profile> => conf.get('profiles', {});
  const save = (values: Partial<Stored>): void => {
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
  throw usage(`“${name}” is not a valid profile name: use letters, digits, dots, dashes and underscores`);
}

/** Settings in force, with their origin. */
export class Settings {
  readonly store: Store;
  readonly profile: Setting;
  readonly #globals: Pick<GlobalValues, 'flag' | 'isOn'>;
  readonly #env: NodeJS.ProcessEnv;
  constructor(store: Store, globals: Pick<GlobalValues, 'flag' | 'isOn'>, env: NodeJS.ProcessEnv) {
    this.store = store;
    this.#globals = globals;
    this.#env = env;
    const { value, origin } = this.#given('profile') ?? { value: store.current(), origin: 'profile' };
    this.profile = { value: origin === 'profile' ? value : checkName(value), origin };
  }
  /** From the command line or the environment. */
  #given(name: 'url' | 'api-key' | 'token' | 'profile'): Setting | undefined {
    const flag = this.#globals.flag(name);
    if (flag) return { value: flag, origin: 'flag' };
    const variable = this.#env[variableOf(name) ?? ''];
    return variable ? { value: variable, origin: 'environment' } : undefined;
  }
  get(key: ProfileKey): Setting | undefined {
    const found = this.#find(key);
    if (found && (key === 'api_key' || key === 'token') && !HEADER_VALUE.test(found.value))
      throw new GwError(
        'config',
        `the ${key} (${found.origin}) contains characters that are not allowed in a key`,
        {
          hint: 'check that you copied all of it; gw login stores a new one',
        },
      );
    return found;
  }
  #find(key: ProfileKey): Setting | undefined {
    const given =
      key === 'url' || key === 'token'
        ? this.#given(key)
        : key === 'api_key'
          ? this.#given('api-key')
          : undefined;
    if (given) return given;
    const stored = this.store.read(this.profile.value)[key];
    if (stored) return { value: stored, origin: 'profile' };
    return key === 'url' ? { value: DEFAULT_URL, origin: 'default' } : undefined;
  }
  /** Where the credentials of the profile are for. */
  get home(): string {
    return originOf(this.store.read(this.profile.value).url ?? DEFAULT_URL);
  }
  /** Whether the profile has any. */
  get holds(): boolean {
    const stored = this.store.read(this.profile.value);
    return credentials.some((key) => stored[key] !== undefined);
  }
  /**
   * A key to send. Throws GwError where it is the profile's, and the service in force is not the one that it is for; where
   * another was given for that service, there is just none.
   */
  credential(key: (typeof credentials)[number]): string | undefined {
    const found = this.get(key);
    const origin = originOf(this.url);
    if (found?.origin !== 'profile' || origin === this.home) return found?.value;
    const given = credentials.map((each) => this.get(each)).some((each) => each && each.origin !== 'profile');
    if (given) return undefined;
    throw new GwError(
      'config',
      `the ${key} of the profile ${this.profile.value} is for ${this.home}, and is not sent to ${origin}`,
      {
        code: 'foreign_credential',
        hint: `gw login --url ${origin} --profile NAME, or give one for that address in the environment`,
      },
    );
  }
  /** The service's address, without a slash at its end. */
  get url(): string {
    const { value, origin } = this.get('url') ?? { value: DEFAULT_URL, origin: 'default' };
    const { protocol, username } = URL.canParse(value) ? new URL(value) : { protocol: '', username: '' };
    if (!/^https?:$/.test(protocol) || username)
      throw new GwError('config', `“${value}” (${origin}) is not an http or https address`, {
        hint: `--url ${DEFAULT_URL}, GW_URL, or gw config set url ${DEFAULT_URL}`,
      });
    if (isPlain(new URL(value)) && !this.#globals.isOn('plain-http'))
      throw new GwError(
        'config',
        `“${value}” (${origin}) is not encrypted: keys and passwords could be read`,
        {
          code: 'plain_http',
          hint: 'use its https address, or --plain-http (GW_PLAIN_HTTP=1) on a network you trust',
        },
      );
    return value.replace(/\/+$/, '');
  }
  write(values: { [Key in ProfileKey]?: string | undefined }): void {
    this.store.write(this.profile.value, values);
  }
  /** Stores what the service in force gave; what another one gave leaves the profile. */
  signIn(values: { [Key in ProfileKey]?: string | undefined }): void {
    const isOther = originOf(this.url) !== this.home;
    const none = Object.fromEntries(credentials.map((key) => [key, undefined]));
    this.write({ ...(isOther && none), url: this.url, ...values });
  }
}

const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : url);
