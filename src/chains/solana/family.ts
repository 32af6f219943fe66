// Solana: SOL and the tokens of allow-listed mints, read over plain JSON-RPC.
import { cleanText } from '../../clean.ts';
import type { Family, ReadContext } from '../family.ts';
import { normalizeSolanaAddress } from './address.ts';
import { composeSolana } from './compose.ts';
import { solanaHints } from './hints.ts';
import { inspectSolanaAddress } from './inspect.ts';
import { makeReference, pageWallets, paymentLinks, SOLANA_SCHEME, walletLinks } from './links.ts';
import { lookUpSolana } from './look-up.ts';
import { createMemory } from './memory.ts';
import type { SolanaLimits } from './pass.ts';
import { identifyNetwork, solanaRpc } from './providers/rpc.ts';
import { readSolana } from './read.ts';
import { recheckSolana } from './recheck.ts';

const defaultLimits: SolanaLimits = {
  signatures_per_page: 1000,
  transactions_per_page: 25,
  transactions_at_once: 4,
  sweep_ticks: 15,
  sweeps_per_tick: 4,
};

/** The family with some limits changed, as tests do. */
export function solanaFamily(changed: Partial<SolanaLimits> = {}): Family {
  const limits = { ...defaultLimits, ...changed };
  return {
    providers: [solanaRpc],
    hints: solanaHints,
    uri_schemes: [SOLANA_SCHEME],
    keeps_time: true,
    normalizeAddress: normalizeSolanaAddress,
    // Base58 has one spelling.
    normalizeTxid: (text) => cleanText(text),
    paymentLinks,
    walletLinks,
    pageWallets,
    compose: composeSolana,
    makeReference,
    // Each account stands at a slot of its own.
    cursorHeight: () => null,
    identify: identifyNetwork,
    inspectAddress: inspectSolanaAddress,
    open() {
      const memory = createMemory();
      const withMemory = (context: ReadContext) => ({ ...context, memory });
      return {
        read: (context, request) => readSolana(withMemory(context), request, limits),
        recheck: (context, pending) => recheckSolana(withMemory(context), pending),
        lookUp: (context, named) => lookUpSolana(withMemory(context), named),
      };
    },
  };
}

export const solana: Family = solanaFamily();
