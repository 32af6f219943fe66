// `gatewayd config`: the settings in force, each with its origin, without secrets.
import { shown, valueAt } from '../settings/layers.ts';
import { settings } from '../settings/schema.ts';
import { configOf } from './options.ts';

interface Shown {
  value: unknown;
  origin: string;
  env: string;
}

/** Prints to stdout: a table, or with `json` one object by dotted name. */
export function config(options: Record<string, unknown> & { json?: boolean; all?: boolean }): void {
  const { config, origins } = configOf(options);
  const rows = settings.map((leaf): [string, Shown] => [
    leaf.name,
    {
      value: shown(leaf, valueAt(config, leaf.path)) ?? null,
      origin: origins.get(leaf.name)?.label ?? 'default',
      env: leaf.env,
    },
  ]);
  if (options.json) {
    process.stdout.write(`${JSON.stringify(Object.fromEntries(rows), null, 2)}\n`);
    return;
  }
  const listed = options.all ? rows : rows.filter(([, { value }]) => value !== null);
  const width = Math.max(...listed.map(([name]) => name.length));
  for (const [name, { value, origin, env }] of listed) {
    const shown = value === null ? '-' : JSON.stringify(value);
    process.stdout.write(
      `${name.padEnd(width)}  ${shown}  (${options.all && origin === 'default' ? env : origin})\n`,
    );
  }
}
