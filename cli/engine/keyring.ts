// The keyring of the system, by the program that comes with it: Secret Service on Linux, the keychain on macOS.
import { accessSync, constants, existsSync } from 'node:fs';
import { join } from 'node:path';
import { GwError } from './errors.ts';

/** A person may have to unlock it. */
const TIMEOUT_MS = 60_000;
const SERVICE = 'gatewayd';

export interface Keyring {
  /** How people know it. */
  readonly name: string;
  /** Undefined where nothing is stored; throws GwError where it does not answer. */
  read(account: string): string | undefined;
  /** Whether it is stored, and can be read again. */
  write(account: string, secret: string): boolean;
  remove(account: string): void;
}

interface Call {
  args: readonly string[];
  input?: string;
}

interface Tool {
  name: string;
  program: string;
  /** Whether there may be a keyring that the program can reach. */
  isThere(env: NodeJS.ProcessEnv): boolean;
  read(account: string): Call;
  /** The secret goes over stdin: arguments can be read by every user of the machine. */
  write(account: string, secret: string): Call;
  remove(account: string): Call;
  /** Whether a read that failed says that nothing is stored. */
  isNone(status: number | null, stderr: string): boolean;
}

const attributes = (account: string) => ['service', SERVICE, 'account', account];
const labels = (account: string) => ['-s', SERVICE, '-a', account];
/** What `security` ends with for an item that it does not have. */
const NO_ITEM = 44;

const tools: Partial<Record<NodeJS.Platform, Tool>> = {
  linux: {
    name: 'Secret Service',
    program: 'secret-tool',
    isThere: (env) =>
      Boolean(env.DBUS_SESSION_BUS_ADDRESS) ||
      (env.XDG_RUNTIME_DIR !== undefined && existsSync(join(env.XDG_RUNTIME_DIR, 'bus'))),
    read: (account) => ({ args: ['lookup', ...attributes(account)] }),
    write: (account, input) => ({
      args: ['store', `--label=gw ${account}`, ...attributes(account)],
      input,
    }),
    remove: (account) => ({ args: ['clear', ...attributes(account)] }),
    isNone: (_, stderr) => stderr.trim() === '',
  },
  darwin: {
    name: 'keychain',
    program: 'security',
    isThere: () => true,
    read: (account) => ({ args: ['find-generic-password', ...labels(account), '-w'] }),
    write: (account, secret) => ({
      args: ['-i'],
      input: `add-generic-password -U ${labels(account).join(' ')} -w ${secret}\n`,
    }),
    remove: (account) => ({ args: ['delete-generic-password', ...labels(account)] }),
    isNone: (status) => status === NO_ITEM,
  },
};

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

// Loaded where they are used: most commands ask no keyring.
const { getBuiltinModule } = process;

/** The account of a profile: a plain word, another one for each file of profiles. */
export const accountOf = (path: string, profile: string): string =>
  `${profile}-${getBuiltinModule('node:crypto').createHash('sha256').update(path).digest('hex').slice(0, 8)}`;

/** The keyring of this system; undefined where there is none, or GW_KEYRING says not to use it. */
export function findKeyring(env: NodeJS.ProcessEnv, platform = process.platform): Keyring | undefined {
  const tool = tools[platform];
  if (!tool || env.GW_KEYRING === 'off' || !tool.isThere(env)) return undefined;
  const folders = (env.PATH ?? '').split(':').filter((folder) => folder.startsWith('/'));
  const program = folders.map((folder) => join(folder, tool.program)).find(isProgram);
  if (program === undefined) return undefined;
  const run = ({ args, input = '' }: Call) =>
    getBuiltinModule('node:child_process').spawnSync(program, args, {
      input,
      env,
      encoding: 'utf8',
      timeout: TIMEOUT_MS,
    });
  const read = (account: string): string | undefined => {
    const { status, stdout, stderr, error } = run(tool.read(account));
    if (status === 0) return Buffer.from(stdout.trim(), 'base64').toString('utf8');
    if (!error && tool.isNone(status, stderr)) return undefined;
    throw new GwError('config', `the ${tool.name} does not answer: ${error?.message ?? stderr.trim()}`, {
      code: 'keyring_failed',
      hint: 'unlock it; or GW_TOKEN and GW_API_KEY in the environment, or GW_KEYRING=off gw login',
    });
  };
  return {
    name: tool.name,
    read,
    write(account, secret) {
      try {
        const { status } = run(tool.write(account, Buffer.from(secret).toString('base64')));
        return status === 0 && read(account) === secret;
      } catch {
        return false;
      }
    },
    remove: (account) => void run(tool.remove(account)),
  };
}
