// Holds the laws of the books against a database: read-only, each law by its number, with the rows that break it.
import { sql } from 'kysely';
import type { Executor } from '../db/database.ts';
import { invoiceLaws } from './invoice-laws.ts';
import type { BrokenRow, Check, Found, VerifyContext } from './law.ts';
import { ledgerLaws } from './ledger-laws.ts';
import { readingLaws } from './reading-laws.ts';
import { schemaLaws } from './schema-laws.ts';
import { transferLaws } from './transfer-laws.ts';

const checks: readonly Check[] = [
  ...ledgerLaws,
  ...transferLaws,
  ...invoiceLaws,
  ...readingLaws,
  ...schemaLaws,
];

/** What each law is about; whole laws are sentences of `checks`. */
const titles: Record<number, string> = {
  1: 'the ledger is one chain per merchant, and its end is the balance',
  2: 'every entry is booked between the accounts of its kind',
  3: 'a confirmed invoice has its income and its fee, or its refill, once',
  4: 'sums are the sums of their rows',
  5: 'what is booked is matched to its confirmed invoice',
  6: 'an invoice has received what is booked for it',
  7: 'what was booked came in time and was deep enough',
  8: 'an open invoice shows what has come in',
  9: 'every transfer is in an invoice or listed as a payment',
  10: 'statuses of invoices and payments go together',
  11: 'logs have no gap',
  12: 'invoices end when they must',
  13: 'everything that happened has its event, once',
  14: 'webhooks are sent once, and say how it went',
  15: 'amounts and memos name one invoice',
  16: 'amounts are the price at the rate',
  17: 'what may be paid is watched',
  18: 'reading has no gap and no future',
  19: 'an account is read as one asset of one address',
  20: 'nothing contradicts',
  21: 'the database is whole, and its laws are in force',
};

/** The law that the whole file is read for. */
const DAMAGES = 21;

/** Of all laws that a database alone can be held against. */
export const lawNumbers: readonly number[] = Object.keys(titles).map(Number);

export interface BrokenPart extends Found {
  says: string;
  advice: string;
}

export interface LawResult {
  law: number;
  title: string;
  /** Whether all of it was checked and nothing breaks it. */
  ok: boolean;
  /** Rows that break it, in all. */
  count: number;
  broken: BrokenPart[];
  /** Why parts of it could not be checked. */
  unchecked: string[];
  took_ms: number;
}

/** An address that several accounts use: allowed, and shown. */
export interface SharedAddress {
  blockchain: string;
  address_key: string;
  accounts: number;
}

export type VerifyInput = Omit<VerifyContext, 'alive_at'>;

export interface VerifyOptions {
  /** Only these. */
  laws?: readonly number[] | undefined;
  /** Called before each law is checked. */
  onLaw?: ((law: number, title: string) => void) | undefined;
}

/**
 * Checks every law in turn. `input.query` must show one state for as long as that takes. Writes nothing; a law that cannot
 * be asked, because a value is no value, counts as broken.
 */
export async function verifyLaws(input: VerifyInput, options: VerifyOptions = {}): Promise<LawResult[]> {
  // Begun first, because it takes longest and by a thread of its own.
  const damages = options.laws?.includes(DAMAGES) === false ? undefined : input.damages?.();
  damages?.catch(() => undefined);
  const context: VerifyContext = {
    ...input,
    damages: damages && (() => damages),
    alive_at: await aliveAt(input.query),
  };
  const results: LawResult[] = [];
  for (const [number, title] of Object.entries(titles)) {
    const law = Number(number);
    if (options.laws && !options.laws.includes(law)) continue;
    options.onLaw?.(law, title);
    const began = performance.now();
    const result: LawResult = { law, title, ok: true, count: 0, broken: [], unchecked: [], took_ms: 0 };
    for (const check of checks.filter((each) => each.law === law)) {
      const found = await ask(context, check);
      if ('unchecked' in found) result.unchecked.push(found.unchecked);
      else if (found.count > 0) {
        const { count, rows } = found;
        result.broken.push({ says: check.says, advice: check.advice, count, rows });
        result.count += count;
      }
    }
    result.ok = result.count === 0 && result.unchecked.length === 0;
    result.took_ms = Math.round(performance.now() - began);
    results.push(result);
  }
  return results;
}

/** A statement that fails must not end the transaction that all of them share, where there is one. */
async function ask(context: VerifyContext, check: Check): Promise<Found | { unchecked: string }> {
  const run = (text: string) => sql.raw(text).execute(context.query);
  const is_marked =
    context.dialect === 'postgres' &&
    (await run('savepoint law').then(
      () => true,
      () => false,
    ));
  try {
    const found = await check.find(context);
    if (is_marked) await run('release savepoint law');
    return found;
  } catch (error) {
    if (is_marked) await run('rollback to savepoint law');
    const row: BrokenRow = { fault: 'it cannot be asked', reason: (error as Error).message };
    return { count: 1, rows: [row] };
  }
}

/** When a daemon had surely run last: it had read a blockchain then. 0 where none ever did. */
async function aliveAt(query: Executor): Promise<number> {
  const row = await query
    .selectFrom('cursors')
    .select((of) => of.fn.max('last_ok_at').as('at'))
    .executeTakeFirst();
  return Number(row?.at ?? 0);
}

/** Addresses that several accounts use. */
export async function sharedByAccounts(query: Executor): Promise<SharedAddress[]> {
  const rows = await query
    .selectFrom('address_accounts')
    .select((of) => ['blockchain', 'address_key', of.fn.countAll().as('accounts')])
    .groupBy(['blockchain', 'address_key'])
    .having((of) => of.fn.countAll(), '>', 1)
    .orderBy('blockchain')
    .orderBy('address_key')
    .limit(SHARED_SHOWN)
    .execute();
  return rows.map(({ accounts, ...address }) => ({ ...address, accounts: Number(accounts) }));
}

const SHARED_SHOWN = 100;
