// The flags of every setting, made from the schema, and the configuration that a command line asks for.
import type { Command, Option } from 'commander';
import { takeOwner, type Use } from '../process/owner.ts';
import { ConfigError, type Effective, loadConfig } from '../settings/config.ts';
import type { Leaf } from '../settings/layers.ts';
import { settings } from '../settings/schema.ts';

/** Settings per chain, gateway or limit: too many for the help, which says where they are. */
const isDetail = (leaf: Leaf): boolean =>
  leaf.path.length > 2 || ['wallets', 'limits'].includes(leaf.path[0] ?? '');

const attribute = (leaf: Leaf): string =>
  leaf.flag.slice(2).replace(/-([a-z0-9])/g, (_, next: string) => next.toUpperCase());

/** Below a command's own flags, which are what its help is read for. */
const SETTINGS = 'Settings, as every command takes them:';

function settingsLast<T extends Command | Option>(...given: Grouping<T>): Map<string, T[]> {
  const [all, visible, groupOf] = given;
  const groups = new Map<string, T[]>();
  for (const item of [...all, ...visible].sort((a, b) => rank(groupOf(a)) - rank(groupOf(b))))
    groups.set(groupOf(item), []);
  for (const item of visible) groups.get(groupOf(item))?.push(item);
  return groups;
}

type Grouping<T> = [all: T[], visible: T[], groupOf: (item: T) => string];
const rank = (group: string): number => (group === SETTINGS ? 1 : 0);

/** Gives a command of a program `--config` and one flag for each setting, once it is run or its help is shown. */
export function addSettings(command: Command): Command {
  let has_flags = false;
  // They are hundreds for each of the commands: making all of them would take a tenth of a daemon's start.
  const add = (): void => {
    if (!has_flags) addFlags(command);
    has_flags = true;
  };
  command.parent?.hook('preSubcommand', (_, chosen) => {
    if (chosen === command) add();
  });
  return command.on('beforeHelp', add);
}

function addFlags(command: Command): void {
  command.configureHelp({ groupItems: settingsLast });
  const file = command.createOption(
    '--config <file>',
    'settings as JSON; default: gatewayd.config.json in this directory, if it exists',
  );
  command.addOption(file.helpGroup(SETTINGS));
  for (const leaf of settings) {
    const value =
      leaf.kind === 'boolean' ? '[boolean]' : leaf.choices ? `<${leaf.choices.join('|')}>` : `<${leaf.kind}>`;
    const known = leaf.default === undefined ? '' : `; default: ${leaf.default}`;
    const option = command.createOption(`${leaf.flag} ${value}`, `${leaf.help} (${leaf.env}${known})`);
    command.addOption((isDetail(leaf) ? option.hideHelp() : option).helpGroup(SETTINGS));
  }
  command.addHelpText(
    'after',
    `
Flags win over environment variables, those over the file, those over defaults.
Wallets, providers, gateways, rates and limits have flags and variables too:
\`gatewayd config --all\` lists them, \`gatewayd config\` says where each value is from.`,
  );
}

/** The configuration of a parsed command line. Throws ConfigError. */
export function configOf(options: Record<string, unknown>): Effective {
  const flags: Record<string, string | boolean> = {};
  for (const leaf of settings) {
    const value = options[attribute(leaf)];
    if (typeof value === 'string' || typeof value === 'boolean') flags[leaf.name] = value;
  }
  return loadConfig({ flags, file: options.config as string | undefined });
}

/** The same for a command that uses the data, from now on as the user to whom they belong. Throws ConfigError. */
export function configAtHome(options: Record<string, unknown>, use: Use): Effective {
  const effective = configOf(options);
  takeOwner(effective.config, use);
  return effective;
}

/** Unix seconds from what `--since` was given: ISO 8601 or Unix seconds, not later than `now`. Throws ConfigError. */
export function timeOf(text: string, now: number): number {
  const seconds = /^\d+$/.test(text) ? Number(text) : Math.floor(Date.parse(text) / 1000);
  if (!Number.isSafeInteger(seconds))
    throw new ConfigError(`--since ${text}: use a time such as 2026-11-20T08:00:00Z, or Unix seconds`);
  if (seconds > now) throw new ConfigError(`--since ${text} is in the future`);
  return seconds;
}
