// The message that pays an invoice, for the payer's wallet to sign: coins with a comment, or a transfer of its jettons.
import { Address, beginCell, type Cell } from '@ton/core';
import {
  type Composed,
  type Network,
  PayerError,
  type PayerOrder,
  ProviderError,
  type Rpc,
} from '../family.ts';
import { keyOf, normalizeAddress, showContract } from './address.ts';
import { OP } from './body.ts';
import { getJettonWallet, getWalletData } from './providers/toncenter.ts';

/** Goes along with a transfer of jettons, to pay for both wallets' work; what is left comes back. Nano. */
const JETTON_GAS = 50_000_000n;
/** Makes the receiving wallet's contract tell its owner. Nano. */
const FORWARDED = 1n;
/** Wallets take no message that is valid for longer. */
const VALID_SECONDS = 300;

/** A network as wallets name it. */
export const globalId = (network: Network): string => (network === 'mainnet' ? '-239' : '-3');

/** For jettons two requests. Throws AddressError, PayerError and ProviderError. */
export async function composeTon(rpc: Rpc, order: PayerOrder): Promise<Composed> {
  const { gateway, address, amount_atomic, memo, expires_at, now } = order;
  const { network } = gateway;
  const payer = Address.parseRaw(normalizeAddress(order.payer, network).key);
  const merchant = Address.parse(address);
  if (payer.equals(merchant)) throw new PayerError('This is the wallet that is to be paid');
  const comment = commentOf(memo);
  const message =
    gateway.token_contract === null
      ? { address, amount: amount_atomic, body: comment }
      : {
          address: showContract(await jettonWalletOf(rpc, order, payer), network),
          amount: JETTON_GAS,
          body: jettonTransfer(order, { payer, merchant, comment }),
        };
  return {
    kind: 'messages',
    network: globalId(network),
    valid_until: Math.min(expires_at, now + VALID_SECONDS),
    messages: [
      {
        address: message.address,
        amount: message.amount.toString(),
        payload: message.body.toBoc().toString('base64'),
      },
    ],
  };
}

/**
 * By the word of the allow-listed master, never of the payer; and the wallet says of itself that it is the payer's, and of
 * that master. A provider that lies about all of it can waste the gas, or have the payer send jettons of another kind: a wallet
 * moves its jettons only for its own owner, and only to the shop that is named in the message.
 */
async function jettonWalletOf(rpc: Rpc, { gateway }: PayerOrder, payer: Address): Promise<Address> {
  const master = Address.parse(gateway.token_contract ?? '');
  const wallet = await getJettonWallet(rpc, master, payer);
  const data = wallet && (await getWalletData(rpc, wallet));
  if (!wallet || !data || data === 'none' || data === 'no_code' || keyOf(data.owner) !== keyOf(payer))
    throw new PayerError(`This account has no ${gateway.currency}`);
  if (!data.master.equals(master))
    throw new ProviderError('bad_answer', `${showContract(wallet, gateway.network)} is of another jetton`);
  return wallet;
}

const commentOf = (memo: string | null): Cell =>
  memo === null
    ? beginCell().endCell()
    : beginCell().storeUint(OP.text_comment, 32).storeStringTail(memo).endCell();

/** TEP-74 `transfer`; the comment travels on in a reference. */
const jettonTransfer = (
  { amount_atomic }: PayerOrder,
  { payer, merchant, comment }: { payer: Address; merchant: Address; comment: Cell },
): Cell =>
  beginCell()
    .storeUint(OP.transfer, 32)
    .storeUint(0, 64) // query_id
    .storeCoins(amount_atomic)
    .storeAddress(merchant)
    .storeAddress(payer) // response_destination: what is left of the gas
    .storeMaybeRef(null) // custom_payload
    .storeCoins(FORWARDED)
    .storeBit(1)
    .storeRef(comment)
    .endCell();
