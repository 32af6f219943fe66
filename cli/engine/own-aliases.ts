// A person's own names for command lines: stored with the profiles, and looked up only where no command has the name.
import type { Registry } from './command.ts';
import type { Table } from './completion.ts';
import { usage } from './errors.ts';
import { openStore } from './profile.ts';
import { childrenOf } from './registry.ts';
import { type Line, readLine } from './resolve.ts';

const WORD = /(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"\\])+/g;
const NAME = /^[a-z][a-z0-9_-]{0,31}$/i;

/** The words of a command line as a POSIX shell takes them apart, without `gw` at its beginning. */
function wordsOf(text: string): string[] {
  if (text.replaceAll(WORD, '').trim() !== '') throw usage(`a quote is not closed in: ${text}`);
  const words = (text.match(WORD) ?? []).map((word) =>
    word.replaceAll(
      /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/g,
      (_, plain?: string, quoted?: string, escaped?: string) =>
        plain ?? quoted?.replaceAll(/\\(.)/g, '$1') ?? escaped ?? '',
    ),
  );
  return words[0] === 'gw' ? words.slice(1) : words;
}

/** Refuses a name that is a command's, and a line that is none. */
export function checkAlias(name: string, line: string, registry: Registry): void {
  if (!NAME.test(name))
    throw usage(
      `“${name}” is no name for an alias: it begins with a letter, and has letters, digits, - and _`,
    );
  if ([...childrenOf(registry, []), ...Object.keys(registry.aliases), 'help'].includes(name))
    throw usage(`${name} is a command of gw already`, 'choose another name');
  const { entry, unknown } = readLine(wordsOf(line), registry);
  if (!entry)
    throw usage(
      unknown === undefined ? `“${line}” names no command` : `unknown command “${unknown}”`,
      "a whole command without gw: 'invoice list --status confirmed'",
    );
}

/** The line with its first word replaced by what it stands for; `$1` and so on take words behind it, others follow. */
function expanded(argv: readonly string[], name: string, line: string): string[] {
  const at = argv.indexOf(name);
  const rest = argv.slice(at + 1);
  const placed = rest.flatMap((word, index) => (word.startsWith('-') ? [] : [index]));
  const used = new Set<number>();
  const words = wordsOf(line).map((word) =>
    word.replaceAll(/\$([1-9])/g, (place, digit: string) => {
      const index = placed[Number(digit) - 1];
      if (index !== undefined) used.add(index);
      else if (!rest.includes('--help') && !rest.includes('-h'))
        throw usage(`the alias ${name} needs ${place}: ${line}`);
      return index === undefined ? place : (rest[index] ?? '');
    }),
  );
  return [...argv.slice(0, at), ...words, ...rest.filter((_, index) => !used.has(index))];
}

/** The line that is meant where its first word is no command but a person's own name for one. */
export async function withOwnAlias(
  argv: readonly string[],
  line: Line,
  registry: Registry,
  env: NodeJS.ProcessEnv,
): Promise<Line> {
  const { unknown, path } = line;
  if (unknown === undefined || path.length > 0 || !NAME.test(unknown)) return line;
  const own = (await openStore(env)).aliases();
  return Object.hasOwn(own, unknown) ? readLine(expanded(argv, unknown, own[unknown] ?? ''), registry) : line;
}

/** A completion table that knows these names too: each is followed by what follows the command it stands for. */
export async function completedWithOwn(table: Table, env: NodeJS.ProcessEnv): Promise<Table> {
  // A script is wanted at the start of a shell: profiles that cannot be read are no reason for none.
  const own = await openStore(env).then(
    (store) => store.aliases(),
    () => ({}) as Record<string, string>,
  );
  const [follow, values] = [new Map(table.follow), new Map(table.values)];
  for (const [name, line] of Object.entries(own)) {
    let path = '';
    for (const word of wordsOf(line)) {
      const longer = `${path} ${word}`.trim();
      if (!table.follow.has(longer)) break;
      path = longer;
    }
    for (const [key, list] of table.values)
      if (key.startsWith(`${path} --`) || key.startsWith(`${path} #`))
        values.set(name + key.slice(path.length), list);
    follow.set(name, table.follow.get(path) ?? []);
  }
  follow.set('', [...(table.follow.get('') ?? []), ...Object.keys(own)]);
  return { ...table, follow, values };
}
