// Hints of Solana: a node says that a wallet or one of its token accounts has changed, once that is final.
import type { HintFeed, Json } from '../family.ts';
import { memberOf, sameHost } from '../hints.ts';
import { associatedTokenAccount, TOKEN_PROGRAM } from './address.ts';

/** Each takes a subscription for the wallet, and one for each token. */
const MOST_ADDRESSES = 100;

/** What changed is read, so none of it is sent along. */
const OPTIONS = { commitment: 'finalized', encoding: 'base64', dataSlice: { offset: 0, length: 0 } };

export const solanaHints: HintFeed = {
  most_addresses: MOST_ADDRESSES,
  urlFor: sameHost,
  subscribe({ added, gateways }) {
    // Token accounts of another token program are found without hints.
    const mints = [...new Set(gateways.flatMap(({ token_contract }) => token_contract ?? []))];
    const accounts = added.flatMap((owner) => [
      owner,
      ...mints.map((mint) => associatedTokenAccount(owner, TOKEN_PROGRAM, mint)),
    ]);
    return accounts.map(
      (account, at): Json => ({
        jsonrpc: '2.0',
        id: at + 1,
        method: 'accountSubscribe',
        params: [account, OPTIONS],
      }),
    );
  },
  hintIn: (message) => (memberOf(message, 'method') === 'accountNotification' ? 'moved' : null),
};
