// Finds the command that a command line names, before anything else of it is read.
import { aliases, type Entry, entries, groups } from './commands.ts';

/** Flags of every command that take a value, so that the value is not taken for a command's name. */
const VALUED = new Set([
  '--url',
  '--api-key',
  '--token',
  '--profile',
  '--timeout',
  '--color',
  '--idempotency-key',
]);

export interface Found {
  /** Words of the path that were recognised, in their full form. */
  path: string[];
  entry: Entry | undefined;
  /** Everything else of the command line, in its order. */
  rest: string[];
  /** A word that is no command here. */
  unknown: string | undefined;
}

/** Names below a path: commands and groups. */
export const childrenOf = (path: readonly string[]): string[] => {
  const prefix = path.length === 0 ? '' : `${path.join(' ')} `;
  const names = entries
    .filter((entry) => entry.path.startsWith(prefix))
    .map((entry) => entry.path.slice(prefix.length).split(' ')[0] ?? '');
  return [...new Set(names)];
};

export const entryAt = (path: readonly string[]): Entry | undefined =>
  entries.find((entry) => entry.path === path.join(' '));

export function findCommand(argv: readonly string[]): Found {
  const path: string[] = [];
  const rest: string[] = [];
  let lists = false;
  let index = 0;
  for (; index < argv.length; index += 1) {
    const token = argv[index] ?? '';
    if (token === '--') break;
    if (token.startsWith('-')) {
      rest.push(token);
      if (VALUED.has(token) && index + 1 < argv.length) rest.push(argv[++index] ?? '');
      continue;
    }
    const names = childrenOf(path);
    const alias = path.length === 0 ? aliases[token] : undefined;
    const name = names.includes(token) ? token : alias;
    if (name === undefined) break;
    path.push(...name.split(' '));
    lists = (name !== token || groups[name]?.lists === true) && entryAt([...path, 'list']) !== undefined;
    // `gw units`, `gw invoices --status created`: the noun lists where no verb follows it.
    if (childrenOf(path).length === 0 || (lists && argv[index + 1]?.startsWith('-'))) {
      index += 1;
      break;
    }
  }
  const others = [...rest, ...argv.slice(index)];
  const entry = entryAt(path);
  const next = argv[index];
  const isWord = index < argv.length && next !== '--' && !next?.startsWith('-');
  const wantsHelp = others.includes('--help') || others.includes('-h');
  const list = entryAt([...path, 'list']);
  if (!entry && list && lists && !isWord && !wantsHelp)
    return { path: [...path, 'list'], entry: list, rest: others, unknown: undefined };
  return { path, entry, rest: others, unknown: entry || !isWord ? undefined : next };
}
