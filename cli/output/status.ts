// The colour of each status, once for lines, tables and screens. The text says the same without it.
import type { Color } from './io.ts';

const colors: Readonly<Record<string, Color>> = {
  ok: 'green',
  confirmed: 'green',
  delivered: 'green',
  created: 'cyan',
  confirming: 'cyan',
  detected: 'cyan',
  pending: 'cyan',
  starting: 'cyan',
  behind: 'yellow',
  held: 'yellow',
  late: 'yellow',
  unmatched: 'yellow',
  expired: 'red',
  failed: 'red',
  down: 'red',
  blind: 'red',
  wrong_network: 'red',
  orphaned: 'red',
  cancelled: 'dim',
  idle: 'dim',
};

/** Undefined for a word that is no status. */
export const statusColor = (status: string | null): Color | undefined =>
  status !== null && Object.hasOwn(colors, status) ? colors[status] : undefined;

/** The same by the names of screens, which dim by painting gray. */
export const screenColor = (status: string | null): string | undefined => {
  const color = statusColor(status);
  return color === 'dim' ? 'gray' : color;
};

/** A line of a log: `created → confirmed`, and one status where it stayed. */
export const statusStep = (from: string | null, to: string): string =>
  from === to ? to : `${from ?? '–'} → ${to}`;
