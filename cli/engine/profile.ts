// Where gw talks to and as whom: flags over GW_* over the profile over defaults; profiles are stored in one 0600 file, their
// secrets in the keyring of the system where there is one.

import { chmodSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type Conf from 'conf';
import { cleanText, decodeText } from '../../src/clean.ts';
import { nearest } from '../../src/nearest.ts';
import { isPlain } from './address.ts';
import { GwError, usage } from './errors.ts';
import { DEFAULT_URL, type GlobalValues, variableOf } from './globals.ts';
import { accountOf, findKeyring, type Keyring } from './keyring.ts';

/** What a profile can hold. */
export const profileKeys = ['url', 'api_key', 'token', 'email', 'listen_secret', 'sandbox'] as const;
export type ProfileKey = (typeof profileKeys)[number];
export type Profile = Partial<Record<ProfileKey, string>>;

/** What only the service may see that gave it. */
const credentials = ['api_key', 'token'] as const satisfies readonly ProfileKey[];

export const isSecret = (key: ProfileKey): boolean =>
  key === 'listen_secret' || key === 'sandbox' || credentials.some((each) => each === key);

/** The directory and the file of the profiles. */
const PROJECT = 'gatewayd';
const FILE = 'gw';

export const DEFAULT_PROFILE = 'default';
/** Keys and tokens are sent as headers. */
const HEADER_VALUE = /^[\x20-\x7e]*$/;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Where a value is from. */
export type Origin = 'flag' | 'environment' | 'profile' | 'keyring' | 'default';
export interface Setting {
  value: string;
  origin: Origin;
}

interface Stored extends Record<string, unknown> {
  current: string;
  profiles: Record<string, StoredProfile>;
  aliases: Record<string, string>;
}

/** `keyring`: the one that has its secrets, which are not in the file then. */
type StoredProfile = Profile & { keyring?: string };

export interface Store {
  readonly path: string;
  /** The profile in use by default. */
  current(): string;
  use(name: string): Promise<void>;
  names(): string[];
  read(name: string): Profile;
  /** Its secrets, and the keyring that has them; undefined where the file does. */
  secrets(name: string): { values: Profile; keyring: string | undefined };
  /** Undefined removes a key. */
  write(name: string, values: { [Key in ProfileKey]?: string | undefined }): Promise<void>;
  remove(name: string): Promise<void>;
  /** The user's own names for command lines. */
  aliases(): Readonly<Record<string, string>>;
  /** Undefined removes one. */
  setAlias(name: string, line: string | undefined): Promise<void>;
}

/** Where programs of this system keep their settings. As conf has it, which takes longer to load than a command to run. */
function directoryOf({ GW_CONFIG_DIR, XDG_CONFIG_HOME, APPDATA }: NodeJS.ProcessEnv): string {
  if (GW_CONFIG_DIR) return resolve(GW_CONFIG_DIR);
  if (process.platform === 'darwin') return join(home(), 'Library', 'Preferences', PROJECT);
  if (process.platform === 'win32')
    return join(APPDATA || join(home(), 'AppData', 'Roaming'), PROJECT, 'Config');
  return join(XDG_CONFIG_HOME || join(home(), '.config'), PROJECT);
}

/** A container may run as a user that no list of users has. */
function home(): string {
  try {
    return homedir();
  } catch {
    throw new GwError('config', 'this user has no home directory, in which the profiles would be', {
      hint: 'name a directory in GW_CONFIG_DIR',
    });
  }
}

/** What the file has; nothing where there is none. */
function readStore(path: string): Partial<Stored> {
  let text: string;
  try {
    text = decodeText(readFileSync(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new GwError('config', `the profiles cannot be read: ${(error as Error).message}`);
  }
  try {
    return JSON.parse(text) as Stored;
  } catch (error) {
    throw new GwError('config', `the profiles cannot be read: ${(error as Error).message}`, {
      hint: `correct or remove ${path}`,
    });
  }
}

/** Opens the file of profiles; GW_CONFIG_DIR names another directory. Nothing is written until something is set. */
export async function openStore(env: NodeJS.ProcessEnv): Promise<Store> {
  const directory = directoryOf(env);
  const path = join(directory, `${FILE}.json`);
  readStore(path);
  const profiles = (): Record<string, StoredProfile> => readStore(path).profiles ?? {};
  let Writer: typeof Conf | undefined;
  const loadWriter = async (): Promise<typeof Conf> => {
    // It looks for a home directory, of which nothing is used, and fails where there is none.
    process.env.HOME ??= directory;
    return (await import('conf')).default;
  };
  /** At once where something was written before: a process that ends waits for nothing. */
  const save = async (values: Partial<Stored>): Promise<void> => {
    Writer ??= await loadWriter();
    const options = { cwd: directory, configName: FILE, configFileMode: 0o600 };
    try {
      new Writer<Stored>({ ...options, accessPropertiesByDotNotation: false }).set(values);
    } catch (error) {
      throw new GwError('config', `the profiles cannot be written: ${(error as Error).message}`);
    }
    // An older file, or a directory that conf made on the way, may be open to others.
    chmodSync(path, 0o600);
    if (!env.GW_CONFIG_DIR) chmodSync(directory, 0o700);
  };
  const read = (name: string): StoredProfile => profiles()[name] ?? {};
  const { secrets, write, removeSecrets } = secretsIn(env, path, read, (name, profile) =>
    save({ profiles: { ...profiles(), [name]: profile } }),
  );
  return {
    path,
    current: () => readStore(path).current ?? DEFAULT_PROFILE,
    use: async (name) => save({ current: checkName(name) }),
    names: () => Object.keys(profiles()),
    read,
    secrets,
    write,
    async remove(name) {
      removeSecrets(name);
      const { [name]: _, ...others } = profiles();
      await save({ profiles: others });
    },
    aliases: () => readStore(path).aliases ?? {},
    async setAlias(name, line) {
      const { [name]: _, ...others } = readStore(path).aliases ?? {};
      await save({ aliases: line === undefined ? others : { ...others, [name]: line } });
    },
  };
}

const isSecretName = (name: string): boolean => isSecret(name as ProfileKey);

/** The members of a profile that are secrets, or those that are none. */
const part = (profile: Readonly<Record<string, string | undefined>>, secret: boolean): Profile =>
  Object.fromEntries(
    Object.entries(profile).filter(([name, value]) => value !== undefined && isSecretName(name) === secret),
  );

/** Reads and writes profiles whose secrets are in the keyring, or in the file where there is none. */
function secretsIn(
  env: NodeJS.ProcessEnv,
  path: string,
  read: (name: string) => StoredProfile,
  save: (name: string, profile: StoredProfile) => Promise<void>,
): Pick<Store, 'secrets' | 'write'> & { removeSecrets(name: string): void } {
  let found: Keyring | null | undefined;
  const keyring = () => {
    found ??= findKeyring(env) ?? null;
    return found;
  };
  // Asked once for each profile in a run.
  const known = new Map<string, Profile>();
  const secrets: Store['secrets'] = (name) => {
    const profile = read(name);
    if (profile.keyring === undefined) return { values: part(profile, true), keyring: undefined };
    const ring = keyring();
    if (!ring)
      throw new GwError(
        'config',
        `the credentials of ${name} are in the ${profile.keyring}, which is not there`,
        {
          code: 'no_keyring',
          hint: 'GW_TOKEN or GW_API_KEY in the environment, or gw login stores others in the file',
        },
      );
    const values = known.get(name) ?? (JSON.parse(ring.read(accountOf(path, name)) ?? '{}') as Profile);
    known.set(name, values);
    return { values, keyring: profile.keyring };
  };
  /** What a sign-in or a sign-out replaces need not be readable; anything else must not get lost. */
  const present = (name: string, isReplaced: boolean): Profile => {
    try {
      return secrets(name).values;
    } catch (error) {
      if (isReplaced) return {};
      throw error;
    }
  };
  return {
    secrets,
    removeSecrets(name) {
      if (read(name).keyring !== undefined) keyring()?.remove(accountOf(path, name));
    },
    async write(name, values) {
      const before = read(checkName(name));
      const { keyring: former, ...rest } = before;
      const plain = part({ ...rest, ...values }, false);
      const isAboutSecrets = Object.keys(values).some(isSecretName);
      if (!isAboutSecrets)
        return save(name, {
          ...plain,
          ...part(rest, true),
          ...(former === undefined ? {} : { keyring: former }),
        });
      const account = accountOf(path, name);
      const isReplaced = credentials.some((key) => Object.hasOwn(values, key));
      const wanted = part({ ...present(name, isReplaced), ...values }, true);
      const ring = keyring();
      const isEmpty = Object.keys(wanted).length === 0;
      if (!isEmpty && ring?.write(account, JSON.stringify(wanted))) {
        known.set(name, wanted);
        return save(name, { ...plain, keyring: ring.name });
      }
      if (former !== undefined || !isEmpty) ring?.remove(account);
      await save(name, { ...plain, ...wanted });
    },
  };
}

function checkName(name: string): string {
  if (NAME.test(name) && name !== '__proto__') return name;
  throw usage(`“${name}” is not a valid profile name: use letters, digits, dots, dashes and underscores`);
}

/** Throws GwError where there is no profile of that name: what was meant for another must not be done with none. */
export function requireProfile(store: Store, name: string, kind: 'config' | 'not_found'): void {
  const known = new Set([DEFAULT_PROFILE, ...store.names()]);
  if (known.has(name)) return;
  throw new GwError(kind, `there is no profile ${name}; there are: ${[...known].join(', ')}`, {
    code: 'unknown_profile',
    hint: `did you mean ${nearest(name, known)}? gw login --profile ${name} makes one`,
  });
}

/** Whether it is of the profile, wherever that has it. */
export const isStored = ({ origin }: Setting): boolean => origin === 'profile' || origin === 'keyring';

/** Settings in force, with their origin. */
export class Settings {
  readonly store: Store;
  readonly profile: Setting;
  readonly #globals: Pick<GlobalValues, 'flag' | 'isOn'>;
  readonly #env: NodeJS.ProcessEnv;
  /** Throws GwError where a profile is named that is not there, unless the command makes one. */
  constructor(
    store: Store,
    globals: Pick<GlobalValues, 'flag' | 'isOn'>,
    env: NodeJS.ProcessEnv,
    makes_profile = false,
  ) {
    this.store = store;
    this.#globals = globals;
    this.#env = env;
    const { value, origin } = this.#given('profile') ?? { value: store.current(), origin: 'profile' };
    this.profile = { value: origin === 'profile' ? value : checkName(value), origin };
    if (origin !== 'profile' && !makes_profile) requireProfile(store, value, 'config');
  }
  /** From the command line or the environment. */
  #given(name: 'url' | 'api-key' | 'token' | 'profile'): Setting | undefined {
    const flag = this.#globals.flag(name);
    if (flag) return { value: flag, origin: 'flag' };
    const variable = cleanText(this.#env[variableOf(name) ?? ''] ?? '');
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
    const { values, keyring } = isSecret(key)
      ? this.store.secrets(this.profile.value)
      : { values: this.store.read(this.profile.value), keyring: undefined };
    const stored = values[key];
    if (stored) return { value: stored, origin: keyring === undefined ? 'profile' : 'keyring' };
    return key === 'url' ? { value: DEFAULT_URL, origin: 'default' } : undefined;
  }
  /** Where the credentials of the profile are for. */
  get home(): string {
    return originOf(this.store.read(this.profile.value).url ?? DEFAULT_URL);
  }
  /** Whether the profile has any. */
  get holds(): boolean {
    const { values: stored } = this.store.secrets(this.profile.value);
    return credentials.some((key) => stored[key] !== undefined);
  }
  /**
   * A key to send. Throws GwError where it is the profile's, and the service in force is not the one that it is for; where
   * another was given for that service, there is just none.
   */
  credential(key: (typeof credentials)[number]): string | undefined {
    const found = this.get(key);
    const origin = originOf(this.url);
    if (!found || !isStored(found) || origin === this.home) return found?.value;
    const given = credentials.map((each) => this.get(each)).some((each) => each && !isStored(each));
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
  async write(values: { [Key in ProfileKey]?: string | undefined }): Promise<void> {
    await this.store.write(this.profile.value, values);
  }
  /** Stores what the service in force gave; what another one gave leaves the profile. */
  async signIn(values: { [Key in ProfileKey]?: string | undefined }): Promise<void> {
    const isOther = originOf(this.url) !== this.home;
    const none = Object.fromEntries(credentials.map((key) => [key, undefined]));
    await this.write({ ...(isOther && none), url: this.url, ...values });
  }
}

const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : url);
