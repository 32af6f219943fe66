// The `gw` command of each endpoint: its words, its flags, its example as a command line.
import type { Endpoint, Example } from '../describe/endpoint.ts';

/** How an endpoint is called: the words after `gw`, and the fields that may stand without their flag. */
export interface GwCommand {
  path: string;
  args: readonly string[];
}

/** `wallet set {blockchain} {address}` → its path and its positional fields; undefined where there is no command. */
export function commandOf({ gw, params = {} }: Endpoint): GwCommand | undefined {
  if (gw === undefined) return undefined;
  const named = [...gw.matchAll(/\{(\w+)\}/g)].map(([, field = '']) => field);
  return {
    path: gw.replaceAll(/\s*\{\w+\}/g, ''),
    args: named.length > 0 ? named : Object.keys(params),
  };
}

/** The flag of a field, without dashes: `external_ref` → `external-ref`. */
export const flagName = ({ flags = {} }: Pick<Endpoint, 'flags'>, field: string): string =>
  flags[field] ?? field.replaceAll('_', '-');

const quoted = (text: string): string =>
  /^[\w{}.,:/@+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** A field with its value as a flag: `--external-ref order-1001`. */
export function flagOf(endpoint: Pick<Endpoint, 'flags'>, field: string, value: unknown): string {
  const name = flagName(endpoint, field);
  if (value === 'true' || value === true) return `--${name}`;
  if (value === 'false' || value === false) return `--no-${name}`;
  return `--${name} ${quoted(Array.isArray(value) ? value.join(',') : String(value))}`;
}

const member = ([name, value]: [string, unknown]): string =>
  `--field ${quoted(typeof value === 'string' ? `${name}=${value}` : `${name}:=${JSON.stringify(value)}`)}`;

/** The command line that makes the example call of an endpoint. */
export function commandLine(endpoint: Endpoint, example: Example): string {
  const command = commandOf(endpoint);
  if (command) {
    const fields = { ...example.params, ...example.query, ...example.body };
    return [
      'gw',
      command.path,
      ...Object.entries(fields).map(([field, value]) => flagOf(endpoint, field, value)),
    ].join(' ');
  }
  const target = endpoint.path.replace(
    /\{([^}]+)\}/g,
    (_, name: string) => example.params?.[name] ?? `{${name}}`,
  );
  const query = Object.entries(example.query ?? {}).map(([name, value]) => `${name}=${value}`);
  const whole = query.length > 0 ? `${target}?${query.join('&')}` : target;
  return ['gw api', endpoint.method, quoted(whole), ...Object.entries(example.body ?? {}).map(member)].join(
    ' ',
  );
}
