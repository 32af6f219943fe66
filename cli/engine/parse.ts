// What the words of a command line say, by the flags that its command has.
import type { Command, CommandEntry } from './command.ts';
import { usage } from './errors.ts';
import { factsOf } from './facts.ts';
import { attributeOf, type GlobalValues, readGlobals } from './globals.ts';
import { allFlags, type Given } from './input.ts';
import { collect, type LineOption, optionsOf, type Words } from './options.ts';

export interface Parsed {
  values: GlobalValues;
  given: Given;
}

/** Members that `--json a,b` can name: of the reply and of its rows. Empty where the reply is not an object. */
export function fieldsOf(command: Command): ReadonlySet<string> {
  const endpoint = command.input ?? command.endpoints[0];
  return new Set(command.fields ?? (endpoint && factsOf(endpoint).members));
}

const FIELD_LIST = /^[a-z][a-z0-9_]*(,[a-z][a-z0-9_]*)*$/;

/** `--json id,status` → `--json=id,status`; a bare `--json` takes nothing of what follows. */
function bindJson(rest: readonly string[], command: Command): string[] {
  const bound: string[] = [];
  for (let index = 0; index < rest.length; index += 1) {
    const token = rest[index] ?? '';
    const next = rest[index + 1];
    if (token !== '--json') bound.push(token);
    else if (next !== undefined && FIELD_LIST.test(next) && isFieldList(next, command)) {
      bound.push(`--json=${next}`);
      index += 1;
    } else bound.push('--json=');
  }
  return bound;
}

function isFieldList(text: string, command: Command): boolean {
  if (text.includes(',') || (command.args ?? []).length === 0) return true;
  return fieldsOf(command).has(text);
}

/** What the words after the command's name say. */
export async function parseLeaf({
  command,
  entry,
  rest,
  env,
}: {
  command: Command;
  entry: CommandEntry;
  rest: readonly string[];
  env: NodeJS.ProcessEnv;
}): Promise<Parsed> {
  const flags = allFlags(command);
  const words = bindJson(rest, command);
  const plain = readPlain(words, optionsOf(command, flags));
  // Commander knows every way to write a flag, and what to say of one that is wrong; to load it takes as long as Node.js.
  const { options, args } = plain ?? (await import('./commander.ts')).readWords(words, command, entry);
  const most = command.args?.length ?? 0;
  const excess = args[most];
  if (excess !== undefined) {
    const isMember = FIELD_LIST.test(excess) && rest[rest.lastIndexOf(excess) - 1] === '--json';
    const known = isMember ? [...fieldsOf(command)] : [];
    if (known.length > 0) throw usage(`unknown member ${excess}`, `--json takes: ${known.join(', ')}`);
    const limit = most === 0 ? 'no values' : `only ${most}`;
    throw usage(`unexpected “${excess}”: gw ${entry.path} takes ${limit}`, `gw ${entry.path} --help`);
  }
  const values = readGlobals(options, flags, env);
  return {
    values,
    given: {
      options: Object.fromEntries(
        flags
          .filter((flag) => options[attributeOf(flag.name)] !== undefined)
          .map((flag) => [flag.name, options[attributeOf(flag.name)]]),
      ),
      positional: args,
      file: values.text('file'),
      unset: values.list('unset'),
    },
  };
}

/**
 * Reads flags that are written out, each with its value; undefined where anything else stands there, or anything wrong.
 * Where it reads, it reads what commander does.
 */
export function readPlain(words: readonly string[], known: readonly LineOption[]): Words | undefined {
  const options: Record<string, unknown> = {};
  const args: string[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? '';
    if (!word.startsWith('-') || word === '-') {
      args.push(word);
      continue;
    }
    const at = word.startsWith('--') ? word.indexOf('=') : -1;
    const name = at < 0 ? word : word.slice(0, at);
    const option = known.find(({ names }) => names.includes(name));
    if (!option || (at >= 0 && option.takes === 'nothing')) return undefined;
    const { attribute, takes, choices, repeatable } = option;
    if (takes === 'nothing') {
      options[attribute] = !option.negates;
      continue;
    }
    if (at < 0 && takes === 'perhaps') return undefined;
    const value = at < 0 ? words[++index] : word.slice(at + 1);
    const isDoubtful = value === undefined || (at < 0 && value.startsWith('-') && value !== '-');
    if (isDoubtful || (choices && !choices.includes(value))) return undefined;
    options[attribute] = repeatable ? collect(value, options[attribute] as string[] | undefined) : value;
  }
  return { options, args };
}
