// Whether a daemon should be sent requests, and what it sees of the blockchains.
import { z } from 'zod';
import { sightStatuses } from '../../sight.ts';
import { shape, unixSeconds } from '../describe/shape.ts';

/** What the words for a blockchain mean, wherever they are used. */
export const SIGHT =
  '`blind`: it cannot be read, and new invoices are refused; `idle`: no address is watched, and its provider answers; `starting`: not read yet, and given its time; `behind`: readings are overdue; `down`: no provider answers at the moment; `wrong_network`: no provider is on the network that is set';

const BlockchainSight = shape('BlockchainSight', {
  blockchain: z.string(),
  status: z.enum(sightStatuses).describe(SIGHT),
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
    database: z
      .enum(['ok', 'unwritable', 'unreachable'])
      .describe('`unwritable`: it can be read and takes no writes, as on a full disk'),
    migrations: z
      .enum(['ok', 'pending', 'newer', 'incompatible', 'unknown'])
      .describe(
        '`newer`: another daemon has brought the schema further, and this one continues; `incompatible`: it cannot, and has to be upgraded',
      ),
    draining: z.boolean(),
    blockchains: z.array(BlockchainSight),
  },
  'Whether a daemon should be sent requests.',
);
