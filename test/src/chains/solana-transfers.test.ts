// Solana transactions that no honest wallet makes: nothing throws, nothing is credited by guess.
import { base58 } from '@scure/base';
import { describe, expect, it } from 'vitest';
import { gatewaysOf } from '../../../src/chains/gateways.ts';
import { MEMO_PROGRAMS, SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../../../src/chains/solana/address.ts';
import { stepsOf } from '../../../src/chains/solana/instructions.ts';
import type {
  SolanaInstruction,
  SolanaTransaction,
  TokenBalance,
} from '../../../src/chains/solana/providers/rpc.ts';
import { type Asset, transfersOf } from '../../../src/chains/solana/transfers.ts';

const OWNER = '2wmVCSfPxGPjrnMMn7rchp4uaeoTqN39mXFC2zhPdri9';
const MINT = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const [MEMO_V1 = '', , MEMO_V4 = ''] = MEMO_PROGRAMS;
const seen = { signature: 'sig', made: { earliest_at: 1, latest_at: 1 }, confirmations: 1, final: false };

const assets: Asset[] = gatewaysOf('testnet')
  .filter(({ chain }) => chain === 'solana' || chain === 'solana-usdc')
  .map((gateway) => ({
    gateway,
    mint: gateway.token_contract,
    program: gateway.is_token ? TOKEN_PROGRAM : SYSTEM_PROGRAM,
  }));

interface Sketch {
  instructions?: SolanaInstruction[];
  balances?: [before: number, after: number];
  before?: TokenBalance[];
  after?: TokenBalance[];
}

const transaction = ({
  instructions = [],
  balances: [pre, post] = [0, 0],
  before,
  after,
}: Sketch): SolanaTransaction => ({
  slot: 7,
  meta: {
    err: null,
    preBalances: [100, pre, 0],
    postBalances: [90, post, 0],
    preTokenBalances: before,
    postTokenBalances: after,
    innerInstructions: null,
  },
  transaction: {
    message: {
      accountKeys: [
        { pubkey: 'payer', signer: true, writable: true },
        { pubkey: OWNER, signer: false, writable: true },
        { pubkey: 'tokens', signer: false, writable: true },
      ],
      instructions,
      recentBlockhash: OWNER,
    },
  },
});

const memo = (programId: string, content: Partial<SolanaInstruction>): SolanaInstruction => ({
  programId,
  ...content,
});
const held = (
  owner: string | undefined,
  amount: string,
  changed: Partial<TokenBalance> = {},
): TokenBalance => ({
  accountIndex: 2,
  mint: MINT,
  owner,
  programId: TOKEN_PROGRAM,
  uiTokenAmount: { amount },
  ...changed,
});

describe('a memo', () => {
  it.each([
    ['bytes that are not UTF-8', memo(MEMO_V4, { data: base58.encode(Uint8Array.of(0xc3, 0x28)) })],
    ['text that is not base58', memo(MEMO_V4, { data: '0OIl' })],
    ['no data', memo(MEMO_V4, {})],
    ['blanks', memo(MEMO_V1, { parsed: ' \n\t' })],
    ['a zero character, which PostgreSQL cannot keep', memo(MEMO_V1, { parsed: '\0' })],
    ['a zero character within a text', memo(MEMO_V1, { parsed: 'A\0B' }), 'AB'],
    ['an object', memo(MEMO_V1, { parsed: { text: 'A' } })],
  ] as [string, ReturnType<typeof memo>, string?][])(
    'of %s is none, or the text without it',
    (_, instruction, left) => {
      const [transfer] = transfersOf(
        transaction({ instructions: [instruction], balances: [1, 3] }),
        seen,
        OWNER,
        assets,
      );
      expect(transfer).toMatchObject({ amount_atomic: 2n, memo: left ?? null });
    },
  );

  it('twice the same is one memo', () => {
    const instructions = [
      memo(MEMO_V1, { parsed: 'A' }),
      memo(MEMO_V4, { data: base58.encode(Buffer.from('A ')) }),
    ];
    const transfers = transfersOf(transaction({ instructions, balances: [0, 5] }), seen, OWNER, assets);
    expect(transfers.map((each) => [each.memo, each.ambiguous])).toEqual([['A', undefined]]);
  });

  it('of another program is text for no one', () => {
    expect(stepsOf(transaction({ instructions: [memo(TOKEN_PROGRAM, { parsed: 'A' })] }))).toEqual([]);
  });
});

describe('a credit in tokens', () => {
  const credit = (sketch: Sketch) =>
    transfersOf(transaction(sketch), seen, OWNER, assets).map((each) => each.amount_atomic);

  it('counts what all accounts of the owner gained together', () => {
    const before = [
      held(OWNER, '10'),
      held(OWNER, '90', { accountIndex: 1 }),
      held('payer', '7', { accountIndex: 0 }),
    ];
    const after = [
      held(OWNER, '105'),
      held(OWNER, '0', { accountIndex: 1 }),
      held('payer', '2', { accountIndex: 0 }),
    ];
    expect(credit({ before, after })).toEqual([5n]);
  });

  it('counts an account that was closed as emptied', () => {
    expect(credit({ before: [held(OWNER, '10', { accountIndex: 1 })], after: [held(OWNER, '4')] })).toEqual(
      [],
    );
  });

  it.each([
    ['of another mint', { mint: 'other' }],
    ['of another program', { programId: 'other' }],
    ['of an unknown program', { programId: undefined }],
    ['of an unknown owner', { owner: undefined }],
  ])('is none %s', (_, changed) => {
    expect(credit({ after: [held(OWNER, '5', changed)] })).toEqual([]);
  });

  it('is exact far beyond what a JSON number holds', () => {
    expect(credit({ after: [held(OWNER, '18446744073709551615')] })).toEqual([18446744073709551615n]);
  });
});

describe('a credit in SOL', () => {
  it('that the balance shows inexactly is left to the operator', () => {
    const huge = Number.MAX_SAFE_INTEGER + 1;
    const [transfer] = transfersOf(transaction({ balances: [huge, huge + 1000] }), seen, OWNER, assets);
    expect(transfer?.ambiguous).toContain('JSON number');
  });

  it('names the payer of the fee where no transfer names a sender', () => {
    const [transfer] = transfersOf(transaction({ balances: [0, 1] }), seen, OWNER, assets);
    expect(transfer?.sender).toBe('payer');
  });
});

describe('the life of a transaction', () => {
  const nonce = { type: 'advanceNonce', info: { nonceAccount: 'nonce' } };

  it('is bounded by its blockhash', () => {
    const [transfer] = transfersOf(transaction({ balances: [0, 1] }), seen, OWNER, assets);
    expect(transfer?.blockhash).toBe(OWNER);
  });

  it('has no bound where it begins with a nonce', () => {
    const instructions = [{ programId: SYSTEM_PROGRAM, parsed: nonce }];
    const [transfer] = transfersOf(transaction({ instructions, balances: [0, 1] }), seen, OWNER, assets);
    expect(transfer?.blockhash).toBeNull();
  });

  it('is bounded all the same where another program says so, or it comes later', () => {
    const other = [{ programId: TOKEN_PROGRAM, parsed: nonce }];
    const later = [memo(MEMO_V1, { parsed: 'A' }), { programId: SYSTEM_PROGRAM, parsed: nonce }];
    for (const instructions of [other, later]) {
      const [transfer] = transfersOf(transaction({ instructions, balances: [0, 1] }), seen, OWNER, assets);
      expect(transfer?.blockhash).toBe(OWNER);
    }
  });
});
