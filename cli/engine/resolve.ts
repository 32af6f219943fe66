// Reads a command line once: the command it names, and what concerns every command.
import type { CommandEntry, Registry } from './command.ts';
import { valued } from './globals.ts';
import { childrenOf, entryAt } from './registry.ts';

export interface Line {
  /** Words of the path that were recognised, in their full form. */
  path: string[];
  entry: CommandEntry | undefined;
  /** Everything else of the command line, in its order. */
  rest: string[];
  /** A word that is no command here. */
  unknown: string | undefined;
  /** The word behind `gw help`; empty for `gw help` alone, undefined where the line does not begin with it. */
  topic: string | undefined;
  /** Whether help is wanted, by the word or by the flag. */
  help: boolean;
  version: boolean;
  json: boolean;
}

export function readLine(argv: readonly string[], registry: Registry): Line {
  const topic = argv[0] === 'help' ? (argv[1] ?? '') : undefined;
  const path: string[] = [];
  const rest: string[] = [];
  let unknown: string | undefined;
  let lists = false;
  let isNaming = true;
  for (let index = topic === undefined ? 0 : 1; index < argv.length; index += 1) {
    const token = argv[index] ?? '';
    const isFlag = token.startsWith('-');
    const name: string | undefined = isNaming && !isFlag ? nameIn(registry, path, token) : undefined;
    if (name === undefined) {
      rest.push(token);
      if (isNaming && valued.has(token) && index + 1 < argv.length) rest.push(argv[++index] ?? '');
      else if (isNaming && (token === '--' || !isFlag)) {
        isNaming = false;
        if (!isFlag) unknown = token;
      }
      continue;
    }
    path.push(...name.split(' '));
    lists =
      (name !== token || registry.groups[name]?.lists === true) &&
      entryAt(registry, [...path, 'list']) !== undefined;
    // `gw units`, `gw invoices --status created`: the noun lists where no verb follows it.
    isNaming = childrenOf(registry, path).length > 0 && !(lists && argv[index + 1]?.startsWith('-'));
  }
  const wantsHelp = rest.includes('--help') || rest.includes('-h');
  if (!entryAt(registry, path) && lists && unknown === undefined && !wantsHelp) path.push('list');
  const entry = entryAt(registry, path);
  return {
    path,
    entry,
    rest,
    unknown: entry ? undefined : unknown,
    topic,
    help: topic !== undefined || wantsHelp,
    version: rest.includes('--version') || rest.includes('-V'),
    json: rest.some((token) => token === '--json' || token.startsWith('--json=')),
  };
}

/** The name that a word means below a path, aliases in their full form; undefined where it names nothing. */
function nameIn(registry: Registry, path: readonly string[], word: string): string | undefined {
  if (childrenOf(registry, path).includes(word)) return word;
  return path.length === 0 && Object.hasOwn(registry.aliases, word) ? registry.aliases[word] : undefined;
}
