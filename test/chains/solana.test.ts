// What counts as a payment on Solana, and what does not: real transactions on a real runtime.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Transfer } from '../../src/chains/family.ts';
import { TOKEN_PROGRAM } from '../../src/chains/solana/address.ts';
import { verifies } from '../requirements.ts';
import {
  hasSurfpool,
  MEMO_V1,
  MEMO_V3,
  MEMO_V4,
  type Mint,
  type SolanaChain,
  startSolanaChain,
} from './solana-chain.ts';
import {
  createAccount,
  createTokenAccount,
  initializeTokenAccount,
  memoInstruction,
  newKeypair,
  systemTransfer,
  tokenTransfer,
} from './solana-message.ts';
import { createReader, type Reader } from './solana-reader.ts';

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const WRAPPED_SOL = 'So11111111111111111111111111111111111111112';
const TOKEN_ACCOUNT_BYTES = 165;
const TOKEN_ACCOUNT_RENT = 2_039_280n;

const brief = (transfer: Transfer) => [transfer.chain, transfer.amount_atomic, transfer.memo];

describe.runIf(hasSurfpool)('a Solana transaction', () => {
  let chain: SolanaChain;
  let usdc: Mint;
  let withFee: Mint;

  beforeAll(async () => {
    chain = await startSolanaChain();
    usdc = chain.createMint({ address: USDC });
    withFee = chain.createMint({ fee_basis_points: 100 });
    await chain.mint(usdc, chain.payer.address, 1_000_000_000_000n);
    await chain.mint(withFee, chain.payer.address, 1_000_000_000_000n);
  });
  afterAll(() => chain?.stop());

  /** A merchant whose wallet has been used before, and a reader that has seen it. */
  async function merchant() {
    const wallet = chain.wallet();
    const reader = createReader(chain, [wallet.address], {
      mints: { 'solana-usdc': usdc, 'solana-usdt': withFee },
    });
    await reader.settle();
    return { wallet, owner: wallet.address, reader };
  }

  /** Reads until a last, known payment is there: whatever came before it has been read as well. */
  async function readAll(reader: Reader, owner: string): Promise<Transfer[]> {
    await chain.sendSol(owner, 7_777n, { memo: 'LAST' });
    for (let tries = 0; tries < 50 && !reader.transfers().some((each) => each.memo === 'LAST'); tries++) {
      await reader.tick();
    }
    await reader.settle();
    expect(reader.errors).toEqual([]);
    expect(reader.transfers().some((each) => each.memo === 'LAST')).toBe(true);
    return reader.transfers().filter((each) => each.memo !== 'LAST');
  }

  it('names its invoice through any of the three memo programs', async () => {
    const { owner, reader } = await merchant();
    await chain.sendSol(owner, 1n, { memo: 'ONE', memo_program: MEMO_V1 });
    await chain.sendSol(owner, 2n, { memo: ' THREE\n', memo_program: MEMO_V3 });
    await chain.sendSol(owner, 3n, { memo: 'Ünïcode ₿', memo_program: MEMO_V4 });
    const read = await readAll(reader, owner);
    expect(read.map(brief)).toEqual([
      ['solana', 1n, 'ONE'],
      ['solana', 2n, 'THREE'],
      ['solana', 3n, 'Ünïcode ₿'],
    ]);
  });

  it.each([MEMO_V1, MEMO_V3, MEMO_V4])(
    'names its invoice by a memo that another program wrote to %s',
    async (memo_program) => {
      const { owner, reader } = await merchant();
      await chain.sendSol(owner, 5n, { memo: 'INNER', inner_memo: true, memo_program });
      expect((await readAll(reader, owner)).map(brief)).toEqual([['solana', 5n, 'INNER']]);
    },
  );

  it('tells who paid, when, and in which slot', async () => {
    const { owner, reader } = await merchant();
    const txid = await chain.sendToken(usdc, owner, 12n, { memo: 'WHO' });
    const [transfer] = await readAll(reader, owner);
    expect(transfer).toMatchObject({
      address_key: owner,
      txid,
      index: `${owner}:${USDC}:0`,
      sender: chain.payer.address,
      block_hash: null,
    });
    expect(Math.abs((transfer?.earliest_at ?? 0) - Date.now() / 1000)).toBeLessThan(30);
    expect(transfer?.height).toBeLessThanOrEqual(await chain.slot());
  });

  it('that failed is no payment, whatever its memo says', async () => {
    verifies('assets-solana');
    const { owner, reader } = await merchant();
    await chain.sendFailing(owner, 'FAILED');
    expect(await readAll(reader, owner)).toEqual([]);
  });

  it('with a token of another mint credits nothing of ours', async () => {
    verifies('assets-solana');
    const { owner, reader } = await merchant();
    const fake = chain.createMint();
    await chain.mint(fake, chain.payer.address, 1_000_000n);
    await chain.send([
      ...chain.tokenPayment(fake, owner, 1_000_000n, { memo: 'FAKE' }),
      systemTransfer(chain.payer.address, owner, 1n),
    ]);
    expect((await readAll(reader, owner)).map(brief)).toEqual([['solana', 1n, 'FAKE']]);
  });

  it('credits what arrived after the fee of the token, in an account that it made itself', async () => {
    verifies('assets-solana');
    const { owner, reader } = await merchant();
    await chain.sendToken(withFee, owner, 10_000_000n, { memo: 'FEE' });
    expect((await readAll(reader, owner)).map(brief)).toEqual([['solana-usdt', 9_900_000n, 'FEE']]);
  });

  it('to an existing token account is found although the wallet is not listed in it', async () => {
    const { owner, reader } = await merchant();
    await chain.sendToken(usdc, owner, 1n, { memo: 'MAKES' });
    await reader.until(1);
    const route = chain.tokenRoute(usdc, owner);
    const txid = await chain.send([
      memoInstruction(MEMO_V3, 'EXISTING'),
      tokenTransfer(TOKEN_PROGRAM, route, 4_000_000n, 6),
    ]);
    const ofWallet = (await reader.rpc.call('getSignaturesForAddress', [
      owner,
      { commitment: 'finalized' },
    ])) as {
      signature: string;
    }[];
    expect(ofWallet.map((entry) => entry.signature)).not.toContain(txid);
    expect((await readAll(reader, owner)).map(brief)).toEqual([
      ['solana-usdc', 1n, 'MAKES'],
      ['solana-usdc', 4_000_000n, 'EXISTING'],
    ]);
  });

  it('to another token account of the merchant counts where the transaction is seen', async () => {
    const { owner, reader } = await merchant();
    const extra = newKeypair();
    const payer = chain.payer.address;
    await chain.send(
      [
        createAccount(payer, extra.address, TOKEN_ACCOUNT_RENT, TOKEN_ACCOUNT_BYTES, TOKEN_PROGRAM),
        initializeTokenAccount(TOKEN_PROGRAM, extra.address, USDC, owner),
      ],
      {},
      [extra],
    );
    const route = { ...chain.tokenRoute(usdc, owner), to: extra.address };
    const pay = (amount: bigint) => tokenTransfer(TOKEN_PROGRAM, route, amount, 6);
    await chain.send([memoInstruction(MEMO_V3, 'UNSEEN'), pay(1n)]);
    await chain.send([memoInstruction(MEMO_V3, 'SEEN'), pay(2n), systemTransfer(payer, owner, 1n)]);
    expect((await readAll(reader, owner)).map(brief)).toEqual([
      ['solana', 1n, 'SEEN'],
      ['solana-usdc', 2n, 'SEEN'],
    ]);
  });

  it('that the merchant signed is not a payment to him', async () => {
    const { wallet, owner, reader } = await merchant();
    await chain.sendSol(chain.payer.address, 1_000n, { from: wallet, memo: 'OUT' });
    await chain.sendSol(owner, 1_000n, { from: wallet, memo: 'SELF' });
    await chain.send(
      [
        ...chain.tokenPayment(usdc, owner, 9n, { memo: 'SWAP' }),
        systemTransfer(owner, chain.payer.address, 5n),
      ],
      {},
      [wallet],
    );
    expect(await readAll(reader, owner)).toEqual([]);
  });

  it('with two memos pays two invoices, each with the transfer behind its memo', async () => {
    const { owner, reader } = await merchant();
    const payer = chain.payer.address;
    const txid = await chain.send([
      memoInstruction(MEMO_V3, 'FIRST'),
      systemTransfer(payer, owner, 11n),
      memoInstruction(MEMO_V4, 'SECOND'),
      systemTransfer(payer, owner, 22n),
    ]);
    await chain.send([
      ...chain.tokenPayment(usdc, owner, 33n, { memo: 'THIRD' }),
      ...chain.tokenPayment(usdc, owner, 44n, { memo: 'FOURTH' }),
    ]);
    const read = await readAll(reader, owner);
    expect(read.map(brief)).toEqual([
      ['solana', 11n, 'FIRST'],
      ['solana', 22n, 'SECOND'],
      ['solana-usdc', 33n, 'THIRD'],
      ['solana-usdc', 44n, 'FOURTH'],
    ]);
    const ids = [`${owner}:SOL:0`, `${owner}:SOL:1`].map((index) => ({ txid, index }));
    expect(read.slice(0, 2)).toMatchObject(ids);
    expect(read.every((each) => each.ambiguous === undefined)).toBe(true);
  });

  it('with two memos that its transfers do not settle is left to the operator', async () => {
    const { owner, reader } = await merchant();
    const payer = chain.payer.address;
    await chain.send([
      ...chain.tokenPayment(withFee, owner, 1_000_000n, { memo: 'FEE-A' }),
      ...chain.tokenPayment(withFee, owner, 1_000_000n, { memo: 'FEE-B' }),
    ]);
    await chain.send([
      systemTransfer(payer, owner, 50n),
      memoInstruction(MEMO_V3, 'AFTER-A'),
      memoInstruction(MEMO_V3, 'AFTER-B'),
    ]);
    const read = await readAll(reader, owner);
    expect(read.map(brief)).toEqual([
      ['solana-usdt', 1_980_000n, 'FEE-A; FEE-B'],
      ['solana', 50n, 'AFTER-A; AFTER-B'],
    ]);
    expect(read.every((each) => each.ambiguous?.startsWith('2 memos'))).toBe(true);
  });

  it('without a memo carries its references, and nothing else as one', async () => {
    verifies('solana-reference');
    const { owner, reader } = await merchant();
    const [first, second] = [newKeypair().address, newKeypair().address];
    await chain.sendSol(owner, 3n, { references: [first] });
    await chain.sendToken(usdc, owner, 4n, { references: [first, second] });
    const read = await readAll(reader, owner);
    expect(read.map((each) => [each.memo, each.references])).toEqual([
      [null, [first]],
      [null, [first, second]],
    ]);
  });

  it('of version 0 is read with the addresses of its lookup table', async () => {
    const { owner, reader } = await merchant();
    const reference = newKeypair().address;
    const table = chain.createLookupTable([newKeypair().address, owner, reference]);
    // surfpool, unlike a real node, does not list a transaction under a looked-up key: the token account finds it.
    await chain.send(
      [
        ...chain.tokenPayment(usdc, owner, 5n, { memo: 'TABLE' }),
        systemTransfer(chain.payer.address, owner, 6n, [reference]),
      ],
      { tables: [table] },
    );
    const read = await readAll(reader, owner);
    expect(read.map(brief)).toEqual([
      ['solana', 6n, 'TABLE'],
      ['solana-usdc', 5n, 'TABLE'],
    ]);
    expect(read[0]?.references).toEqual([reference]);
  });

  it('with wrapped SOL is no payment in SOL', async () => {
    const { owner, reader } = await merchant();
    const payer = chain.payer.address;
    const wrapped = { address: WRAPPED_SOL, decimals: 9, program: TOKEN_PROGRAM };
    const route = chain.tokenRoute(wrapped, owner);
    await chain.send([
      createTokenAccount(payer, route.from, payer, WRAPPED_SOL, TOKEN_PROGRAM),
      systemTransfer(payer, route.from, 1_000_000n),
      { program: TOKEN_PROGRAM, accounts: [{ key: route.from, writable: true }], data: Uint8Array.of(17) },
      createTokenAccount(payer, route.to, owner, WRAPPED_SOL, TOKEN_PROGRAM),
      memoInstruction(MEMO_V3, 'WRAPPED'),
      tokenTransfer(TOKEN_PROGRAM, route, 1_000_000n, 9),
    ]);
    expect(await readAll(reader, owner)).toEqual([]);
  });

  it('to two merchants is credited to each, and the same at every reading', async () => {
    const [one, two] = [chain.wallet().address, chain.wallet().address];
    const reader = createReader(chain, [one, two], { mints: { 'solana-usdc': usdc } });
    const payer = chain.payer.address;
    await chain.send([
      memoInstruction(MEMO_V3, 'BOTH'),
      systemTransfer(payer, one, 1n),
      systemTransfer(payer, two, 2n),
      ...chain.tokenPayment(usdc, two, 3n, {}),
    ]);
    await reader.until(3);
    const again = createReader(chain, [two, one], { mints: { 'solana-usdc': usdc } });
    await again.until(3);
    const name = (each: Transfer) => `${each.txid}/${each.index} ${each.amount_atomic} ${each.memo}`;
    const names = (from: Reader) => from.transfers().map(name).sort();
    expect(new Set(names(reader)).size).toBe(3);
    expect(names(again)).toEqual(names(reader));
  });
});
