// How fast chains of tests are.

/** Chains get faster and slower by upgrades that no client is asked about: so many times as fast as usual. */
export const PACES: readonly number[] = [0.1, 1, 10];
