// A shop as one file: which members it has, and reading one with the lines where they stand.
import { isAlias, isMap, isScalar, isSeq, LineCounter, type ParsedNode, parseDocument } from 'yaml';
import type { z } from 'zod';
import type { Endpoint } from '../../../src/api/describe/endpoint.ts';
import { secretNames } from '../../../src/api/describe/fields.ts';
import { type JsonSchema, jsonSchema } from '../../../src/api/describe/json-schema.ts';
import {
  getMerchantAccount,
  setMerchantWallet,
  updateMerchantAccount,
} from '../../../src/api/endpoints/merchant.ts';
import { createUnit, updateUnit } from '../../../src/api/endpoints/units.ts';
import { parseInput } from '../../../src/api/read/validation.ts';
import { nearest } from '../../../src/nearest.ts';
import { GwError } from '../../engine/errors.ts';
import type { Kind } from '../../engine/flag.ts';
import { faultInWords } from '../../engine/plain-words.ts';
import { schemaFacts } from '../../engine/schema-facts.ts';

type Kinds = Readonly<Record<string, Kind>>;

/** What can be set and read again: the members of a change that the reply has too, but for secrets. */
function membersOf(update: Endpoint, reply: Endpoint): Kinds {
  const { properties = {} } = jsonSchema(reply.response as z.ZodType) as { properties?: JsonSchema };
  const members = schemaFacts(update).flags.filter(
    ({ field, place }) => place === 'body' && field in properties && !secretNames.has(field),
  );
  return Object.fromEntries(members.map(({ field, kind }) => [field, kind]));
}

export const accountMembers = membersOf(updateMerchantAccount, getMerchantAccount);
export const unitMembers = membersOf(updateUnit, createUnit);
/** How a file names a unit that there is; the service makes both. */
const NAMES: Kinds = { id: 'text', slug: 'text' };

/** Members with their values, as the wire carries them, and the line of each. */
export interface Entry {
  line: number;
  values: Readonly<Record<string, unknown>>;
  lines: Readonly<Record<string, number>>;
}

/** What a file names; a part that it leaves out stays as it is. */
export interface ShopFile {
  account?: Entry;
  /** Addresses by blockchain. */
  wallets?: Entry;
  /** All units that there shall be. */
  units?: readonly Entry[];
  faults: Faults;
}

interface Fault {
  line: number;
  message: string;
  hint?: string | undefined;
}

/** What is wrong with a file: all of it is reported at once. */
export interface Faults {
  add(line: number, message: string, hint?: string): void;
  /** Throws where there are any, in the order of the file. */
  refuse(): void;
}

function faultsIn(name: string): Faults {
  const found: Fault[] = [];
  return {
    add(line, message, hint) {
      if (!found.some((one) => one.line === line && one.message === message))
        found.push({ line, message, hint });
    },
    refuse() {
      const errors = found.sort((one, other) => one.line - other.line);
      if (errors.length === 0) return;
      const messages = errors.map(({ line, message }) => `line ${line}: ${message}`);
      throw new GwError('usage', `${name}, ${messages.join('; ')}`, {
        hint: errors.length === 1 ? errors[0]?.hint : undefined,
        extra: { errors },
      });
    },
  };
}

const PARTS = ['account', 'wallets', 'units'] as const;
const NULL = /^(?:|~|null)$/i;
const BOOLEAN = /^(?:true|false)$/i;
const INTEGER = /^\d{1,9}$/;

/** Reads the text of a file; `name` is what errors call it. Refuses what the description does not have, and values it refuses. */
export function readShop(text: string, name: string): ShopFile {
  const lineCounter = new LineCounter();
  // Everything is text as it stands there: 4.50 is no float, and 0x… no number.
  const document = parseDocument(text, { schema: 'failsafe', lineCounter, prettyErrors: false });
  const faults = faultsIn(name);
  for (const { pos, message } of [...document.errors, ...document.warnings])
    faults.add(lineCounter.linePos(pos[0]).line, message.toLowerCase());
  // What is not YAML has no members to speak of.
  faults.refuse();
  const reader: Reader = {
    faults,
    lineOf: (node) => lineCounter.linePos(node?.range?.[0] ?? 0).line,
    resolve: (node) => (isAlias(node) ? (node.resolve(document) as ParsedNode | undefined) : node) ?? null,
  };
  const parts = pairsOf(reader, document.contents, 'a file');
  for (const { key, line } of parts)
    if (!PARTS.some((part) => part === key))
      faults.add(line, `“${key}” is no part of a shop`, `did you mean ${nearest(key, PARTS)}?`);
  const part = (key: (typeof PARTS)[number]) => parts.find((one) => one.key === key);
  const [account, wallets, units] = PARTS.map(part);
  const file = {
    faults,
    ...(account ? { account: readAccount(reader, account.node) } : {}),
    ...(wallets ? { wallets: readWallets(reader, wallets.node) } : {}),
    ...(units ? { units: readUnits(reader, units) } : {}),
  };
  faults.refuse();
  return file;
}

interface Reader {
  faults: Faults;
  lineOf(node: ParsedNode | null): number;
  /** What an alias stands for. */
  resolve(node: ParsedNode | null): ParsedNode | null;
}

interface Pair {
  key: string;
  line: number;
  node: ParsedNode | null;
}

