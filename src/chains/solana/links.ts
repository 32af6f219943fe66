// Payment links of Solana: Solana Pay.
import { base58 } from '@scure/base';
import { formatDecimal } from '../../money.ts';
import type { PaymentLinks, PaymentOrder } from '../family.ts';

export const SOLANA_SCHEME = 'solana';
const REFERENCE_BYTES = 32;

/** A Solana Pay transfer request: the wallet itself is the recipient, the amount is in whole units. */
export function paymentLinks({
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
  const uri = `${SOLANA_SCHEME}:${address}?${query.join('&')}`;
  return { uri, exits: gateway.exits.includes('wallet') ? { wallet: uri } : {} };
}

/** The per-invoice key that a payment names, from 32 random bytes. Throws RangeError where there are not so many. */
export function makeReference(random: Uint8Array): string {
  if (random.length !== REFERENCE_BYTES) throw new RangeError(`a reference is ${REFERENCE_BYTES} bytes`);
  return base58.encode(random);
}
