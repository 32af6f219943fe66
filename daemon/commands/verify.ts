// `gatewayd verify`: holds the books against their laws and, where asked, against the chains; shows what breaks one.
import type { Snapshot } from '../../data/db/snapshot.ts';
import type { BrokenRow } from '../../data/verify/law.ts';
import {
  type BrokenPart,
  type LawResult,
  lawNumbers,
  type SharedAddress,
  sharedByAccounts,
  verifyLaws,
} from '../../data/verify/verify.ts';
import { systemRuntime } from '../process/runtime.ts';
import { type Config, ConfigError } from '../settings/config.ts';
import { shown } from '../settings/layers.ts';
import { settings } from '../settings/schema.ts';
import { openBooks, verifyInput } from '../verify/books.ts';
import { verifyChains } from '../verify/chain.ts';
import { configAtHome, timeOf } from './options.ts';
import {
  CHAIN_LAW,
  chainLines,
  chainSummary,
  type ShownBalance,
  shownBalance,
} from './verify-chain-report.ts';

/** sysexits EX_DATAERR: a law is broken, or could not be checked. */
const EXIT_BROKEN = 65;
const INDENT = ' '.repeat(16);

export interface VerifyOptions {
  law?: string;
  json?: boolean;
  quiet?: boolean;
  chain?: boolean;
  since?: string;
}

interface Report {
  /** Without its password. */
  database: string;
  /** ISO 8601. */
  checked_at: string;
  ok: boolean;
  laws: LawResult[];
  /** Allowed, and shown: none of these accounts gains power over another. */
  shared_addresses: SharedAddress[];
  /** Law 22, with `--chain`: every watched address in every asset that is read. */
  chain?: ShownBalance[];
}

/**
 * Prints to stdout what was found, and sets the exit code: 0 where all laws that were asked for hold, else 65. Throws
 * ConfigError and DatabaseError where the database cannot be read.
 */
export async function verify(options: Record<string, unknown> & VerifyOptions): Promise<void> {
  const { config } = configAtHome(options, 'reads');
  const laws = options.law === undefined ? undefined : chosen(options.law);
  const now = Math.floor(Date.now() / 1000);
  const since = options.since === undefined ? null : timeOf(options.since, now);
  const progress = createProgress(options.quiet !== true);
  const books = await openBooks(config);
  try {
    const report = await check(books, config, { laws, progress, now });
    if (options.chain) await checkChains(report, books, config, { since, progress });
    progress.end();
    const text = options.json
      ? JSON.stringify(report, null, 2)
      : linesOf(report, options.quiet === true).join('\n');
    if (text !== '') process.stdout.write(`${text}\n`);
    if (!report.ok) process.exitCode = EXIT_BROKEN;
  } finally {
    progress.end();
    await books.close();
  }
}

async function check(
  books: Snapshot,
  config: Config,
  { laws, progress, now }: { laws: number[] | undefined; progress: Progress; now: number },
): Promise<Report> {
  const input = await verifyInput(books, config, now);
  const numbers = laws ?? lawNumbers;
  const results = await verifyLaws(input, {
    laws: numbers,
    onLaw: (law, title) =>
      progress.show(`${numbers.indexOf(law) + 1}/${numbers.length}  law ${law}: ${title}`),
  });
  const url = settings.find(({ name }) => name === 'database_url');
  return {
    database: String(url ? shown(url, config.database_url) : ''),
    checked_at: new Date(now * 1000).toISOString(),
    ok: results.every(({ ok }) => ok),
    laws: results,
    shared_addresses: await sharedByAccounts(books.query),
  };
}

async function checkChains(
  report: Report,
  books: Snapshot,
  config: Config,
  { since, progress }: { since: number | null; progress: Progress },
): Promise<void> {
  const { sleep, elapsed_ms } = systemRuntime;
  const balances = await verifyChains(books, {
    config,
    clock: { ms: Date.now, monotonic_ms: elapsed_ms },
    since,
    sleep,
    onProgress: (text) => progress.show(`law ${CHAIN_LAW}: ${text}`),
  });
  report.chain = balances.map((balance) => shownBalance(balance, config.chains));
  report.ok &&= balances.every(({ ok }) => ok);
}

/** Numbers of laws from `1,4,7`, in order. Throws ConfigError. */
function chosen(text: string): number[] {
  const numbers = text.split(',').map((part) => Number(part.trim()));
  const unknown = numbers.find((number) => !lawNumbers.includes(number));
  if (unknown !== undefined)
    throw new ConfigError(`--law ${text}: use numbers of 1 to ${lawNumbers.length}, such as 1,4`);
  return [...new Set(numbers)].sort((one, other) => one - other);
}

interface Progress {
  show(text: string): void;
  end(): void;
}

/** One line on a terminal's stderr, which is gone afterwards; nothing elsewhere. */
export function createProgress(isWanted: boolean): Progress {
  const { stderr } = process;
  if (!isWanted || stderr.isTTY !== true) return { show() {}, end() {} };
  const clear = '\r\u001b[2K';
  return {
    show: (text) => void stderr.write(`${clear}${text.slice(0, Math.max(0, stderr.columns - 1))}`),
    end: () => void stderr.write(clear),
  };
}

function linesOf(
  { database, checked_at, laws, shared_addresses, chain = [] }: Report,
  isQuiet: boolean,
): string[] {
  const broken = laws.filter(({ count }) => count > 0).length;
  const unchecked = laws.filter(({ unchecked }) => unchecked.length > 0).length;
  const lines = [
    ...laws.flatMap((law) => (isQuiet && law.ok ? [] : lawLines(law))),
    ...chainLines(chain, isQuiet),
  ];
  if (isQuiet && lines.length === 0) return [];
  const shared = shared_addresses.map(
    ({ blockchain, address_key, accounts }) => `  ${blockchain} ${address_key}: ${accounts} accounts`,
  );
  return [
    `${database} as it was at ${checked_at.replace('.000', '')}`,
    '',
    ...lines,
    '',
    ...(isQuiet || shared.length === 0
      ? []
      : ['addresses that several accounts use (allowed, and no fault):', ...shared, '']),
    ...(chain.length === 0 ? [] : [chainSummary(chain)]),
    `${laws.length} laws checked: ${broken === 0 ? 'none is broken' : `${broken} broken`}${
      unchecked === 0 ? '' : `, ${unchecked} could not be checked completely`
    }`,
  ];
}

export function lawLines({ law, title, ok, count, broken, unchecked }: LawResult): string[] {
  const verdict = ok ? 'ok' : count > 0 ? 'BROKEN' : 'unchecked';
  return [
    `${verdict.padEnd(9)}  ${String(law).padStart(2)}  ${title}`,
    ...broken.flatMap(partLines),
    ...unchecked.map((reason) => `${INDENT}not checked: ${reason}`),
  ];
}

function partLines({ says, advice, count, rows }: BrokenPart): string[] {
  const left = count - rows.length;
  return [
    `${INDENT}${says} (${count === 1 ? '1 row' : `${count} rows`}):`,
    ...rows.map((row) => `${INDENT}  ${rowText(row)}`),
    ...(left > 0 ? [`${INDENT}  and ${left} more`] : []),
    `${INDENT}what to do: ${advice}`,
  ];
}

const rowText = (row: BrokenRow): string =>
  Object.entries(row)
    .map(([name, value]) => `${name}=${value === null ? '-' : value}`)
    .join(' ');
