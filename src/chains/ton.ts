// The TON family: the native coin and jettons, read from a toncenter v3 indexer.
import type { Family } from './chain.ts';
import { normalizeAddress } from './ton/address.ts';
import { inspectAddress } from './ton/inspect.ts';
import { paymentLinks } from './ton/links.ts';
import { lookUpTon } from './ton/named.ts';
import { readTon, recheckTon } from './ton/read.ts';
import { identifyNetwork } from './ton/toncenter.ts';

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
