// Payment links of EVM networks: ERC-681 for coins, the bare address for tokens.
import type { PaymentLinks, PaymentOrder } from '../family.ts';

export const EVM_SCHEME = 'ethereum';

/** Plain integers, and always the chain id: wallets differ in everything else. */
export function paymentLinks(
  chain_id: number,
  { gateway, address, amount_atomic }: PaymentOrder,
): PaymentLinks {
  const { token_contract } = gateway;
  const wallet =
    token_contract === null
      ? `${EVM_SCHEME}:${address}@${chain_id}?value=${amount_atomic}`
      : `${EVM_SCHEME}:${token_contract}@${chain_id}/transfer?address=${address}&uint256=${amount_atomic}`;
  const uri = token_contract === null ? wallet : `${EVM_SCHEME}:${address}@${chain_id}`;
  return { uri, exits: gateway.exits.includes('wallet') ? { wallet } : {} };
}
