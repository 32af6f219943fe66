// When a command becomes a screen: on a terminal, and unless one reading is enough.
import type { Own } from '../../engine/command.ts';
import { milliseconds } from '../../engine/errors.ts';
import type { Flag } from '../../engine/flag.ts';
import type { Io } from '../../output/io.ts';

const DEFAULT_REFRESH = '2s';
const MIN_REFRESH_MS = 500;

export const liveFlags: readonly Flag[] = [
  {
    field: 'once',
    name: 'once',
    place: 'own',
    kind: 'boolean',
    help: 'print once instead of showing a screen',
  },
  {
    field: 'refresh',
    name: 'refresh',
    place: 'own',
    kind: 'text',
    value: 'duration',
    help: `how often the screen is refreshed (default: ${DEFAULT_REFRESH})`,
  },
  // Every screen leads to every other.
  {
    field: 'readonly',
    name: 'readonly',
    place: 'own',
    kind: 'boolean',
    help: 'show a screen without actions',
  },
];

/** Whether the command becomes a screen. */
export const isLive = (io: Io, own: Own): boolean =>
  io.json === false &&
  own.once !== true &&
  io.stdout.isTTY === true &&
  io.stdin.isTTY === true &&
  !io.env.CI &&
  io.env.TERM !== 'dumb';

/** What the flags say of a screen. */
export const liveOf = (own: Own): { readonly: boolean; refresh_ms: number } => ({
  readonly: own.readonly === true,
  refresh_ms: Math.max(MIN_REFRESH_MS, milliseconds(String(own.refresh ?? DEFAULT_REFRESH), '--refresh')),
});
