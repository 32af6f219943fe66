// Runs one command: reads its flags, puts together what it is given, calls it.
import { type ColorMode, type Io, type Writer, wantsColor } from '../output/io.ts';
import type { Command, CommandEntry, Registry } from './command.ts';
import { createContext } from './context.ts';
import { milliseconds, usage } from './errors.ts';
import { DEFAULT_TIMEOUT, type GlobalValues, isWrite } from './globals.ts';
import { printCommand } from './help.ts';
import { fieldsOf, parseLeaf } from './parse.ts';
import type { Line } from './resolve.ts';

/** Runs the command that a line names, or prints its help. */
export async function invoke(
  { entry, rest, help }: Line & { entry: CommandEntry },
  registry: Registry,
  io: Io,
  signal: AbortSignal,
): Promise<void> {
  const command = await entry.load();
  if (help) return printCommand(io, command, entry);
  const { values, given } = await parseLeaf({ command, entry, rest, env: io.env });
  io.json = jsonMode(command, values.flag('json'));
  io.writer = await writerOf(command, io, values);
  if (io.writer && io.json === false) io.json = true;
  setUp(io, values.text('color'), values.isOn('quiet'), !values.isOn('no-input'));
  await command.run(
    createContext({
      command,
      io,
      registry,
      globals: values,
      timeout_ms: milliseconds(values.text('timeout') ?? DEFAULT_TIMEOUT, '--timeout'),
      given,
      words: [...entry.path.split(' '), ...rest],
      signal,
    }),
  );
}

/** How stdout and stderr are written, after the flags and the environment. */
function setUp(io: Io, color: string | undefined, quiet: boolean, mayAsk: boolean): void {
  io.quiet = quiet;
  io.color = wantsColor((color ?? 'auto') as ColorMode, io);
  // What screens are painted with reads it when it is loaded.
  if (!io.color) io.env.FORCE_COLOR = '0';
  io.prompts = io.stdin.isTTY === true && io.stderr.isTTY === true && mayAsk && !io.env.CI;
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

/** What writes in place of JSON; what is wrong with it is found before anything is asked. */
async function writerOf(command: Command, io: Io, values: GlobalValues): Promise<Writer | undefined> {
  const [expression, template, csv] = [values.flag('jq'), values.flag('template'), values.isOn('csv')];
  if (expression === undefined && template === undefined && !csv) return undefined;
  if ([expression !== undefined, template !== undefined, csv].filter(Boolean).length > 1)
    throw usage('--jq, --template and --csv exclude each other');
  const { csvWriter, jqWriter, templateWriter } = await import('../output/writer.ts');
  if (expression !== undefined) return jqWriter(io, expression, isWrite(command) && !values.isOn('dry-run'));
  return template === undefined
    ? csvWriter(io)
    : templateWriter(io, template, Array.isArray(io.json) ? new Set(io.json) : fieldsOf(command));
}
