// Reads a command's input: positional values and flags, then a file, then the environment, then questions; validated.
import type { Endpoint } from '../../src/api/describe/endpoint.ts';
import { cleanText, UnreadableText, withoutLineEnd } from '../../src/clean.ts';
import { nearest } from '../../src/nearest.ts';
import { type Io, readStdin, readText } from '../output/io.ts';
import type { Command, Input, Own } from './command.ts';
import { GwError, usage } from './errors.ts';
import { whole } from './facts.ts';
import type { Flag } from './flag.ts';
import { flagsOf, readsEnvironment, variableOf, wireValue } from './flags.ts';
import { pictureUrl } from './picture-file.ts';
import { faultInWords } from './plain-words.ts';

/** What commander read: values by flag name, and what stood without a flag. */
export interface Given {
  options: Readonly<Record<string, unknown>>;
  positional: readonly string[];
  file: string | undefined;
  unset: readonly string[];
}

/** All flags of a command: the endpoint's, then its own. */
export function allFlags(command: Command): Flag[] {
  const ofEndpoint = command.input ? flagsOf(command.input) : [];
  return [...ofEndpoint, ...(command.flags ?? [])];
}

export interface Gathered {
  /** By field, as it will be sent; absent where nothing was given. */
  values: Map<string, unknown>;
  flags: Flag[];
  /** Members of a file that no flag stands for: sent, so that the service says what it ignores. */
  unknown?: Record<string, unknown>;
}

/** Values in their precedence, before anything is asked. */
export async function gather(command: Command, given: Given, io: Io): Promise<Gathered> {
  const flags = allFlags(command);
  const values = new Map<string, unknown>();
  const file = given.file === undefined ? {} : await readBody(given.file, io);
  for (const flag of flags) {
    const position = command.args?.indexOf(flag.field) ?? -1;
    const stated = given.options[flag.name];
    const placed = position >= 0 ? given.positional[position] : undefined;
    const value = placed ?? stated;
    if (placed !== undefined && stated !== undefined && placed !== stated)
      throw usage(`${flag.name} is given twice: “${placed}” and --${flag.name}`);
    if (value !== undefined) values.set(flag.field, wireValue(flag, ofFile(flag, value as string)));
    else if (flag.place === 'body' && Object.hasOwn(file, flag.field))
      values.set(flag.field, file[flag.field]);
    else if (readsEnvironment(flag, command.input?.method)) {
      const variable = io.env[variableOf(flag)];
      if (variable !== undefined && variable !== '') values.set(flag.field, wireValue(flag, variable));
    }
    if (values.has(flag.field)) values.set(flag.field, chosen(flag, values.get(flag.field)));
    if (flag.secret && values.get(flag.field) === '-')
      values.set(flag.field, withoutLineEnd(await readStdin(io)));
  }
  for (const name of given.unset) values.set(nullable(flags, name), null);
  const known = new Set(flags.flatMap(({ place, field }) => (place === 'body' ? [field] : [])));
  const unknown = Object.fromEntries(Object.entries(file).filter(([name]) => !known.has(name)));
  return { values, flags, unknown };
}

/** Only the command line names a file to be read: what comes from elsewhere is not trusted with that. */
const ofFile = (flag: Flag, given: string): string =>
  flag.picture && given.startsWith('@') ? pictureUrl(flag.name, given.slice(1)) : given;

/** Refuses what is none of the words to choose from, with the nearest. In any case of letters, as the service compares them. */
function chosen(flag: Flag, value: unknown): unknown {
  const { choices } = flag;
  if (!choices) return value;
  if (Array.isArray(value)) return value.map((one) => chosen(flag, one));
  if (typeof value !== 'string' || value === '') return value;
  const found = choices.find((choice) => choice === cleanText(value).toLowerCase());
  if (found !== undefined) return found;
  throw usage(
    `--${flag.name} is one of ${choices.join(', ')}, not “${value}”`,
    `did you mean ${nearest(value, choices)}?`,
  );
}

function nullable(flags: readonly Flag[], name: string): string {
  const flag = flags.find((candidate) => candidate.name === name || candidate.field === name);
  if (flag?.nullable) return flag.field;
  const names = flags.filter((candidate) => candidate.nullable).map((candidate) => candidate.name);
  throw usage(`--unset takes one of: ${names.join(', ')}`);
}

