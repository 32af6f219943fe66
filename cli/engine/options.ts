// The options of one command as they are written and explained: its own flags, then those that commands have in common.
import type { Command } from './command.ts';
import type { Flag } from './flag.ts';
import { readsEnvironment, variableOf } from './flags.ts';
import { attributeOf, type GlobalFlag, globalsOf } from './globals.ts';

export interface LineOption {
  /** With dashes: `-f`, `--file`. */
  names: readonly string[];
  /** Where commander puts its value. */
  attribute: string;
  /** Whether it turns off what its attribute says. */
  negates: boolean;
  takes: 'nothing' | 'perhaps' | 'value';
  choices?: readonly string[];
  /** Whether each use adds a value. */
  repeatable: boolean;
  /** In the help: `-f, --file <path>`. */
  term: string;
  help: string;
  /** Whether every command has it: it stands behind the others. */
  is_global: boolean;
  hidden?: true;
}

/** What stands in a command line: values by commander's attribute, and words without a flag. */
export interface Words {
  options: Readonly<Record<string, unknown>>;
  args: readonly string[];
}

export const collect = (text: string, before: string[] | undefined): string[] => [...(before ?? []), text];

export const optionsOf = (command: Command, flags: readonly Flag[]): LineOption[] => [
  ...flags.flatMap((flag) => ofFlag(flag, command.input?.method)),
  ...globalsOf(command, flags).map((flag) => ofGlobal(flag, command)),
];

function ofFlag(flag: Flag, method: string | undefined): LineOption[] {
  const { name, kind, secret, picture, choices, required } = flag;
  const env = readsEnvironment(flag, method) ? ` [env: ${variableOf(flag)}]` : '';
  const from = secret ? '; - reads it from stdin' : picture ? '; @path sends that file' : '';
  const fallback = flag.default === undefined ? '' : ` (default: ${JSON.stringify(flag.default)})`;
  const words = choices ? ` (choices: ${choices.join(', ')})` : '';
  const help = `${flag.help}${words}${from}${required ? ' (required)' : ''}${fallback}${env}`;
  const rest = { attribute: attributeOf(name), help, is_global: false };
  if (kind === 'boolean') {
    const one = { ...rest, takes: 'nothing', repeatable: false } as const;
    return [
      { ...one, names: [`--${name}`], term: `--${name}`, negates: false },
      { ...one, names: [`--no-${name}`], term: `--no-${name}`, negates: true, hidden: true },
    ];
  }
  const term = `--${name} <${flag.value ?? 'text'}>`;
  return [
    { ...rest, names: [`--${name}`], term, negates: false, takes: 'value', repeatable: kind === 'list' },
  ];
}

function ofGlobal(flag: GlobalFlag, command: Command): LineOption {
  const { name, short, value, optional, choices, repeatable, variable, only } = flag;
  const own = name === 'file' ? command.file : command.stream ? flag.stream_help : undefined;
  const words = choices ? ` (choices: ${choices.map((choice) => JSON.stringify(choice)).join(', ')})` : '';
  const names = short ? [`-${short}`, `--${name}`] : [`--${name}`];
  const argument = value === undefined ? '' : optional ? ` [${value}]` : ` <${value}>`;
  return {
    names,
    attribute: attributeOf(name),
    negates: name.startsWith('no-'),
    takes: value === undefined ? 'nothing' : optional ? 'perhaps' : 'value',
    ...(choices ? { choices } : {}),
    repeatable: repeatable === true,
    term: names.join(', ') + argument,
    help: `${own ?? flag.help}${variable ? ` [env: ${variable}]` : ''}${words}`,
    // Those that not every command has stand among its own.
    is_global: !only && name !== 'help',
  };
}
