// The TON family: the native coin and jettons, read from a toncenter v3 indexer.
import type { Family } from '../family.ts';
import { normalizeAddress } from './address.ts';
import { inspectAddress } from './inspect.ts';
import { paymentLinks } from './links.ts';
import { lookUpTon } from './look-up.ts';
import { identifyNetwork } from './providers/toncenter.ts';
import { readTon, recheckTon } from './read.ts';

export const ton: Family = {
  keeps_time: true,
  normalizeAddress,
  paymentLinks,
  identify: identifyNetwork,
  read: readTon,
  recheck: recheckTon,
  lookUp: lookUpTon,
  inspectAddress,
};
