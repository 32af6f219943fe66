// One command line from its words to its exit code.
import { type Io, paint, printJson, processIo } from '../output/io.ts';
import { clean, cleanLines } from '../output/text.ts';
import type { Registry } from './command.ts';
import { exits, GwError, toGwError } from './errors.ts';
import { printGroup, printTopic, printVersion } from './help.ts';
import { invoke } from './invoke.ts';
import { type Line, readLine } from './resolve.ts';
import { isKnownTopic } from './topics.ts';
import { VERSION } from './version.ts';

const SIGNALS = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 } as const;
const SIGNAL_BASE = 128;

/** Exit code of the command line. */
export async function run(argv: readonly string[], registry: Registry): Promise<number> {
  const io = processIo();
  let line = readLine(argv, registry);
  io.json = line.json;
  const stop = new AbortController();
  endOnSignal(stop);
  try {
    if (line.unknown !== undefined) {
      const { withOwnAlias } = await import('./own-aliases.ts');
      line = await withOwnAlias(argv, line, registry, io.env);
      io.json = line.json;
    }
    await dispatch(line, registry, io, stop.signal);
    return Number(process.exitCode ?? 0);
  } catch (error) {
    return await report(error, io, line, registry);
  }
}

async function dispatch(line: Line, registry: Registry, io: Io, signal: AbortSignal): Promise<void> {
  const { entry, topic, version } = line;
  const isTopic = topic !== undefined && isKnownTopic(topic);
  if (entry && !version && !isTopic) {
    return invoke({ ...line, entry }, registry, io, signal);
  }
  if (isTopic) return printTopic(io, topic);
  if (version) return printVersion(io, VERSION);
  return printGroup(io, registry, line);
}

/** Ends at a signal with the code shells expect. Screens put the terminal back on exit. */
function endOnSignal(stop: AbortController): void {
  for (const [signal, number] of Object.entries(SIGNALS))
    process.once(signal, () => {
      stop.abort();
      process.exit(SIGNAL_BASE + number);
    });
}

/** Prints what went wrong on stderr; the exit code. */
async function report(error: unknown, io: Io, { json, path }: Line, registry: Registry): Promise<number> {
  const fault = isCommanders(error) ? fromCommander(error, path) : toGwError(error);
  if (fault === null) return exits.ok.code;
  const shown =
    fault ?? new GwError('general', `unexpected failure: ${(error as Error).message}`, { code: 'bug' });
  if (shown.details.wants_remedy) {
    const [{ addRemedy }, { inCommands }] = await Promise.all([
      import('./remedy.ts'),
      import('./plain-words.ts'),
    ]);
    await addRemedy(shown, registry);
    shown.in_words = await inCommands(shown.message, registry);
  }
  if (json) printJson({ ...io, stdout: io.stderr, writer: undefined }, shown.toJSON());
  // A person who pressed Ctrl-C knows.
  else if (shown.kind !== 'interrupted') {
    const { hint, request_id } = shown.details;
    io.stderr.write(`${paint(io, 'red', 'gw:')} ${clean(shown.in_words ?? shown.message)}\n`);
    if (hint) io.stderr.write(`  ${paint(io, 'cyan', '→')} ${clean(hint)}\n`);
    if (request_id && shown.kind === 'general') io.stderr.write(`  request ${clean(request_id)}\n`);
    if (!fault && io.env.GW_DEBUG) io.stderr.write(`${cleanLines((error as Error).stack ?? '')}\n`);
  }
  return shown.exit_code;
}

interface CommandersError extends Error {
  code: string;
  exitCode: number;
}

/** Known by its code: commander itself may not even be loaded. */
const isCommanders = (error: unknown): error is CommandersError =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('commander.');

/** Null where commander has only printed what was wanted. */
function fromCommander(
  { message: text, exitCode }: CommandersError,
  path: readonly string[],
): GwError | null {
  if (exitCode === 0) return null;
  const [message = '', ...rest] = text.replace(/^error: /, '').split('\n');
  const here = ['gw', ...path].join(' ');
  const hint = rest
    .join(' ')
    .replace(/^\(Did you mean (.*)\)$/, 'did you mean $1')
    .replace(/(one of |, |mean )(?!one of)([a-z])/g, `$1${here} $2`);
  return new GwError('usage', message, { code: 'usage', hint: hint || `${here} --help` });
}
