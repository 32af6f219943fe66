// Limits of the base plan that several places say.

/** Units per merchant. */
export const MAX_UNITS = 3;
export const MIN_WAIT_SECONDS = 300;
export const MAX_WAIT_SECONDS = 86_400;
/** Of units that name none; long enough for every blockchain, Bitcoin's blocks included. */
const DEFAULT_WAIT_SECONDS = 3_600;

/** The name of the one plan. */
export const PLAN = 'base';

/** A unit's wait time within its window. */
export const clampWait = (seconds: number | null | undefined): number =>
  Math.min(MAX_WAIT_SECONDS, Math.max(MIN_WAIT_SECONDS, seconds ?? DEFAULT_WAIT_SECONDS));
