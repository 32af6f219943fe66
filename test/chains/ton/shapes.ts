// Blocks and transactions in the JSON of toncenter v3.
import { type Address, beginCell, type Message, storeMessage, type Transaction } from '@ton/core';
import { keyOf } from '../../../src/chains/ton/address.ts';
import type { TonBlock, TonRecord } from './ledger.ts';

const BOUNCE_TYPES = { ok: 'ok', 'no-funds': 'nofunds', 'negative-funds': 'negfunds' } as const;
const SKIP_REASONS: Record<string, string> = {
  'no-state': 'no_state',
  'bad-state': 'bad_state',
  'no-gas': 'no_gas',
};

const hashOf = (seqno: number) => Buffer.alloc(32, seqno % 251).toString('base64');

export const blockJson = ({ seqno, gen_utime, start_lt }: TonBlock, global_id: number) => ({
  workchain: -1,
  shard: '8000000000000000',
  seqno,
  root_hash: hashOf(seqno),
  file_hash: hashOf(seqno + 1),
  global_id,
  version: 0,
  gen_utime: String(gen_utime),
  start_lt: String(start_lt),
  tx_count: 3,
  masterchain_block_ref: { workchain: -1, shard: '8000000000000000', seqno },
});

const base64Of = (hash: bigint) => Buffer.from(hash.toString(16).padStart(64, '0'), 'hex').toString('base64');

/** The state after an account's last transaction. */
export const accountStateJson = ({ account, transaction }: TonRecord, code_hash: string | null) => ({
  address: account,
  account_state_hash: transaction.stateUpdate.newHash.toString('base64'),
  balance: '0',
  extra_currencies: {},
  status: transaction.endStatus === 'uninitialized' ? 'uninit' : transaction.endStatus,
  last_transaction_hash: transaction.hash().toString('base64'),
  last_transaction_lt: String(transaction.lt),
  ...(code_hash === null ? {} : { code_hash }),
  contract_methods: null,
  interfaces: [],
});

/** The elector as of a block: it has a transaction in each. */
export const beaconJson = (address: string, { seqno, start_lt }: TonBlock) => ({
  address,
  account_state_hash: hashOf(seqno),
  balance: '0',
  extra_currencies: {},
  status: 'active',
  last_transaction_hash: hashOf(seqno),
  last_transaction_lt: String(start_lt),
  contract_methods: null,
  interfaces: [],
});

export function transactionJson({ account, transaction, mc_seqno }: TonRecord) {
  return {
    account,
    hash: transaction.hash().toString('base64'),
    lt: String(transaction.lt),
    prev_trans_hash: base64Of(transaction.prevTransactionHash),
    prev_trans_lt: String(transaction.prevTransactionLt),
    now: transaction.now,
    mc_block_seqno: mc_seqno,
    trace_id: null,
    orig_status: transaction.oldStatus === 'uninitialized' ? 'uninit' : transaction.oldStatus,
    end_status: transaction.endStatus === 'uninitialized' ? 'uninit' : transaction.endStatus,
    total_fees: String(transaction.totalFees.coins),
    description: descriptionJson(transaction),
    in_msg: transaction.inMessage ? messageJson(transaction.inMessage) : null,
    out_msgs: transaction.outMessages.values().map(messageJson),
    emulated: false,
    finality: 'finalized',
  };
}

function descriptionJson({ description }: Transaction) {
  if (description.type !== 'generic') throw new Error(`a ${description.type} transaction`);
  const { computePhase: compute, actionPhase: action, bouncePhase: bounce } = description;
  return {
    type: 'ord',
    aborted: description.aborted,
    destroyed: description.destroyed,
    credit_first: description.creditFirst,
    compute_ph:
      compute.type === 'skipped'
        ? { skipped: true, reason: SKIP_REASONS[compute.reason] ?? compute.reason }
        : {
            skipped: false,
            success: compute.success,
            exit_code: compute.exitCode,
            gas_used: String(compute.gasUsed),
          },
    ...(action
      ? { action: { success: action.success, valid: action.valid, result_code: action.resultCode } }
      : {}),
    ...(bounce ? { bounce: { type: BOUNCE_TYPES[bounce.type] } } : {}),
  };
}

function messageJson(message: Message) {
  const { info, body } = message;
  const internal = info.type === 'internal' ? info : null;
  const slice = body.beginParse();
  const opcode = slice.remainingBits >= 32 ? slice.preloadUint(32) : null;
  return {
    hash: beginCell().store(storeMessage(message)).endCell().hash().toString('base64'),
    source: addressJson(info.src),
    destination: addressJson(info.dest),
    value: internal ? String(internal.value.coins) : null,
    fwd_fee: internal ? String(internal.forwardFee) : null,
    created_lt: internal ? String(internal.createdLt) : null,
    created_at: internal ? String(internal.createdAt) : null,
    opcode: opcode === null ? null : `0x${opcode.toString(16).padStart(8, '0')}`,
    bounce: internal?.bounce ?? null,
    bounced: internal?.bounced ?? null,
    message_content: {
      hash: body.hash().toString('base64'),
      body: body.toBoc().toString('base64'),
      decoded: null,
    },
    init_state: null,
  };
}

const addressJson = (address: unknown): string | null =>
  address && typeof address === 'object' && 'workChain' in address ? keyOf(address as Address) : null;
