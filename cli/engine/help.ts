// Help for groups and topics.
import { Command as Commander } from 'commander';
import { type Io, print, printJson } from '../output/io.ts';
import type { Registry } from './command.ts';
import { usage } from './errors.ts';
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
  const group = groupCommand(io, registry, path);
  if (unknown !== undefined) {
    group.parse([unknown], { from: 'user' });
    throw usage(`unknown command “${unknown}”`);
  }
  if (io.json !== false) {
    const { describeTree } = await import('./describe.ts');
    return printJson(io, await describeTree(registry, path));
  }
  const bad = rest.find((token) => token.startsWith('-') && !['-h', '--help'].includes(token));
  if (bad !== undefined && bad !== '--json') throw usage(`${bad} needs a command`, 'gw --help');
  print(io, group.helpInformation() + epilogue(path));
}

function groupCommand(io: Io, registry: Registry, path: readonly string[]): Commander {
  const name = path.join(' ');
  const group = new Commander(`gw${name ? ` ${name}` : ''}`)
    .description(
      name
        ? (registry.groups[name]?.summary ?? '')
        : 'Crypto payments from the terminal, for people and programs.',
    )
    .helpOption('-h, --help', 'show this help; with --json the whole tree, for programs')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.stdout.write(text), writeErr: () => {} });
  for (const child of childrenOf(registry, path)) {
    const whole = [...path, child];
    const summary = entryAt(registry, whole)?.summary ?? registry.groups[whole.join(' ')]?.summary ?? '';
    group
      .command(child)
      .summary(summary)
      .action(() => {});
  }
  return group;
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