function pairsOf(reader: Reader, given: ParsedNode | null, what: string): Pair[] {
  const node = reader.resolve(given);
  if (!isMap(node)) {
    reader.faults.add(reader.lineOf(given), `${what} has members, each with its value`);
    return [];
  }
  return node.items.map(({ key, value }) => ({
    key: isScalar(key) ? String(key.value) : '',
    line: reader.lineOf(key as ParsedNode),
    node: value as ParsedNode | null,
  }));
}

function readValue(reader: Reader, given: ParsedNode | null, kind: Kind): unknown {
  const node = reader.resolve(given);
  // An entry of a list is no list: an alias could lead back to it.
  if (isSeq(node)) return node.items.map((item) => readScalar(reader, item as ParsedNode, 'text'));
  return readScalar(reader, given, kind);
}

/** Undefined where it is wrong. */
function readScalar(reader: Reader, given: ParsedNode | null, kind: Kind): unknown {
  const node = reader.resolve(given);
  if (node !== null && !isScalar(node)) {
    reader.faults.add(reader.lineOf(given), 'one value is expected here');
    return undefined;
  }
  const text = String(node?.value ?? '');
  const isPlain = node === null || node.type === 'PLAIN';
  if (isPlain && NULL.test(text)) return null;
  if (isPlain && kind === 'boolean' && BOOLEAN.test(text)) return text.toLowerCase() === 'true';
  return kind === 'integer' && INTEGER.test(text) ? Number(text) : text;
}

/** What stands there, but for members that are wrong. */
function entryOf(reader: Reader, given: ParsedNode | null, what: string, kinds?: Kinds): Entry {
  const pairs = pairsOf(reader, given, what).filter(({ key, line }) =>
    isKnown(reader, what, kinds, key, line),
  );
  const read = pairs.map(({ key, node }) => [key, readValue(reader, node, kinds?.[key] ?? 'text')] as const);
  return {
    line: reader.lineOf(given),
    values: Object.fromEntries(read.filter(([, value]) => value !== undefined)),
    lines: Object.fromEntries(pairs.map(({ key, line }) => [key, line])),
  };
}

function isKnown(
  { faults }: Reader,
  what: string,
  kinds: Kinds | undefined,
  key: string,
  line: number,
): boolean {
  if (!kinds) return true;
  const isSecret = secretNames.has(key);
  if (isSecret)
    faults.add(
      line,
      `${key} is a secret, and is in no such file`,
      'gw account update --webhook-secret - reads it from stdin',
    );
  else if (!Object.hasOwn(kinds, key))
    faults.add(line, `${what} has no “${key}”`, `did you mean ${nearest(key, Object.keys(kinds))}?`);
  return !isSecret && Object.hasOwn(kinds, key);
}

/** Refuses what the service would, before anything is sent. */
export function checkValues(
  { faults }: Pick<ShopFile, 'faults'>,
  endpoint: Endpoint,
  { line, lines }: Entry,
  body: object,
): void {
  const params = endpoint.params ? { unit_id: '00000000-0000-4000-8000-000000000000' } : {};
  const result = parseInput(endpoint, { params, body });
  if (result.ok) return;
  for (const { loc, msg } of result.detail) {
    const name = String(loc[1]);
    faults.add(lines[name] ?? line, `${name} ${faultInWords(msg)}`);
  }
}

/** These are never without a value. */
const ALWAYS = new Set([
  'slug',
  'title',
  'amount_usd',
  'currencies',
  'wait_seconds',
  'active',
  'listed',
  'return_automatically',
  'webhook_refills',
]);

/** The entry, once what a call would carry of it was held against the description. */
function checked(reader: Reader, entry: Entry, endpoint: Endpoint, body: object): Entry {
  const isEmpty = ([name, value]: [string, unknown]) => value === null && ALWAYS.has(name);
  for (const [name] of Object.entries(entry.values).filter(isEmpty))
    reader.faults.add(
      entry.lines[name] ?? entry.line,
      `${name} needs a value`,
      'leave it out to leave it as it is',
    );
  const given = Object.entries(body).filter((member) => !isEmpty(member));
  checkValues(reader, endpoint, entry, Object.fromEntries(given));
  return entry;
}

function readAccount(reader: Reader, given: ParsedNode | null): Entry {
  const entry = entryOf(reader, given, 'the account', accountMembers);
  return checked(reader, entry, updateMerchantAccount, entry.values);
}

function readWallets(reader: Reader, given: ParsedNode | null): Entry {
  const entry = entryOf(reader, given, 'wallets');
  for (const [blockchain, address] of Object.entries(entry.values)) {
    const line = entry.lines[blockchain] ?? entry.line;
    if (address === null)
      reader.faults.add(line, 'a wallet cannot be removed', 'leave it out to leave it as it is');
    else checkValues(reader, setMerchantWallet, { ...entry, line, lines: {} }, { blockchain, address });
  }
  return entry;
}

function readUnits(reader: Reader, { node: given, line }: Pair): Entry[] {
  const node = reader.resolve(given);
  if (!isSeq(node)) {
    reader.faults.add(line, 'units is a list of units, each after “- ”', 'units: [] is none');
    return [];
  }
  return node.items.map((item) => {
    const entry = entryOf(reader, item as ParsedNode, 'a unit', { ...NAMES, ...unitMembers });
    const { id, slug, ...body } = entry.values;
    return checked(reader, entry, updateUnit, body);
  });
}
