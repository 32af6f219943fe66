// The causes that an operator may be notified of, by name.

/** These hold until they end; of each a subject is notified of once, and again when it comes back. */
export const lastingCauses = [
  'blockchain_blind',
  'route_dead',
  'limit_low',
  'disk_low',
  'rate_missing',
  'backup_old',
  'clock_wrong',
  'schema_newer',
  'pace_changed',
  'depth_short',
] as const;

/** Of the database itself: found and notified of without it, by each daemon. */
export const databaseCauses = [
  'database_away',
  'database_full',
  'database_read_only',
  'database_failing',
] as const;

export const noticeCauses = [
  ...databaseCauses,
  'database_back',
  ...lastingCauses,
  'blockchain_back',
  'route_back',
  'pace_usual',
  'payment_late',
  'payment_unmatched',
  'payment_held',
  'webhook_failed',
  'contradiction',
] as const;

/** These have few subjects, of which each has an hour of its own: what happens to one blockchain is no news of another. */
export const causesBySubject: readonly NoticeCause[] = [
  'blockchain_blind',
  'blockchain_back',
  'route_dead',
  'route_back',
  'disk_low',
  'rate_missing',
  'backup_old',
  'clock_wrong',
  'pace_changed',
  'pace_usual',
  'depth_short',
];

/** These only say that something is over: there is nothing to do. */
export const endCauses: readonly NoticeCause[] = [
  'blockchain_back',
  'route_back',
  'pace_usual',
  'database_back',
];

export type NoticeCause = (typeof noticeCauses)[number];
export type DatabaseCause = (typeof databaseCauses)[number];
