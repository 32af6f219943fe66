// The TON family: the native coin and jettons, read from a toncenter v3 indexer.
import type { Family } from './chain.ts';
import { normalizeAddress } from './ton/address.ts';
import { paymentLinks } from './ton/links.ts';
import { readTon, recheckTon } from './ton/read.ts';
import { identifyNetwork } from './ton/toncenter.ts';

export const ton: Family = {
  keeps_time: true,
  lookUp: async () => [],
  normalizeAddress,
  paymentLinks,
  identify: identifyNetwork,
  read: readTon,
  recheck: recheckTon,
};