/** Why a file that was named cannot be read. */
export const unread = (flag: string, path: string, error: unknown): GwError =>
  usage(
    `cannot read ${flag} ${path}: ${error instanceof UnreadableText ? 'it ' : ''}${(error as Error).message}`,
  );

async function readBody(path: string, io: Io): Promise<Record<string, unknown>> {
  let text: string;
  try {
    text = await readText(path, io);
  } catch (error) {
    throw unread('--file', path, error);
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // Refused below, like any other text that is not an object.
  }
  throw usage(`--file ${path} does not contain a JSON object`);
}

const isMissing = (value: unknown): boolean => value === undefined || value === '';

/** Required flags without a value, nor another one that stands for them. A text that may be empty counts as given in a body. */
export const missingOf = ({ flags, values }: Gathered, { instead = {} }: Pick<Command, 'instead'>): Flag[] =>
  flags.filter(
    (flag) =>
      flag.required &&
      !values.has(instead[flag.field] ?? '') &&
      (flag.place === 'body' ? values.get(flag.field) === undefined : isMissing(values.get(flag.field))),
  );

/** Refuses with every missing flag named. */
export function requireAll(gathered: Gathered, command: Command): void {
  const missing = missingOf(gathered, command);
  if (missing.length === 0) return;
  const names = missing.map((flag) => `--${flag.name}`);
  const variables = missing.map(variableOf);
  const positional = missing.some((flag) => command.args?.includes(flag.field));
  throw new GwError('usage', `missing: ${names.join(', ')}`, {
    code: 'missing_input',
    hint: `give ${positional ? 'a value, ' : ''}the flag, or ${variables.join(', ')} in the environment`,
    extra: { missing: missing.map((flag) => flag.name) },
  });
}

/** The values of the command's own flags, by field. */
export const ownOf = ({ flags, values }: Gathered): Own =>
  Object.fromEntries(
    flags
      .filter(({ place, field }) => place === 'own' && values.has(field))
      .map(({ field }) => [field, values.get(field)]),
  );

/** Refuses values that the schema does not take with which the service checks them too. */
export async function requireValid(endpoint: Endpoint, gathered: Gathered): Promise<void> {
  const faults = await faultsOf(endpoint, gathered);
  if (faults.length === 0) return;
  const address = faults.some(({ loc }) => loc[1] === 'address') ? await addressForm(gathered) : undefined;
  const messages = faults.map(({ loc, msg }) => {
    const flag = gathered.flags.find((candidate) => candidate.field === loc[1]);
    const words = (loc[1] === 'address' ? address : undefined) ?? faultInWords(msg);
    return `${flag ? `--${flag.name}` : loc.join('.')}: ${words}`;
  });
  throw new GwError('usage', messages.join('; '), { code: 'validation', extra: { errors: faults } });
}

/** What an address of the blockchain that was named looks like; undefined where only the service may know. */
async function addressForm({ values }: Gathered): Promise<string | undefined> {
  const named = values.get('blockchain') ?? values.get('chain');
  if (typeof named !== 'string') return undefined;
  const { findBlockchain } = await import('../../src/chains/gateways.ts');
  const chain = findBlockchain(named);
  if (!chain) return undefined;
  const { mainnet, testnet } = chain.address_hint;
  const form = mainnet === testnet ? mainnet : `${mainnet}; on test networks ${testnet}`;
  return `is no address on ${chain.name}; expected ${form}`;
}

/** What the service would say against a flag's value among the others; undefined where it takes it. */
export async function faultOf(
  endpoint: Endpoint,
  { flags, values }: Gathered,
  flag: Flag,
  value: unknown,
): Promise<string | undefined> {
  if (flag.place === 'own') return undefined;
  const faults = await faultsOf(endpoint, { flags, values: new Map(values).set(flag.field, value) });
  const fault = faults.find(({ loc }) => loc[1] === flag.field);
  return fault && faultInWords(fault.msg);
}

/** The values of an endpoint's fields, by place. */
export function placed({ flags, values, unknown }: Gathered): Input {
  const input: Input = { params: {}, query: {}, body: { ...unknown } };
  for (const { field, place } of flags)
    if (place !== 'own' && values.has(field)) input[place][field] = values.get(field);
  return input;
}

async function faultsOf(endpoint: Endpoint, gathered: Gathered) {
  const { parseInput } = await import('../../src/api/read/validation.ts');
  const result = parseInput(await whole(endpoint), {
    ...placed(gathered),
    ...(endpoint.body ? {} : { body: undefined }),
  });
  return result.ok ? [] : result.detail;
}
