// Commands as programs read them: the whole tree, or one command with its flags, variables and examples.
import type { Command, CommandEntry, Registry } from './command.ts';
import { exits } from './errors.ts';
import { readsEnvironment, variableOf } from './flags.ts';
import { universal } from './globals.ts';
import { allFlags } from './input.ts';
import { environment } from './topics.ts';

/** A command for programs: its flags, variables, arguments and examples. */
export function describe(entry: CommandEntry, command: Command): Record<string, unknown> {
  return {
    command: `gw ${entry.path}`,
    summary: entry.summary,
    endpoints: command.endpoints.map(({ id }) => id),
    args: (command.args ?? []).map(
      (field) => allFlags(command).find((flag) => flag.field === field)?.name ?? field,
    ),
    stream: command.stream === true,
    flags: allFlags(command).map((flag) => ({
      flag: `--${flag.name}`,
      env: readsEnvironment(flag, command.input?.method) ? variableOf(flag) : null,
      type: flag.kind,
      required: flag.required === true,
      ...(flag.choices ? { choices: flag.choices } : {}),
      ...(flag.default === undefined ? {} : { default: flag.default }),
      help: flag.help,
    })),
    examples: command.examples,
  };
}

/** Everything below a path. */
export async function describeTree({ entries }: Registry, path: readonly string[]) {
  const prefix = path.join(' ');
  const here = entries.filter((entry) => prefix === '' || entry.path.startsWith(`${prefix} `));
  return {
    name: 'gw',
    commands: await Promise.all(here.map(async (entry) => describe(entry, await entry.load()))),
    global_flags: universal().map(({ name }) => `--${name}`),
    environment: environment(),
    exit_codes: exits,
  };
}
