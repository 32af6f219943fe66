// One command line from its words to its exit code.
import { CommanderError } from 'commander';
import type { Command } from './command.ts';
import { createContext } from './context.ts';
import { exits, GwError, milliseconds, toGwError, usage } from './errors.ts';
import { type ColorMode, type Io, paint, printJson, processIo, wantsColor } from './io.ts';
import { fieldsOf, type Parsed, parseLeaf } from './parse.ts';
import { clean, cleanLines } from './text.ts';
import { findCommand } from './tree.ts';
import { VERSION } from './version.ts';

const SIGNALS = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 } as const;
const SIGNAL_BASE = 128;
const DEFAULT_TIMEOUT = '30s';

/** Exit code of the command line. */
export async function run(argv: readonly string[]): Promise<number> {
  const io = processIo();
  const json = argv.some((token) => token === '--json' || token.startsWith('--json='));
  io.json = json;
  const stop = new AbortController();
  endOnSignal(stop);
  try {
    await dispatch(argv, io, stop.signal);
    return Number(process.exitCode ?? 0);
  } catch (error) {
    return report(error, io, json);
  }
}

async function dispatch(argv: readonly string[], io: Io, signal: AbortSignal): Promise<void> {
  const words = argv[0] === 'help' ? argv.slice(1) : argv;
  const asked = argv[0] === 'help';
  const { topics, printVersion, printGroup, printTopic } = await import('./help.ts');
  if (asked && words[0] !== undefined && Object.hasOwn(topics, words[0])) return printTopic(io, words[0]);
  if (argv.some((token) => token === '--version' || token === '-V')) return printVersion(io, VERSION);
  const found = findCommand(words);
  const wantsHelp = asked || found.rest.includes('--help') || found.rest.includes('-h');
  if (!found.entry) return printGroup(io, found, wantsHelp);
  const command = await found.entry.load();
  const parsed = parseLeaf({ command, entry: found.entry, rest: asked ? ['--help'] : found.rest, io });
  if (parsed) await runCommand(command, parsed, io, signal);
}

async function runCommand(command: Command, parsed: Parsed, io: Io, signal: AbortSignal): Promise<void> {
  const { options, given } = parsed;
  const text = (name: string): string | undefined => options[name] as string | undefined;
  io.json = jsonMode(command, text('json'));
  io.quiet = options.quiet === true;
  io.color = wantsColor((text('color') ?? io.env.GW_COLOR ?? 'auto') as ColorMode, io);
  // What screens are painted with reads it when it is loaded.
  if (!io.color) io.env.FORCE_COLOR = '0';
  io.prompts =
    io.stdin.isTTY === true &&
    io.stderr.isTTY === true &&
    options.input !== false &&
    !io.env.GW_NO_INPUT &&
    !io.env.CI;
  const ownTimeout = command.flags?.some(({ name }) => name === 'timeout');
  const timeout = (ownTimeout ? undefined : text('timeout')) ?? io.env.GW_TIMEOUT ?? DEFAULT_TIMEOUT;
  const context = createContext({
    command,
    io,
    given,
    signal,
    target: { url: text('url'), api_key: text('apiKey'), token: text('token'), profile: text('profile') },
    flags: {
      yes: options.yes === true,
      dry_run: options.dryRun === true,
      verbose: options.verbose === true,
      timeout_ms: milliseconds(timeout, '--timeout'),
      idempotency_key: text('idempotencyKey'),
    },
  });
  await command.run(context);
}

/** `--json` gives all members, `--json id,status` those; a name that no reply has is an error that lists them. */
function jsonMode(command: Command, value: string | undefined): Io['json'] {
  if (value === undefined) return false;
  const names = value.split(',').filter((name) => name !== '');
  if (names.length === 0) return true;
  const known = fieldsOf(command);
  const unknown = names.filter((name) => known.size > 0 && !known.has(name));
  if (unknown.length > 0)
    throw usage(`unknown member ${unknown.join(', ')}`, `--json takes: ${[...known].join(', ')}`);
  return names;
}

/** Ends at a signal with the code shells expect. Screens put the terminal back on exit. */
function endOnSignal(stop: AbortController): void {
  for (const [signal, number] of Object.entries(SIGNALS))
    process.once(signal, () => {
      stop.abort();
      process.exit(SIGNAL_BASE + number);
    });
}

/** Says what went wrong on stderr; the exit code. */
function report(error: unknown, io: Io, json: boolean): number {
  if (error instanceof CommanderError && error.exitCode === 0) return exits.ok.code;
  const known = error instanceof CommanderError ? fromCommander(error) : toGwError(error);
  const said =
    known ?? new GwError('general', `unexpected failure: ${(error as Error).message}`, { code: 'bug' });
  if (json) printJson({ ...io, stdout: io.stderr }, said.toJSON());
  // Whoever pressed Ctrl-C knows.
  else if (said.kind !== 'interrupted') {
    const { hint, request_id } = said.details;
    io.stderr.write(`${paint(io, 'red', 'gw:')} ${clean(said.message)}\n`);
    if (hint) io.stderr.write(`  ${paint(io, 'cyan', '→')} ${clean(hint)}\n`);
    if (request_id && said.kind === 'general') io.stderr.write(`  request ${clean(request_id)}\n`);
    if (!known && io.env.GW_DEBUG) io.stderr.write(`${cleanLines((error as Error).stack ?? '')}\n`);
  }
  return said.exit_code;
}

function fromCommander(error: CommanderError): GwError {
  const [message = '', ...rest] = error.message.replace(/^error: /, '').split('\n');
  const hint = rest.join(' ').replace(/^\((.*)\)$/, '$1');
  return new GwError('usage', message, { code: 'usage', hint: hint || 'gw --help' });
}
