// Puts together what a running command is given: settings, input, calls with credentials, questions.
import {
  type AnyInput,
  type CallOptions,
  type ClientCall,
  createCall,
  requestOf,
} from '../../src/api/client/call.ts';
import type { Endpoint } from '../../src/api/describe/endpoint.ts';
import { type Io, printJson, say } from '../output/io.ts';
import { showWaiting } from '../output/progress.ts';
import type { Command, Context, Input, Own, Registry } from './command.ts';
import { GwError, NetworkError, toGwError, unreachable } from './errors.ts';
import { isOutline, isShaped } from './facts.ts';
import type { GlobalValues } from './globals.ts';
import { warnOfIgnored, warnOfReply } from './ignored.ts';
import {
  allFlags,
  faultOf,
  type Given,
  gather,
  missingOf,
  ownOf,
  placed,
  requireAll,
  requireValid,
} from './input.ts';
import { openStore, Settings } from './profile.ts';
import { repeated, withKey } from './repeat.ts';
import type { Facts } from './schema-facts.ts';
import { timeoutAfter } from './timeout.ts';
import { fetchService } from './transport.ts';
import { VERSION } from './version.ts';

/** Members of a request that `--dry-run` does not show. */
const SECRET_FIELDS = /password|secret|token|hash|api_key|invite/;

export interface ContextOptions {
  command: Command;
  io: Io;
  registry: Registry;
  globals: GlobalValues;
  timeout_ms: number;
  given: Given;
  /** The command as it was given, without `gw`. */
  words: readonly string[];
  signal: AbortSignal;
}

/** What a command is given. Nothing is opened, read or asked before the command wants it. */
export function createContext(options: ContextOptions): Context {
  const { command, io, globals, timeout_ms, registry, given, words, signal } = options;
  let settings: Promise<Settings> | undefined;
  const openSettings = () => {
    settings ??= openStore(io.env).then(
      (store) => new Settings(store, globals, io.env, command.makes_profile),
    );
    return settings;
  };
  let found: Promise<{ input: Input; own: Own }> | undefined;
  let check: (() => Promise<unknown>) | undefined;
  /** What the values lack is reported by flag, but for a call of which no one knows what became: that comes first. */
  const orFault = async <T>(called: Promise<T>): Promise<T> => {
    try {
      return await called;
    } catch (error) {
      if (!(error instanceof GwError && error.kind === 'unknown')) await check?.();
      throw error;
    }
  };
  const context: Context = {
    io,
    registry,
    globals,
    timeout_ms,
    signal,
    settings: openSettings,
    callOptions: (endpoint) => ({
      signal: AbortSignal.any([signal, timeoutAfter(timeout_ms)]),
      ...(endpoint.idempotent
        ? { idempotency_key: globals.text('idempotency-key') ?? crypto.randomUUID() }
        : {}),
    }),
    commandWith: (key) => withKey(words, key, secretFlags(command)),
    call: (endpoint, input, more) =>
      orFault(
        openSettings()
          .then((settings) => connectionFor(settings, endpoint, context))
          .then((connection) => send(context, connection, endpoint, input, more)),
      ),
    callAs: async (endpoint, more, input) =>
      send(context, { base_url: (await openSettings()).url }, endpoint, input, more),
    input() {
      found ??= readInput(command, given, context).then(async ({ checked, ...read }) => {
        check = checked;
        if (command.stream) await checked?.();
        return read;
      });
      return found;
    },
    async confirm(question, type) {
      if (globals.isOn('yes')) return;
      await check?.();
      if (!io.prompts)
        throw new GwError('usage', `${question} Nothing was done.`, {
          code: 'confirmation_required',
          hint: 'add --yes to confirm',
        });
      const { agree } = await import('./prompts.ts');
      if (!(await agree(question, type, io)))
        throw new GwError('general', 'nothing was done', { code: 'declined' });
    },
    showRequest: async (endpoint, input) => {
      await check?.();
      const { url: base_url } = await openSettings();
      const { method, url } = requestOf({ base_url }, endpoint, input);
      const body = endpoint.body ? { body: masked(input.body) } : {};
      if (io.json === false) say(io, 'Not sent, because of --dry-run:');
      printJson(io, { dry_run: true, method, url, ...body });
    },
  };
  return context;
}

/** The flags whose values are no one else's to read. */
const secretFlags = (command: Command): ReadonlySet<string> =>
  new Set([
    '--api-key',
    '--token',
    ...allFlags(command).flatMap(({ name, secret }) => (secret ? `--${name}` : [])),
  ]);

interface Read {
  input: Input;
  own: Own;
  /** Throws for values that the endpoint does not take. */
  checked?: () => Promise<unknown>;
}

