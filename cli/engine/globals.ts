// The flags that commands have in common, once: parsing, help, completion, routing and the environment read this table.
import type { Endpoint } from '../../src/api/describe/endpoint.ts';

/** What of a command decides which of these flags it has. */
export interface Subject {
  input?: Endpoint;
  file?: string;
  writes?: boolean;
  stream?: boolean;
}

/** What of its own flags decides it. */
interface OwnFlag {
  name: string;
  nullable?: boolean;
}

export interface GlobalFlag {
  /** Without dashes. One that begins with `no-` turns something off. */
  name: string;
  short?: string;
  /** How its value is called in the help; a flag without it is a switch. */
  value?: string;
  /** The value may be left out. */
  optional?: true;
  repeatable?: true;
  choices?: readonly string[];
  help: string;
  /** Its help where the command prints a stream. */
  stream_help?: string;
  /** The variable that stands in for it. */
  variable?: string;
  /** Which commands have it; every one by default. */
  only?: (command: Subject, own: readonly OwnFlag[]) => boolean;
}

export const DEFAULT_URL = 'http://127.0.0.1:4020';
export const DEFAULT_TIMEOUT = '30s';

export const isWrite = ({ writes, input }: Subject): boolean =>
  writes ?? (input !== undefined && input.method !== 'GET');

export const globals = [
  {
    name: 'file',
    short: 'f',
    value: 'path',
    help: 'the body as JSON; - reads stdin; flags override it',
    // A form is no JSON.
    only: ({ input, file }) => file !== undefined || (input?.body !== undefined && input.encoding !== 'form'),
  },
  { name: 'dry-run', help: 'show the request, send nothing', only: isWrite },
  {
    name: 'unset',
    value: 'flag',
    repeatable: true,
    help: 'remove this value (repeatable)',
    only: ({ input }, own) => input?.method === 'PATCH' && own.some(({ nullable }) => nullable),
  },
  {
    name: 'idempotency-key',
    value: 'key',
    help: 'repeat a call safely (default: a random one)',
    only: ({ input }) => input?.idempotent === true,
  },
  {
    name: 'json',
    value: 'members',
    optional: true,
    help: 'the reply as JSON, or only these members: a,b',
    stream_help: 'one JSON object per line',
  },
  {
    name: 'jq',
    value: 'expression',
    help: "what jq makes of the JSON: '.data[].id'; text is written without quotes",
  },
  {
    name: 'template',
    value: 'text',
    help: "a line for each row of a list, or for one thing: '{{.id}} {{.amount}}'",
  },
  { name: 'csv', help: 'the columns of the table as CSV, or those of --json a,b' },
  { name: 'url', value: 'address', help: `the service (default: ${DEFAULT_URL})`, variable: 'GW_URL' },
  {
    name: 'plain-http',
    help: 'allow http to another machine: keys and passwords can be read on the way',
    variable: 'GW_PLAIN_HTTP',
  },
  {
    name: 'api-key',
    value: 'key',
    help: 'merchant or platform key; better in the environment or a profile',
    variable: 'GW_API_KEY',
  },
  {
    name: 'token',
    value: 'token',
    help: 'access token; better in the environment or a profile',
    variable: 'GW_TOKEN',
  },
  { name: 'profile', value: 'name', help: 'the profile to use', variable: 'GW_PROFILE' },
  {
    name: 'timeout',
    value: 'duration',
    help: `longest wait for a reply (default: ${DEFAULT_TIMEOUT})`,
    variable: 'GW_TIMEOUT',
  },
  { name: 'no-input', help: 'never prompt', variable: 'GW_NO_INPUT' },
  { name: 'yes', short: 'y', help: 'answer yes to every confirmation' },
  { name: 'quiet', short: 'q', help: 'no messages on stderr' },
  { name: 'verbose', short: 'v', help: 'log each request to stderr' },
  {
    name: 'color',
    value: 'when',
    choices: ['auto', 'always', 'never'],
    help: 'colours; NO_COLOR turns them off',
    variable: 'GW_COLOR',
  },
  { name: 'help', short: 'h', help: 'show this help' },
] as const satisfies readonly GlobalFlag[];

export type GlobalName = (typeof globals)[number]['name'];

/** The flags that every command has. */
export const universal = (): GlobalFlag[] => (globals as readonly GlobalFlag[]).filter(({ only }) => !only);

/** The flags of this table that a command has; its own flag of the same name replaces one. */
export const globalsOf = (command: Subject, own: readonly OwnFlag[]): GlobalFlag[] =>
  (globals as readonly GlobalFlag[]).filter(
    ({ name, only }) => !own.some((flag) => flag.name === name) && (!only || only(command, own)),
  );

/** Words of the command line behind which a value stands, so that it is not taken for a command's name. */
export const valued: ReadonlySet<string> = new Set(
  (globals as readonly GlobalFlag[])
    .filter(({ value, optional }) => value !== undefined && !optional)
    .flatMap(({ name, short }) => (short ? [`--${name}`, `-${short}`] : [`--${name}`])),
);

/** The variable that stands in for a flag. */
export const variableOf = (name: GlobalName): string | undefined =>
  (globals as readonly GlobalFlag[]).find((flag) => flag.name === name)?.variable;

/** What the command line and the environment say of the flags in the table. */
export interface GlobalValues {
  /** Of the command line alone. */
  flag(name: GlobalName): string | undefined;
  /** Of the command line, else of the environment. */
  text(name: GlobalName): string | undefined;
  isOn(name: GlobalName): boolean;
  list(name: GlobalName): readonly string[];
}

/** `no-input` → `input`, `api-key` → `apiKey`: where commander puts a flag's value. */
export const attributeOf = (name: string): string =>
  name.replace(/^no-/, '').replace(/-([a-z0-9])/g, (_, next: string) => next.toUpperCase());

/** `options` are by commander's attribute; those named in `own` belong to the command itself. */
export function readGlobals(
  options: Readonly<Record<string, unknown>>,
  own: readonly OwnFlag[],
  env: NodeJS.ProcessEnv,
): GlobalValues {
  const given = (name: GlobalName): unknown =>
    own.some((flag) => flag.name === name) ? undefined : options[attributeOf(name)];
  const fromEnvironment = (name: GlobalName) => env[variableOf(name) ?? ''] || undefined;
  const flag = (name: GlobalName) => given(name) as string | undefined;
  return {
    flag,
    text: (name) => flag(name) ?? fromEnvironment(name),
    isOn: (name) => given(name) === !name.startsWith('no-') || fromEnvironment(name) !== undefined,
    list: (name) => (given(name) as string[] | undefined) ?? [],
  };
}
