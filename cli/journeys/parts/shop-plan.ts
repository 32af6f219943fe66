// What a file changes of a shop: each change, and the calls that make them.

import type { CallReply } from '../../../src/api/client/call.ts';
import type { Endpoint } from '../../../src/api/describe/endpoint.ts';
import { listGateways } from '../../../src/api/endpoints/buyer.ts';
import {
  getMerchantAccount,
  getMerchantWallets,
  setMerchantWallet,
  updateMerchantAccount,
} from '../../../src/api/endpoints/merchant.ts';
import { createUnit, deleteUnit, listUnits, updateUnit } from '../../../src/api/endpoints/units.ts';
import { cleanText } from '../../../src/clean.ts';
import { nearest } from '../../../src/nearest.ts';
import type { Context, Input } from '../../engine/command.ts';
import { checkValues, type Entry, type ShopFile } from './shop-file.ts';
import { addressFault, entriesOf, isEmpty, isSame, isSameAddress } from './shop-same.ts';

/** A shop as the service has it. */
export interface Shop {
  account: CallReply<typeof getMerchantAccount>;
  wallets: CallReply<typeof getMerchantWallets>['wallets'];
  units: CallReply<typeof listUnits>['units'];
  /** Every blockchain that can be paid on. */
  blockchains: readonly string[];
  /** Whether the account takes every currency of the deployment, chosen or not. */
  takes_all: boolean;
}

type Unit = Shop['units'][number];

export async function readService(context: Context): Promise<Shop> {
  const account = await context.call(getMerchantAccount);
  const { wallets } = await context.call(getMerchantWallets);
  const { units, available_currencies } = await context.call(listUnits);
  const { data } = await context.call(listGateways);
  return {
    account,
    wallets,
    units,
    blockchains: [...new Set(data.map(({ blockchain }) => blockchain))],
    takes_all: data.every(({ chain }) => available_currencies.includes(chain)),
  };
}

export interface Change {
  /** `account.slug`, `wallets.ton`, `units.coffee.title`, `units.coffee`. */
  path: string;
  action: 'add' | 'change' | 'remove';
  from: unknown;
  to: unknown;
  done: boolean;
}

/** One call, and the changes that it makes. */
export interface Step {
  endpoint: Endpoint;
  input: Partial<Input>;
  changes: Change[];
  /** What is lost by it, in words. */
  takes: string[];
  /** What only a second call can set of a new unit. */
  also?: Record<string, unknown>;
}

/** The calls in the order in which they can be made; none where nothing is to change. Refuses what cannot be. */
export async function planOf(context: Context, file: ShopFile, shop: Shop): Promise<Step[]> {
  const account = file.account ? await planAccount(context, file.account, shop) : [];
  const wallets = file.wallets ? planWallets(file, file.wallets, shop) : [];
  const units = file.units ? await planUnits(context, file, file.units, shop) : [];
  file.faults.refuse();
  return [...account, ...wallets, ...units];
}

const actionOf = (from: unknown, to: unknown): Change['action'] =>
  isEmpty(from) ? 'add' : isEmpty(to) ? 'remove' : 'change';

const changeOf = (path: string, from: unknown, to: unknown): Change => ({
  path,
  action: actionOf(from, to),
  from: from ?? null,
  to,
  done: false,
});

/** The members of an entry that are not as they are; `same` says of one that it is, where nothing else tells. */
async function differing(
  context: Context,
  values: Readonly<Record<string, unknown>>,
  have: object,
  same: Readonly<Record<string, boolean>> = {},
): Promise<[name: string, wanted: unknown, have: unknown][]> {
  const found: [string, unknown, unknown][] = [];
  for (const [name, wanted] of Object.entries(values)) {
    const there = (have as Record<string, unknown>)[name];
    if (!(same[name] ?? (await isSame(context, name, wanted, there)))) found.push([name, wanted, there]);
  }
  return found;
}

/** Names, hosts and currencies that go, and pages that move. */
function lossOf({ path, action, from, to }: Change): string[] {
  if (action === 'remove') return [`${path} is removed`];
  if (path === 'account.slug')
    return ['account.slug changes: the addresses of all pages with the old one stop working'];
  const left = entriesOf(to);
  const gone =
    Array.isArray(from) && Array.isArray(to)
      ? from.filter((one) => !left.has(String(one).toLowerCase()))
      : [];
  return gone.length === 0 ? [] : [`${path} loses ${gone.join(', ')}`];
}

async function planAccount(
  context: Context,
  { values }: Entry,
  { account, takes_all }: Shop,
): Promise<Step[]> {
  // Null means every currency; which they are is shown either way.
  const same: Record<string, boolean> =
    values.enabled_currencies === null ? { enabled_currencies: takes_all } : {};
  const found = await differing(context, values, account, same);
  if (found.length === 0) return [];
  const changes = found.map(([name, wanted, have]) =>
    name === 'enabled_currencies' && wanted === null
      ? { ...changeOf(`account.${name}`, have, 'all'), to: null }
      : changeOf(`account.${name}`, have, wanted),
  );
  const body = Object.fromEntries(found.map(([name, wanted]) => [name, wanted]));
  return [{ endpoint: updateMerchantAccount, input: { body }, changes, takes: changes.flatMap(lossOf) }];
}

