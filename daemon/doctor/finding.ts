// What an examination of a deployment finds: one line each, with the command or setting that corrects it.
import type { Config, Effective } from '../settings/config.ts';

/** What is examined; each has its section in the runbook. */
export const subjects = [
  'settings',
  'files',
  'secret',
  'disk',
  'database',
  'backup',
  'provider',
  'route',
  'gateway',
  'pace',
  'depth',
  'upgrades',
  'upgrade',
  'clock',
  'public url',
  'proxy',
  'way out',
  'mail',
  'notify',
  'heartbeat',
] as const;
export type Subject = (typeof subjects)[number];

/** A subject, or one thing of it: `provider ton`. */
export type Of = Subject | `${Subject} ${string}`;

export interface Finding {
  /** What was examined. */
  of: Of;
  status: 'ok' | 'warning' | 'failed';
  says: string;
  /** What to do; null where nothing is wrong. */
  fix: string | null;
}

export interface Examined {
  config: Config;
  origins: Effective['origins'];
  settings: Effective['settings'];
  /** Unix seconds. */
  now: number;
  /** A time server to compare the clock with. */
  ntp: string | undefined;
}

export type Check = (examined: Examined) => Promise<Finding[]>;

export const ok = (of: Of, says: string): Finding => ({ of, status: 'ok', says, fix: null });
export const warning = (of: Of, says: string, fix: string): Finding => ({
  of,
  status: 'warning',
  says,
  fix,
});
export const failed = (of: Of, says: string, fix: string): Finding => ({
  of,
  status: 'failed',
  says,
  fix,
});

/** How long anything outside of this machine is waited for. */
export const PATIENCE_MS = 8_000;
