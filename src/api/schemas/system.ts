// Whether a daemon should be sent requests, and what it sees of the blockchains.
import { z } from 'zod';
import { shape, unixSeconds } from '../describe/shape.ts';

export const sightStatuses = ['ok', 'idle', 'starting', 'blind'] as const;

const BlockchainSight = shape('BlockchainSight', {
  blockchain: z.string(),
  status: z
    .enum(sightStatuses)
    .describe(
      '`blind`: not read since `unavailable_since`, new invoices are refused; `idle`: no address is watched, its provider answers; `starting`: not read yet, and given its time',
    ),
  unavailable_since: unixSeconds().nullable(),
  lag_seconds: z
    .int()
    .nullable()
    .describe('Age of what was read last; null where nothing is watched or was ever read'),
  tip_age_seconds: z
    .int()
    .nullable()
    .describe(
      "Age of the newest block read, by the chain's own time: a provider that stands still shows here",
    ),
});

export const Readiness = shape(
  'Readiness',
  {
    ready: z.boolean(),
    database: z.enum(['ok', 'unreachable']),
    migrations: z
      .enum(['ok', 'pending', 'newer', 'unknown'])
      .describe('`newer`: another daemon has brought the schema further; this one continues'),
    draining: z.boolean(),
    blockchains: z.array(BlockchainSight),
  },
  'Whether a daemon should be sent requests.',
);
