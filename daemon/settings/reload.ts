// What of the settings a running daemon takes over when they are read again, and what only a restart does.
import { existsSync } from 'node:fs';
import { type Config, ConfigError, type Effective } from './config.ts';
import { put, valueAt } from './layers.ts';

/** Who uses one of these reads it each time, or is opened again. */
const TAKEN_OVER: readonly RegExp[] = [
  /^log_level$/,
  /^notify$/,
  /^heartbeat_url$/,
  /^limit_low_usd$/,
  /^rates\./,
  /^retention\./,
  /^blockchains\.[^.]+\.(provider|url|urls|hints_url|api_key|requests_per_second)$/,
];

/** Whether a running daemon takes over a change of this setting. */
export const isTakenOver = (name: string): boolean => TAKEN_OVER.some((pattern) => pattern.test(name));

/** Names of settings, in the order of the schema. */
export interface Changes {
  taken: string[];
  /** They wait for a restart. */
  waiting: string[];
}

export interface Reloading {
  /**
   * Reads the settings again, and puts those that a running daemon takes over into its configuration. Throws ConfigError where they
   * cannot be used; then nothing has changed.
   */
  read(): Changes;
}

type Values = Map<string, string>;

/** `config` is that of the daemon, which all of it shares; `load` reads the settings as the start did. */
export function openReloading(
  start: Effective,
  { config, load }: { config: Config; load(): Effective },
): Reloading {
  const inForce = valuesOf(start);
  return {
    read() {
      const next = load();
      assertFileThere(start, next);
      const wanted = valuesOf(next);
      const names = [...new Set([...wanted.keys(), ...inForce.keys()])];
      const changed = names.filter((name) => wanted.get(name) !== inForce.get(name));
      // Addresses, providers and rates of another network are of no use to a daemon of this one.
      const isOther = changed.includes('network');
      const isTaken = (name: string) =>
        !isOther && isTakenOver(name) && wanted.has(name) && inForce.has(name);
      const taken = changed.filter(isTaken);
      for (const { name, path } of next.settings) {
        if (!taken.includes(name)) continue;
        put(config as unknown as Record<string, unknown>, path, valueAt(next.config, path));
        inForce.set(name, wanted.get(name) ?? '');
      }
      return { taken, waiting: changed.filter((name) => !isTaken(name)) };
    },
  };
}

/** As text, which is compared. */
const valuesOf = ({ config, settings }: Effective): Values =>
  new Map(settings.map(({ name, path }) => [name, JSON.stringify(valueAt(config, path)) ?? '']));

/** A file that is gone would leave defaults: no notices, public providers. What is being written again is not there for a moment. */
function assertFileThere({ origins }: Effective, next: Effective): void {
  const label = [...origins.values()].find(({ kind }) => kind === 'file')?.label;
  if (label === undefined || [...next.origins.values()].some(({ kind }) => kind === 'file')) return;
  if (!existsSync(label)) throw new ConfigError(`the configuration file ${label} is gone`);
}