/** What the command line, a file and the environment gave; asks for the rest where a person is there. */
async function readInput(command: Command, given: Given, context: Context): Promise<Read> {
  const { io } = context;
  const found = await gather(command, given, io);
  if (io.prompts)
    for (const flag of missingOf(found, command)) {
      const { ask } = await import('./prompts.ts');
      const { choicesFrom } = await import('./choices.ts');
      const fault = async (value: unknown) => command.input && faultOf(command.input, found, flag, value);
      const choices = await choicesFrom(context)(flag);
      found.values.set(flag.field, await ask(flag, io, choices, fault));
    }
  requireAll(found, command);
  for (const flag of found.flags) {
    const value = found.values.get(flag.field);
    if (typeof value !== 'string' || !(flag.names || /_id$|^after$/.test(flag.field))) continue;
    // What only this command has is resolved where it goes.
    if (flag.place === 'own' && !flag.names) continue;
    const { wholeId } = await import('./references.ts');
    found.values.set(flag.field, await wholeId(context, command.input, flag, value));
  }
  const own = ownOf(found);
  const { input: endpoint } = command;
  if (!endpoint) return { input: { params: {}, query: {}, body: {} }, own };
  return { input: placed(found), own, checked: () => requireValid(endpoint, found) };
}

const masked = (body: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, SECRET_FIELDS.test(name) ? '…' : value]),
  );

interface Credentials {
  base_url: string;
  api_key?: string | undefined;
  token?: string | undefined;
}

/** The credentials an endpoint asks for, or the way to get them. A token is enough for a key, which the account shows. */
async function connectionFor(settings: Settings, endpoint: Endpoint, context: Context): Promise<Credentials> {
  const { url: base_url } = settings;
  const { auth } = endpoint;
  if (auth === 'none') return { base_url };
  const api_key = auth === 'key' || auth === 'any' ? settings.credential('api_key') : undefined;
  const token = settings.credential('token');
  if (auth === 'any' && token) return { base_url, token };
  if (api_key) return { base_url, api_key };
  if (auth !== 'key') {
    if (token) return { base_url, token };
    throw new GwError('auth', 'not signed in', {
      code: 'not_signed_in',
      hint: 'gw login --email ADDRESS, or GW_TOKEN in the environment; no account yet? gw signup',
    });
  }
  if (!token)
    throw new GwError('auth', 'no merchant key', {
      code: 'no_api_key',
      hint: 'gw login, or GW_API_KEY in the environment, or gw login --api-key-stdin',
    });
  const { getMerchantAccount } = await import('../../src/api/endpoints/merchant.ts');
  const account = await send(context, { base_url, token }, getMerchantAccount);
  return { base_url, api_key: account.api_key };
}

/** One call, made again where its answer is lost and that is safe; a lost connection becomes an error that names the service. */
const send = async <E extends Endpoint>(
  { io, globals, callOptions, commandWith, signal }: Context,
  credentials: Credentials,
  endpoint: E,
  input?: AnyInput,
  more?: CallOptions,
): Promise<Awaited<ReturnType<typeof callOf<E>>>> => {
  const started = performance.now();
  const { base_url } = credentials;
  const hasCome = showWaiting(io, `waiting for ${new URL(base_url).host}`);
  const { idempotency_key } = callOptions(endpoint);
  try {
    return await repeated(
      () => callOf(io, credentials, endpoint, input, { ...callOptions(endpoint), idempotency_key, ...more }),
      { endpoint, idempotency_key, base_url, signal, command: commandWith },
    );
  } catch (error) {
    throw toGwError(error) ?? (error instanceof NetworkError ? unreachable(base_url, error) : error);
  } finally {
    hasCome();
    if (globals.isOn('verbose'))
      say(io, `${endpoint.method} ${endpoint.path} ${Math.round(performance.now() - started)} ms`);
  }
};

const callOf = async <E extends Endpoint>(
  io: Io,
  credentials: Credentials,
  endpoint: E,
  input: AnyInput | undefined,
  options: CallOptions,
) => {
  const call: ClientCall = createCall({
    ...credentials,
    fetch: async (url, request) => {
      const response = await fetchService(url, request);
      warnOfIgnored(io, response);
      return response;
    },
    headers: { 'user-agent': `gw/${VERSION}` },
  });
  const reply = await call(endpoint, input, options);
  if (!('media' in endpoint.response) && !isShaped(await factsFor(endpoint), reply))
    throw new GwError('unreachable', `${credentials.base_url} answers, but not as gatewayd does`, {
      code: 'not_gatewayd',
      hint: 'check the address: gw config get url --show-origin',
    });
  warnOfReply(io, reply);
  return reply;
};

/** What checks a file has endpoints whole, in the built program too. */
const factsFor = async (endpoint: Endpoint): Promise<Facts> =>
  isOutline(endpoint) ? endpoint.facts : (await import('./schema-facts.ts')).schemaFacts(endpoint);
