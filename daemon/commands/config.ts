// `gatewayd config`: the settings in force, each with its origin, without secrets.
import { findSecrets } from '../process/data-dir.ts';
import { takeOwner } from '../process/owner.ts';
import { deploymentSecret } from '../process/secrets.ts';
import { type Config, ConfigError } from '../settings/config.ts';
import { shown, valueAt } from '../settings/layers.ts';
import { configOf } from './options.ts';

interface Shown {
  value: unknown;
  origin: string;
  env: string;
}

/** Where a value is from, in words. */
const places = { file: 'file', env: 'variable', flag: 'flag' } as const;

type Options = Record<string, unknown> & { json?: boolean; all?: boolean; showWebhookSecret?: boolean };

/** Prints to stdout: a table, or with `json` one object by dotted name. Throws ConfigError. */
export function config(options: Options): void {
  const { config, origins, settings } = configOf(options);
  if (options.showWebhookSecret) {
    showWebhookSecret(config, options.json === true);
    return;
  }
  const rows = settings.map((leaf): [string, Shown] => [
    leaf.name,
    {
      value: shown(leaf, valueAt(config, leaf.path)) ?? null,
      origin: origins.get(leaf.name)?.label ?? 'default',
      env: leaf.env,
    },
  ]);
  const inWords = (name: string, env: string): string => {
    const origin = origins.get(name);
    if (origin) return `from the ${places[origin.kind]} ${origin.label}`;
    return options.all ? `default; the variable ${env} sets it` : 'default';
  };
  if (options.json) {
    process.stdout.write(`${JSON.stringify(Object.fromEntries(rows), null, 2)}\n`);
    return;
  }
  const listed = options.all ? rows : rows.filter(([, { value }]) => value !== null);
  const width = Math.max(...listed.map(([name]) => name.length));
  for (const [name, { value, env }] of listed) {
    const shown = value === null ? '-' : JSON.stringify(value);
    process.stdout.write(`${name.padEnd(width)}  ${shown}  (${inWords(name, env)})\n`);
  }
}

/** What receivers check the webhooks of the platform key with: shown because it was asked for, and nothing else with it. */
function showWebhookSecret(config: Config, json: boolean): void {
  takeOwner(config, 'reads');
  const secrets = findSecrets(config);
  if (!secrets) throw new ConfigError('there is no secret yet; it is made at the first start, in data_dir');
  const webhook_secret = deploymentSecret({ config, secrets });
  process.stdout.write(`${json ? JSON.stringify({ webhook_secret }) : webhook_secret}\n`);
}