function planWallets({ faults }: ShopFile, { values, lines, line }: Entry, shop: Shop): Step[] {
  const { network } = shop.account;
  return Object.entries(values).flatMap(([name, value]): Step[] => {
    const [blockchain, address] = [cleanText(name).toLowerCase(), cleanText(String(value))];
    const at = lines[name] ?? line;
    const have = shop.wallets.find((wallet) => wallet.blockchain === blockchain)?.address;
    if (have === undefined && !shop.blockchains.includes(blockchain)) {
      const hint = `did you mean ${nearest(name, shop.blockchains)}?`;
      faults.add(at, `there is no blockchain “${name}” here`, hint);
      return [];
    }
    const wrong = addressFault(blockchain, address, network);
    if (wrong !== undefined) {
      faults.add(at, wrong);
      return [];
    }
    if (have !== undefined && isSameAddress(blockchain, address, have, network)) return [];
    return [
      {
        endpoint: setMerchantWallet,
        input: { body: { blockchain, address } },
        changes: [changeOf(`wallets.${blockchain}`, have, address)],
        takes: have === undefined ? [] : [`the wallet on ${blockchain} is replaced by ${address}`],
      },
    ];
  });
}

/** What a unit is, for people. */
const wordsOf = ({ title, amount_usd, currencies }: Partial<Unit>): string =>
  `${title}, ${amount_usd} USD, ${(currencies ?? []).join(', ')}`;

async function planUnits(
  context: Context,
  file: ShopFile,
  entries: readonly Entry[],
  shop: Shop,
): Promise<Step[]> {
  const meant = matched(file, entries, shop.units);
  const [updates, creations]: [Step[], Step[]] = [[], []];
  for (const [index, entry] of entries.entries()) {
    const { id: _id, slug, ...values } = entry.values;
    const unit = meant[index];
    if (unit === null) continue;
    if (!unit) {
      creations.push(creationOf(file, entry, values, String(slug ?? values.title)));
      continue;
    }
    const found = await differing(context, values, unit);
    if (found.length === 0) continue;
    const changes = found.map(([name, wanted, have]) => changeOf(`units.${unit.slug}.${name}`, have, wanted));
    updates.push({
      endpoint: updateUnit,
      input: {
        params: { unit_id: unit.id },
        body: Object.fromEntries(found.map(([name, wanted]) => [name, wanted])),
      },
      changes,
      takes: changes.flatMap(lossOf),
    });
  }
  const deletions = shop.units
    .filter((unit) => !meant.includes(unit))
    .map((unit): Step => {
      const change = changeOf(`units.${unit.slug}`, wordsOf(unit), null);
      const takes = [`the unit ${unit.slug} (${unit.title}) is deleted: its pages stop working`];
      return { endpoint: deleteUnit, input: { params: { unit_id: unit.id } }, changes: [change], takes };
    });
  // There may be room for a new one only where another has gone.
  return [...updates, ...deletions, ...creations];
}

function creationOf(file: ShopFile, entry: Entry, values: Record<string, unknown>, name: string): Step {
  const { active, ...body } = values;
  checkValues(file, createUnit, entry, body);
  return {
    endpoint: createUnit,
    input: { body },
    changes: [changeOf(`units.${name}`, null, wordsOf(body))],
    takes: [],
    ...(active === false ? { also: { active } } : {}),
  };
}

/**
 * The unit that each entry means: by its id, by its slug, else by its title; undefined where it is a new one, null where it is
 * none that there is.
 */
function matched(
  { faults }: ShopFile,
  entries: readonly Entry[],
  units: readonly Unit[],
): (Unit | undefined | null)[] {
  const meant = entries.map(({ values: { id, slug, title }, lines, line }) => {
    const byId = units.find((unit) => unit.id === id);
    if (id != null && !byId) {
      faults.add(lines.id ?? line, `there is no unit ${id} here`, 'leave id out for a new one');
      return null;
    }
    const bySlug = units.find((unit) => unit.slug === slug);
    if (byId ?? bySlug) return byId ?? bySlug;
    const alike = units.filter((unit) => unit.title.trim() === String(title ?? '').trim());
    if (alike.length <= 1) return alike[0];
    faults.add(
      line,
      `${alike.length} units have the title “${title}”`,
      `name one: slug: ${alike.map((unit) => unit.slug).join(' or ')}`,
    );
    return null;
  });
  meant.forEach((unit, index) => {
    const first = meant.indexOf(unit);
    if (unit && first < index)
      faults.add(
        entries[index]?.line ?? 0,
        `this is the unit ${unit.slug} again, which stands in line ${entries[first]?.line}`,
        'a new unit has a title of its own',
      );
  });
  return meant;
}
