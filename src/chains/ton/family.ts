// The TON family: the native coin and jettons, read from a toncenter v3 indexer.
import type { Family, ReadContext } from '../family.ts';
import { normalizeAddress } from './address.ts';
import { composeTon } from './compose.ts';
import { tonHints } from './hints.ts';
import { inspectAddress } from './inspect.ts';
import { pageWallets, paymentLinks, TON_SCHEME, walletLinks } from './links.ts';
import { lookUpTon } from './look-up.ts';
import { createMemory } from './memory.ts';
import { identifyNetwork, toncenter } from './providers/toncenter.ts';
import { readTon } from './read.ts';
import { recheckTon } from './recheck.ts';
import { normalizeTxid } from './txid.ts';

export const ton: Family = {
  providers: [toncenter],
  hints: tonHints,
  uri_schemes: [TON_SCHEME],
  keeps_time: true,
  normalizeAddress,
  normalizeTxid,
  paymentLinks,
  walletLinks,
  pageWallets,
  compose: composeTon,
  // Reading stands at a time, not at a block.
  cursorHeight: () => null,
  identify: identifyNetwork,
  inspectAddress,
  open() {
    const memory = createMemory();
    const withMemory = (context: ReadContext) => ({ ...context, memory });
    return {
      read: (context, request) => readTon(withMemory(context), request),
      recheck: recheckTon,
      lookUp: lookUpTon,
    };
  },
};
