// Help for groups and topics, and the whole tree of commands for programs.
import { Command as Commander } from 'commander';
import type { Command } from './command.ts';
import { type Entry, entries, groups } from './commands.ts';
import { exits, usage } from './errors.ts';
import { readsEnvironment, variableOf } from './flags.ts';
import { allFlags } from './input.ts';
import { type Io, print, printJson } from './io.ts';
import { childrenOf, entryAt, type Found } from './tree.ts';

const environment: Record<string, string> = {
  GW_URL: 'the service; default http://127.0.0.1:4020',
  GW_API_KEY: 'merchant or platform key',
  GW_TOKEN: 'access token of a user',
  GW_PROFILE: 'profile to use',
  GW_CONFIG_DIR: 'directory of the profiles',
  GW_TIMEOUT: 'longest wait for one answer',
  GW_NO_INPUT: 'never ask anything',
  GW_COLOR: 'auto, always or never',
  GW_DEBUG: 'stack of an unexpected failure',
  NO_COLOR: 'no colours',
  CI: 'never ask anything',
};

/** What `gw help TOPIC` knows besides commands. */
export const topics: Record<string, { summary: string; rows: () => Record<string, unknown>[] }> = {
  'exit-codes': {
    summary: 'what each exit code means',
    rows: () => Object.entries(exits).map(([kind, { code, means }]) => ({ code, kind, means })),
  },
  environment: {
    summary: 'variables that gw reads',
    rows: () => [
      ...Object.entries(environment).map(([name, means]) => ({ name, means })),
      {
        name: 'GW_…',
        means: 'flags of a command: --external-ref is GW_EXTERNAL_REF; not what an update may leave out',
      },
    ],
  },
};

export function printTopic(io: Io, topic: string): void {
  const rows = topics[topic]?.rows() ?? [];
  if (io.json !== false) printJson(io, rows);
  else
    for (const row of rows) {
      const [first, ...others] = Object.values(row).map(String);
      print(io, `${(first ?? '').padEnd(16)}${others.join('  ')}`);
    }
}

export function printVersion(io: Io, version: string): void {
  if (io.json === false) print(io, version);
  else
    printJson(io, { version, node: process.versions.node, platform: `${process.platform}-${process.arch}` });
}

/** A command for programs: its flags, variables, arguments and examples. */
export function describe(entry: Entry, command: Command): Record<string, unknown> {
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

const GLOBAL_FLAGS =
  '--json --url --api-key --token --profile --timeout --no-input --yes --quiet --verbose --color --help';

async function printTree(io: Io, path: readonly string[]): Promise<void> {
  const prefix = path.join(' ');
  const here = entries.filter((entry) => prefix === '' || entry.path.startsWith(`${prefix} `));
  const commands = await Promise.all(here.map(async (entry) => describe(entry, await entry.load())));
  printJson(io, {
    name: 'gw',
    commands,
    global_flags: GLOBAL_FLAGS.split(' '),
    environment,
    exit_codes: exits,
  });
}

/** Lists what a group has; an unknown word is refused with the nearest known one. */
export async function printGroup(io: Io, found: Found, wantsHelp: boolean): Promise<void> {
  const { path, unknown } = found;
  const group = groupCommand(io, path);
  if (unknown !== undefined) {
    group.parse([unknown], { from: 'user' });
    throw usage(`unknown command “${unknown}”`);
  }
  if (io.json !== false && (wantsHelp || path.length === 0)) return printTree(io, path);
  const bad = found.rest.find((token) => token.startsWith('-') && !['-h', '--help'].includes(token));
  if (bad !== undefined && bad !== '--json') throw usage(`${bad} needs a command`, 'gw --help');
  if (wantsHelp || path.length === 0) return print(io, group.helpInformation() + epilogue(path));
  throw usage(
    `gw ${path.join(' ')} needs one of: ${childrenOf(path).join(', ')}`,
    `gw ${path.join(' ')} --help`,
  );
}

function groupCommand(io: Io, path: readonly string[]): Commander {
  const name = path.join(' ');
  const group = new Commander(`gw${name ? ` ${name}` : ''}`)
    .description(
      name ? (groups[name]?.summary ?? '') : 'Crypto payments from the terminal, for people and programs.',
    )
    .helpOption('-h, --help', 'show this; with --json the whole tree for programs')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.stdout.write(text), writeErr: () => {} });
  for (const child of childrenOf(path)) {
    const whole = [...path, child];
    const summary = entryAt(whole)?.summary ?? groups[whole.join(' ')]?.summary ?? '';
    group
      .command(child)
      .summary(summary)
      .action(() => {});
  }
  return group;
}

function epilogue(path: readonly string[]): string {
  if (path.length > 0) return `\nHelp on a command: gw ${path.join(' ')} COMMAND --help\n`;
  return `
Begin:
  gw signup --email you@example.com        an account; its password is asked for
  gw wallet set ton ADDRESS                where you are paid
  gw invoice create --chain ton --amount 5 an invoice, with its QR code
  gw invoice simulate ID                   pay it, on testnet in demo mode
  gw income                                what came in

More: gw help COMMAND, ${Object.keys(topics)
    .map((topic) => `gw help ${topic}`)
    .join(', ')}, gw --help --json
`;
}
