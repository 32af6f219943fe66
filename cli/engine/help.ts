// Help for commands, groups and topics.
import { type Io, print, printJson } from '../output/io.ts';
import type { Command, CommandEntry, Registry } from './command.ts';
import { usage } from './errors.ts';
import { layOut } from './help-layout.ts';
import { allFlags } from './input.ts';
import { type LineOption, optionsOf } from './options.ts';
import { childrenOf, entryAt } from './registry.ts';
import type { Line } from './resolve.ts';
import { topics } from './topics.ts';

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

/** Lists what a group has; an unknown word is refused with the nearest known one. */
export async function printGroup(io: Io, registry: Registry, line: Line): Promise<void> {
  const { path, unknown, rest } = line;
  if (unknown !== undefined) {
    const { refuseWord } = await import('./commander.ts');
    refuseWord(unknown, registry, path);
    throw usage(`unknown command “${unknown}”`);
  }
  if (io.json !== false) {
    const { describeTree } = await import('./describe.ts');
    return printJson(io, await describeTree(registry, path));
  }
  const bad = rest.find((token) => token.startsWith('-') && !['-h', '--help'].includes(token));
  if (bad !== undefined && bad !== '--json') throw usage(`${bad} needs a command`, 'gw --help');
  print(io, layOut(io, groupHelp(registry, path)) + epilogue(path));
}

function groupHelp(registry: Registry, path: readonly string[]) {
  const name = path.join(' ');
  const items = childrenOf(registry, path).map((child): [string, string] => {
    const whole = [...path, child];
    return [child, entryAt(registry, whole)?.summary ?? registry.groups[whole.join(' ')]?.summary ?? ''];
  });
  return {
    usage: `gw${name ? ` ${name}` : ''} [options] [command]`,
    about: name
      ? (registry.groups[name]?.summary ?? '')
      : 'Crypto payments from the terminal, for people and programs.',
    sections: [
      {
        title: 'Options',
        items: [['-h, --help', 'show this help; with --json the whole tree, for programs']] as const,
      },
      { title: 'Commands', items },
    ],
  };
}

/** The help of one command. */
export function printCommand(io: Io, command: Command, { path, summary }: CommandEntry): void {
  const flags = allFlags(command);
  const args = (command.args ?? []).map((field) => flags.find((flag) => flag.field === field));
  const shown = optionsOf(command, flags).filter(({ hidden }) => !hidden);
  // Help itself stands last among the options of a command.
  const isHelp = ({ attribute }: LineOption) => attribute === 'help';
  const own = shown.filter((option) => !option.is_global && !isHelp(option));
  const items = (options: readonly LineOption[]) => options.map(({ term, help }) => [term, help] as const);
  const places = args.map((flag, index) => `[${flag?.name ?? command.args?.[index]}]`);
  const text = layOut(io, {
    usage: ['gw', path, '[options]', ...places].join(' '),
    about: `${summary}.\n\n${(command.about ?? command.input?.description ?? '').replaceAll('`', '')}`.trim(),
    sections: [
      {
        title: 'Arguments',
        items: args.flatMap((flag) => (flag?.help ? [[flag.name, flag.help] as const] : [])),
      },
      { title: 'Options', items: items([...own, ...shown.filter(isHelp)]) },
      { title: 'Global flags', items: items(shown.filter(({ is_global }) => is_global)) },
    ],
  });
  const examples = command.examples.map((line) => `  ${line}`).join('\n');
  print(io, `${text}\nExamples:\n${examples}\n\nExit codes: gw help exit-codes\n`);
}

function epilogue(path: readonly string[]): string {
  if (path.length > 0) return `\nHelp for a command: gw ${path.join(' ')} COMMAND --help\n`;
  return `
Get started:
  gw signup --email you@example.com        create an account; asks for a password
  gw wallet set ton ADDRESS                set where you are paid
  gw invoice create --chain ton --amount 5 create an invoice and show its QR code
  gw invoice simulate ID                   pay it, on testnet in demo mode
  gw income                                list what you have earned

More: gw help COMMAND, ${Object.keys(topics)
    .map((topic) => `gw help ${topic}`)
    .join(', ')}, gw --help --json
`;
}
