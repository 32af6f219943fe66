// The chain of a developer's sandbox: which one is modelled, what can be paid on it, and what each coin is for.
import type { Gateway } from './family.ts';
import { gatewaysOf } from './gateways.ts';
import { associatedTokenAccount, TOKEN_PROGRAM } from './solana/address.ts';

export { type Chain, openChain, type Stored as StoredChain } from './solana/sandbox-chain.ts';
export { openNode } from './solana/sandbox-node.ts';

const BLOCKCHAIN = 'solana';

export const sandbox = {
  blockchain: BLOCKCHAIN,
  gateways: gatewaysOf('testnet').filter(({ blockchain }) => blockchain === BLOCKCHAIN) as readonly Gateway[],
  others: gatewaysOf('testnet').filter(({ blockchain }) => blockchain !== BLOCKCHAIN) as readonly Gateway[],
  /** What invoices ask for by default. */
  usual: 'solana-usdc',
  /** Its invoices last only seconds: for what happens when their time is over. */
  brief: 'solana-usdt',
  /** A wallet that no one has the key of. */
  wallet: 'HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk',
  /** Where refills are paid in; no one has its key either. */
  refill_wallet: 'Bw6b5bEcsmrAHADM8cQDxdjL9PagTJBzmHtKLFHSuHcb',
  /** USD for one of each. */
  rates: { SOL: '150', USDC: '1', USDT: '1' },
} as const;

/** What holds the money of an owner in an asset. */
export const accountIn = ({ token_contract }: Gateway, owner: string): string =>
  token_contract === null ? owner : associatedTokenAccount(owner, TOKEN_PROGRAM, token_contract);
