// Solana: SOL and the tokens of allow-listed mints, read over plain JSON-RPC.
import { base58 } from '@scure/base';
import { formatDecimal } from '../../money.ts';
import type { Family, PaymentLinks, PaymentOrder } from '../family.ts';
import type { SolanaLimits } from './account.ts';
import { normalizeSolanaAddress } from './address.ts';
import { inspectSolanaAddress } from './assets.ts';
import { lookUpSolana } from './look-up.ts';
import { readGenesisHash } from './providers/rpc.ts';
import { readSolana } from './read.ts';
import { recheckSolana } from './recheck.ts';

const MAINNET_GENESIS = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
const REFERENCE_BYTES = 32;

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
    keeps_time: true,
    normalizeAddress: normalizeSolanaAddress,
    paymentLinks,
    makeReference(random) {
      if (random.length !== REFERENCE_BYTES) throw new RangeError(`a reference is ${REFERENCE_BYTES} bytes`);
      return base58.encode(random);
    },
    async identify(rpc) {
      return (await readGenesisHash(rpc)) === MAINNET_GENESIS ? 'mainnet' : 'testnet';
    },
    read: (context, request) => readSolana(context, request, limits),
    recheck: recheckSolana,
    lookUp: lookUpSolana,
    inspectAddress: inspectSolanaAddress,
  };
}

export const solana: Family = solanaFamily();

/** A Solana Pay transfer request: the wallet itself is the recipient, the amount is in whole units. */
function paymentLinks({
  gateway,
  address,
  amount_atomic,
  memo,
  reference,
  label,
}: PaymentOrder): PaymentLinks {
  const fields: [string, string | null][] = [
    ['amount', formatDecimal(amount_atomic, gateway.decimals)],
    ['spl-token', gateway.token_contract],
    ['reference', reference],
    ['label', label],
    ['memo', memo],
  ];
  const query = fields.flatMap(([name, value]) => (value ? `${name}=${encodeURIComponent(value)}` : []));
  const uri = `solana:${address}?${query.join('&')}`;
  return { uri, exits: gateway.exits.includes('wallet') ? { wallet: uri } : {} };
}
