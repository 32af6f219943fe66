// One command as commander knows it: arguments, flags and help from its description.
import { Command as Commander, Option } from 'commander';
import { z } from 'zod';
import { type JsonSchema, jsonSchema } from '../src/api/describe/json-schema.ts';
import type { Command } from './command.ts';
import type { Entry } from './commands.ts';
import { usage } from './errors.ts';
import { type Flag, readsEnvironment, variableOf } from './flags.ts';
import { allFlags, type Given } from './input.ts';
import type { Io } from './io.ts';

export interface Parsed {
  /** By commander's attribute names. */
  options: Record<string, unknown>;
  given: Given;
}

const GLOBAL = 'Global flags:';

export const isWrite = (command: Command): boolean =>
  command.writes ?? (command.input !== undefined && command.input.method !== 'GET');

/** Whether the whole body can be handed over as JSON. */
export const takesFile = ({ input }: Command): boolean =>
  input?.body !== undefined && input.encoding !== 'form';

function optionsOf(flag: Flag, method: string | undefined): Option[] {
  const env = readsEnvironment(flag, method) ? ` [env: ${variableOf(flag)}]` : '';
  const secret = flag.secret ? '; - reads it from stdin' : '';
  const fallback = flag.default === undefined ? '' : ` (default: ${JSON.stringify(flag.default)})`;
  const need = flag.required ? ' (required)' : '';
  const help = `${flag.help}${secret}${need}${fallback}${env}`;
  if (flag.kind === 'boolean')
    return [new Option(`--${flag.name}`, help), new Option(`--no-${flag.name}`).hideHelp()];
  const option = new Option(`--${flag.name} <${flag.value ?? 'text'}>`, help);
  if (flag.choices) option.choices([...flag.choices]);
  if (flag.kind === 'list')
    option.argParser((text: string, before: string[] | undefined) => [...(before ?? []), text]);
  return [option];
}

function addGlobals(leaf: Commander, command: Command): void {
  const add = (flags: string, help: string, choices?: readonly string[]) => {
    const option = new Option(flags, help).helpGroup(GLOBAL);
    leaf.addOption(choices ? option.choices(choices) : option);
  };
  add(
    '--json [members]',
    command.stream ? 'one JSON object per line' : 'the reply as JSON, or only these members: a,b',
  );
  add('--url <address>', 'the service [env: GW_URL]');
  add(
    '--api-key <key>',
    'merchant or platform key; better in the environment or a profile [env: GW_API_KEY]',
  );
  add('--token <token>', 'access token; better in the environment or a profile [env: GW_TOKEN]');
  add('--profile <name>', 'which kept settings to use [env: GW_PROFILE]');
  if (!command.flags?.some(({ name }) => name === 'timeout'))
    add('--timeout <duration>', 'longest wait for one answer (default: 30s) [env: GW_TIMEOUT]');
  add('--no-input', 'never ask anything [env: GW_NO_INPUT]');
  add('-y, --yes', 'do it without being asked');
  add('-q, --quiet', 'no talk on stderr');
  add('-v, --verbose', 'say each request on stderr');
  add('--color <when>', 'colours [env: GW_COLOR, NO_COLOR]', ['auto', 'always', 'never']);
}

function build(command: Command, entry: Entry): { leaf: Commander; flags: Flag[] } {
  const flags = allFlags(command);
  const leaf = new Commander(`gw ${entry.path}`)
    .summary(entry.summary)
    .description(
      `${entry.summary}.\n\n${(command.about ?? command.input?.description ?? '').replaceAll('`', '')}`.trim(),
    )
    .helpOption('-h, --help', 'show this')
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .allowExcessArguments();
  for (const field of command.args ?? []) {
    const flag = flags.find((candidate) => candidate.field === field);
    leaf.argument(`[${flag?.name ?? field}]`, flag?.help ?? '');
  }
  for (const flag of flags)
    for (const option of optionsOf(flag, command.input?.method)) leaf.addOption(option);
  if (takesFile(command))
    leaf.addOption(new Option('-f, --file <path>', 'the body as JSON; - reads stdin; flags win over it'));
  if (isWrite(command)) leaf.addOption(new Option('--dry-run', 'show the request, send nothing'));
  if (command.input?.method === 'PATCH' && flags.some((flag) => flag.nullable))
    leaf.addOption(
      new Option('--unset <flag>', 'remove this value (repeatable)').argParser(
        (text: string, before: string[] | undefined) => [...(before ?? []), text],
      ),
    );
  if (command.input?.idempotent)
    leaf.addOption(new Option('--idempotency-key <key>', 'repeat a call safely; a random one unless told'));
  addGlobals(leaf, command);
  leaf.addHelpText('after', `\nExamples:\n${command.examples.map((line) => `  ${line}`).join('\n')}`);
  leaf.addHelpText('after', '\nExit codes: gw help exit-codes');
  return { leaf, flags };
}

/** Members that `--json a,b` can name: of the reply and of its rows. Empty where the reply is no object. */
export function fieldsOf(command: Command): Set<string> {
  const response = command.input?.response ?? command.endpoints[0]?.response;
  const names = new Set(command.fields);
  if (names.size > 0 || !(response instanceof z.ZodType)) return names;
  const schema = jsonSchema(response);
  const definitions = (schema.$defs ?? {}) as Record<string, JsonSchema>;
  const resolve = (part: JsonSchema | undefined): JsonSchema =>
    typeof part?.$ref === 'string' ? (definitions[part.$ref.replace('#/$defs/', '')] ?? {}) : (part ?? {});
  const add = (part: JsonSchema) => {
    for (const [name, member] of Object.entries((part.properties ?? {}) as Record<string, JsonSchema>)) {
      names.add(name);
      if (member.type === 'array')
        for (const inner of Object.keys((resolve(member.items as JsonSchema).properties ?? {}) as object))
          names.add(inner);
    }
  };
  add(schema.type === 'array' ? resolve(schema.items as JsonSchema) : schema);
  return names;
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

/** What the words after the command's name say; undefined where help was asked for and printed. */
export function parseLeaf({
  command,
  entry,
  rest,
  io,
}: {
  command: Command;
  entry: Entry;
  rest: readonly string[];
  io: Io;
}): Parsed | undefined {
  const { leaf, flags } = build(command, entry);
  leaf.configureOutput({ writeOut: (text) => io.stdout.write(text), writeErr: () => {} });
  leaf.parse(bindJson(rest, command), { from: 'user' });
  const options = leaf.opts();
  const most = command.args?.length ?? 0;
  const excess = leaf.args[most];
  if (excess !== undefined) {
    const known =
      FIELD_LIST.test(excess) && rest[rest.indexOf('--json') + 1] === excess ? [...fieldsOf(command)] : [];
    if (known.length > 0) throw usage(`unknown member ${excess}`, `--json takes: ${known.join(', ')}`);
    const limit = most === 0 ? 'no values' : `only ${most}`;
    throw usage(`“${excess}” is too much: gw ${entry.path} takes ${limit}`, `gw ${entry.path} --help`);
  }
  const attribute = (name: string) => name.replace(/-([a-z0-9])/g, (_, next: string) => next.toUpperCase());
  return {
    options,
    given: {
      options: Object.fromEntries(
        flags
          .filter((flag) => options[attribute(flag.name)] !== undefined)
          .map((flag) => [flag.name, options[attribute(flag.name)]]),
      ),
      positional: leaf.args,
      file: options.file as string | undefined,
      unset: (options.unset ?? []) as string[],
    },
  };
}
