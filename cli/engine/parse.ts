// One command as commander knows it: arguments, flags and help from its description.
import { Command as Commander, Option } from 'commander';
import type { Io } from '../output/io.ts';
import type { Command, CommandEntry } from './command.ts';
import { usage } from './errors.ts';
import { factsOf } from './facts.ts';
import { type Flag, readsEnvironment, variableOf } from './flags.ts';
import { attributeOf, type GlobalFlag, type GlobalValues, globalsOf, readGlobals } from './globals.ts';
import { allFlags, type Given } from './input.ts';

export interface Parsed {
  values: GlobalValues;
  given: Given;
}

const GLOBAL = 'Global flags:';

function optionsOf(flag: Flag, method: string | undefined): Option[] {
  const env = readsEnvironment(flag, method) ? ` [env: ${variableOf(flag)}]` : '';
  const from = flag.secret ? '; - reads it from stdin' : flag.picture ? '; @path sends that file' : '';
  const fallback = flag.default === undefined ? '' : ` (default: ${JSON.stringify(flag.default)})`;
  const need = flag.required ? ' (required)' : '';
  const choices = flag.choices ? ` (choices: ${flag.choices.join(', ')})` : '';
  const help = `${flag.help}${choices}${from}${need}${fallback}${env}`;
  if (flag.kind === 'boolean')
    return [new Option(`--${flag.name}`, help), new Option(`--no-${flag.name}`).hideHelp()];
  const option = new Option(`--${flag.name} <${flag.value ?? 'text'}>`, help);
  if (flag.kind === 'list') option.argParser(collect);
  return [option];
}

const collect = (text: string, before: string[] | undefined): string[] => [...(before ?? []), text];

function addGlobal(leaf: Commander, flag: GlobalFlag, command: Command): void {
  const { name, short, value, optional, choices, repeatable, variable, only } = flag;
  const own = name === 'file' ? command.file : command.stream ? flag.stream_help : undefined;
  const help = own ?? flag.help;
  const text = `${help}${variable ? ` [env: ${variable}]` : ''}`;
  const names = `${short ? `-${short}, ` : ''}--${name}`;
  if (name === 'help') return void leaf.helpOption(names, text);
  const argument = value === undefined ? '' : optional ? ` [${value}]` : ` <${value}>`;
  const option = new Option(names + argument, text);
  // Those that not every command has stand among its own.
  if (!only) option.helpGroup(GLOBAL);
  if (choices) option.choices([...choices]);
  if (repeatable) option.argParser(collect);
  leaf.addOption(option);
}

function build(command: Command, entry: CommandEntry): { leaf: Commander; flags: Flag[] } {
  const flags = allFlags(command);
  const leaf = new Commander(`gw ${entry.path}`)
    .summary(entry.summary)
    .description(
      `${entry.summary}.\n\n${(command.about ?? command.input?.description ?? '').replaceAll('`', '')}`.trim(),
    )
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .allowExcessArguments();
  for (const field of command.args ?? []) {
    const flag = flags.find((candidate) => candidate.field === field);
    leaf.argument(`[${flag?.name ?? field}]`, flag?.help ?? '');
  }
  for (const flag of flags)
    for (const option of optionsOf(flag, command.input?.method)) leaf.addOption(option);
  for (const flag of globalsOf(command, flags)) addGlobal(leaf, flag, command);
  leaf.addHelpText('after', `\nExamples:\n${command.examples.map((line) => `  ${line}`).join('\n')}`);
  leaf.addHelpText('after', '\nExit codes: gw help exit-codes');
  return { leaf, flags };
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

/** What the words after the command's name say. Commander prints help where it is wanted, and throws that it did. */
export function parseLeaf({
  command,
  entry,
  rest,
  io,
}: {
  command: Command;
  entry: CommandEntry;
  rest: readonly string[];
  io: Io;
}): Parsed {
  const { leaf, flags } = build(command, entry);
  leaf.configureOutput({ writeOut: (text) => io.stdout.write(text), writeErr: () => {} });
  leaf.parse(bindJson(rest, command), { from: 'user' });
  const options = leaf.opts();
  const most = command.args?.length ?? 0;
  const excess = leaf.args[most];
  if (excess !== undefined) {
    const isMember = FIELD_LIST.test(excess) && rest[rest.lastIndexOf(excess) - 1] === '--json';
    const known = isMember ? [...fieldsOf(command)] : [];
    if (known.length > 0) throw usage(`unknown member ${excess}`, `--json takes: ${known.join(', ')}`);
    const limit = most === 0 ? 'no values' : `only ${most}`;
    throw usage(`unexpected “${excess}”: gw ${entry.path} takes ${limit}`, `gw ${entry.path} --help`);
  }
  const values = readGlobals(options, flags, io.env);
  return {
    values,
    given: {
      options: Object.fromEntries(
        flags
          .filter((flag) => options[attributeOf(flag.name)] !== undefined)
          .map((flag) => [flag.name, options[attributeOf(flag.name)]]),
      ),
      positional: leaf.args,
      file: values.text('file'),
      unset: values.list('unset'),
    },
  };
}
