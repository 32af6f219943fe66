// Which transactions are credits: of the native coin on the owner's account, of a jetton on the owner's jetton wallet.
import { type Gateway, ProviderError, type ReadContext, type Tip, type Transfer } from '../family.ts';
import { readAddress, showAddress } from './address.ts';
import { type InternalTransfer, OP, opOf, parseBody, readComment, readInternalTransfer } from './body.ts';
import type { TonTransaction } from './providers/toncenter.ts';

/** An account whose transactions are read: the owner's own for the coin, the jetton wallet for a jetton. */
export interface TonAccount {
  account: string;
  gateway: Gateway;
  address_key: string;
}

/** Messages that carry coins but are the chain's book-keeping of something else. */
const NOT_PAYMENTS: readonly (number | null)[] = [OP.transfer_notification, OP.excesses, OP.bounced];

/** The credit that a transaction makes, or null. */
export function toTransfer(
  transaction: TonTransaction,
  to: TonAccount,
  tip: Tip,
  local: ReadContext['local'],
): Transfer | null {
  const { in_msg, mc_block_seqno, emulated } = transaction;
  if (emulated || !mc_block_seqno || !in_msg?.source || in_msg.bounced) return null;
  const credit = to.gateway.is_token ? readJettonCredit(transaction) : readCoinCredit(transaction);
  if (!credit || credit.amount_atomic <= 0n) return null;
  const confirmations = confirmationsAt(tip, mc_block_seqno);
  return {
    chain: to.gateway.chain,
    address_key: to.address_key,
    txid: Buffer.from(transaction.hash, 'base64').toString('hex'),
    // One inbound message makes one transaction on one account: asset and address tell all its credits apart.
    index: `${to.gateway.chain}:${to.address_key}`,
    amount_atomic: credit.amount_atomic,
    memo: credit.memo,
    references: [],
    sender: credit.from && showAddress(credit.from, to.gateway.network),
    height: mc_block_seqno,
    block_hash: null,
    ...local(transaction.now),
    inputs: [],
    confirmations,
    final: confirmations >= to.gateway.min_confirmations,
    ...(credit.ambiguous ? { ambiguous: credit.ambiguous } : {}),
  };
}

/** A block that the indexer gave is included, even where its tip was asked a moment before. */
export const confirmationsAt = (tip: Tip, height: number): number => Math.max(1, tip.height - height + 1);

interface Credit extends InternalTransfer {
  ambiguous?: string;
}

/**
 * `aborted` says nothing here: a payment to a wallet that was never deployed is aborted and stays.
 * What was sent back has a bounce phase that succeeded.
 */
function readCoinCredit({ in_msg, description }: TonTransaction): Credit | null {
  if (!in_msg?.source || !in_msg.value || description.bounce?.type === 'ok') return null;
  const credit = { amount_atomic: BigInt(in_msg.value), from: readAddress(in_msg.source) };
  const content = in_msg.message_content?.body;
  if (!content) return { ...credit, memo: null, ambiguous: 'the provider did not give the message' };
  const body = parseBody(content);
  if (!body) return { ...credit, memo: null };
  if (NOT_PAYMENTS.includes(opOf(body))) return null;
  return { ...credit, memo: readComment(body.beginParse()) };
}

/**
 * The jetton wallet's own code checks who sent an `internal_transfer`; it is a credit where that code succeeded.
 * Notifications prove nothing and are not always sent.
 */
function readJettonCredit({ in_msg, description, hash }: TonTransaction): Credit | null {
  if (description.aborted || description.compute_ph?.success !== true) return null;
  const content = in_msg?.message_content?.body;
  if (!content) throw new ProviderError('bad_answer', `toncenter /transactions: ${hash} has no message body`);
  const body = parseBody(content);
  return body && readInternalTransfer(body);
}
