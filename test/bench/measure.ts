// Loads and figures: requests per second over keep-alive connections, medians, and lines that say them.
import { Pool } from 'undici';

const CONNECTIONS = 16;
const ROUND_MS = 3_000;
const ROUNDS = 5;
const WARM_UP_MS = 1_000;

export interface Target {
  name: string;
  url: string;
  method: 'GET' | 'POST';
  /** The same for each request, or of the how manieth it is. */
  path: string | ((request: number) => string);
  headers?: Record<string, string>;
  body?: string;
}

/** Answers per second of a target with all connections busy. Throws on an answer that is not 200. */
async function load(target: Target, ms: number): Promise<number> {
  const pool = new Pool(target.url, { connections: CONNECTIONS });
  const { method, headers, body } = target;
  const { path: given } = target;
  const pathOf = typeof given === 'string' ? () => given : given;
  const started = performance.now();
  let sent = 0;
  let answered = 0;
  const client = async () => {
    while (performance.now() - started < ms) {
      const reply = await pool.request({ path: pathOf(sent++), method, headers, body });
      const text = await reply.body.text();
      if (reply.statusCode !== 200) throw new Error(`${target.name}: ${reply.statusCode} ${text}`);
      answered++;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, client));
  const seconds = (performance.now() - started) / 1000;
  await pool.close();
  return answered / seconds;
}

/** Loads two targets in turn and says the ratio of each pair of rounds, so that a drifting machine shows in both. */
export async function compare(subject: Target, floor: Target): Promise<void> {
  await load(subject, WARM_UP_MS);
  await load(floor, WARM_UP_MS);
  const rounds: { subject: number; floor: number; ratio: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const rates = { floor: await load(floor, ROUND_MS), subject: await load(subject, ROUND_MS) };
    rounds.push({ ...rates, ratio: rates.subject / rates.floor });
  }
  say(`${floor.name}: ${spread(rounds.map((round) => round.floor))} per second`);
  say(`${subject.name}: ${spread(rounds.map((round) => round.subject))} per second`);
  say(
    `ratio: ${spread(
      rounds.map((round) => round.ratio),
      2,
    )}`,
  );
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
