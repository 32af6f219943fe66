// Loads and figures: requests per second over keep-alive connections, medians, and lines that say them.
import { Pool } from 'undici';

const CONNECTIONS = 16;
const ROUND_MS = 3_000;
const ROUNDS = 5;
/** Until what is run often has been compiled: a second was not enough. */
const WARM_UP_MS = 4_000;

export interface Target {
  name: string;
  /** Of several, each has as many connections as a single one would. */
  url: string | readonly string[];
  method: 'GET' | 'POST';
  /** The same for each request, or of the how manieth it is; so is the body. */
  path: string | ((request: number) => string);
  headers?: Record<string, string>;
  body?: string | ((request: number) => string);
}

export interface Loaded {
  /** Answers per second. */
  rate: number;
  p99_ms: number;
}

/** How long a load lasts, or of how many requests it is. */
type Amount = { ms: number } | { requests: number };

const valueAt = <T>(given: T | ((request: number) => T), request: number): T =>
  given instanceof Function ? given(request) : given;

/** A target with all connections busy. Throws on an answer that is not 200. */
export async function load(target: Target, amount: Amount): Promise<Loaded> {
  const urls = [target.url].flat();
  const pools = urls.map((url) => new Pool(url, { connections: CONNECTIONS }));
  const clients = CONNECTIONS * urls.length;
  const { method, headers } = target;
  const started = performance.now();
  let sent = 0;
  const isOver = () => ('ms' in amount ? performance.now() - started >= amount.ms : sent >= amount.requests);
  const times: number[] = [];
  const client = async (pool: Pool) => {
    while (!isOver()) {
      const request = sent++;
      const [path, body] = [valueAt(target.path, request), valueAt(target.body, request)];
      const begun = performance.now();
      const reply = await pool.request({ path, method, headers, body });
      // Not as text: to decode what is packed would take longer than to ask for it.
      const bytes = await reply.body.bytes();
      if (reply.statusCode !== 200)
        throw new Error(`${target.name}: ${reply.statusCode} ${Buffer.from(bytes)}`);
      times.push(performance.now() - begun);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, at) => client(pools[at % pools.length] as Pool)));
  const seconds = (performance.now() - started) / 1000;
  await Promise.all(pools.map((pool) => pool.close()));
  return { rate: times.length / seconds, p99_ms: p99(times) };
}

/** What is asked of a pair: answers at least so many times as often, and the slowest hundredth at most so many times as slow. */
interface Targets {
  ratio?: number;
  p99_ratio?: number;
}

/** Loads targets in turn, round by round, so that a drifting machine shows in all of them. */
export async function loadInTurns<Name extends string>(
  targets: Record<Name, Target>,
): Promise<Record<Name, Loaded>[]> {
  const named = Object.entries<Target>(targets);
  for (const [, target] of named) await load(target, { ms: WARM_UP_MS });
  const rounds: Record<Name, Loaded>[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const loaded: [string, Loaded][] = [];
    for (const [name, target] of named) loaded.push([name, await load(target, { ms: ROUND_MS })]);
    rounds.push(Object.fromEntries(loaded) as Record<Name, Loaded>);
  }
  return rounds;
}

/** Loads two targets in turn and says the ratios of each pair of rounds. */
export async function compare(subject: Target, floor: Target, targets: Targets = {}): Promise<void> {
  const rounds = await loadInTurns({ floor, subject });
  for (const [{ name }, of] of [[floor, 'floor'] as const, [subject, 'subject'] as const])
    say(
      `${name}: ${spread(rounds.map((round) => round[of].rate))} per second, p99 ${spread(
        rounds.map((round) => round[of].p99_ms),
        1,
      )} ms`,
    );
  atLeast(
    `${subject.name}: ratio`,
    rounds.map((round) => round.subject.rate / round.floor.rate),
    targets.ratio,
  );
  atMost(
    `${subject.name}: p99 ratio`,
    rounds.map((round) => round.subject.p99_ms / round.floor.p99_ms),
    targets.p99_ratio,
  );
}

/** What was missed by more than the spread of its run; the benches fail by them. */
export const misses: string[] = [];

/** Says a figure; it misses its target where even the highest of its run is below. */
export function atLeast(name: string, values: readonly number[], target: number | undefined): void {
  judge(name, values, target, `at least ${target}`, Math.max(...values) < (target ?? 0));
}

/** The same of a figure that must be low. */
export function atMost(
  name: string,
  values: readonly number[],
  target: number | undefined,
  digits = 2,
): void {
  const missed = target !== undefined && Math.min(...values) > target;
  judge(name, values, target, `at most ${target}`, missed, digits);
}

function judge(
  name: string,
  values: readonly number[],
  target: number | undefined,
  wanted: string,
  missed: boolean,
  digits = 2,
): void {
  const line = `${name}: ${spread(values, digits)}`;
  if (missed) misses.push(`${line}; ${wanted}`);
  say(target === undefined ? line : `${line}; ${wanted}${missed ? ': MISSED' : ''}`);
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** The value that 99 of 100 do not exceed. */
export function p99(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? Number.NaN;
}

/** `median (minimum to maximum)`. */
export const spread = (values: readonly number[], digits = 0): string =>
  `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)} to ${Math.max(...values).toFixed(digits)})`;

export const say = (line: string): void => console.log(`  ${line}`);
