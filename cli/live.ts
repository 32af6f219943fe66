// When a command becomes a screen: on a terminal, and unless one look was asked for.
import type { Context } from './command.ts';
import { milliseconds } from './errors.ts';
import type { Flag } from './flags.ts';

const DEFAULT_REFRESH = '2s';
const MIN_REFRESH_MS = 500;

export const liveFlags: readonly Flag[] = [
  { field: 'once', name: 'once', place: 'own', kind: 'boolean', help: 'one look instead of a screen' },
  {
    field: 'refresh',
    name: 'refresh',
    place: 'own',
    kind: 'text',
    value: 'duration',
    help: `how often the screen is renewed (default: ${DEFAULT_REFRESH})`,
  },
  // Every screen leads to every other.
  {
    field: 'readonly',
    name: 'readonly',
    place: 'own',
    kind: 'boolean',
    help: 'the screen resolves nothing',
  },
];

export const isLive = ({ io, own }: Context): boolean =>
  io.json === false &&
  own.once !== true &&
  io.stdout.isTTY === true &&
  io.stdin.isTTY === true &&
  !io.env.CI &&
  io.env.TERM !== 'dumb';

export const refreshOf = (own: Record<string, unknown>): number =>
  Math.max(MIN_REFRESH_MS, milliseconds(String(own.refresh ?? DEFAULT_REFRESH), '--refresh'));
