// What a Solana node says of a transaction that somebody names, and of an address that somebody wants as wallet; what is made
// with its word for a payer's wallet.
import { base58 } from '@scure/base';
import { getCompiledTransactionMessageDecoder } from '@solana/transaction-messages';
import { getTransactionDecoder } from '@solana/transactions';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AddressError, type Gateway, type Transfer } from '../../src/chains/family.ts';
import { ATA_PROGRAM, SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../../src/chains/solana/address.ts';
import { composeSolana } from '../../src/chains/solana/compose.ts';
import { verifies } from '../requirements.ts';
import { hasSurfpool, MEMO_V3, type Mint, type SolanaChain, startSolanaChain } from './solana-chain.ts';
import { createAccount, initializeTokenAccount, newKeypair } from './solana-message.ts';
import { createReader } from './solana-reader.ts';

const TOKEN_ACCOUNT_BYTES = 165;
const TOKEN_ACCOUNT_RENT = 2_039_280n;

describe.runIf(hasSurfpool)('on a Solana chain', () => {
  let chain: SolanaChain;
  let usdc: Mint;

  beforeAll(async () => {
    chain = await startSolanaChain();
    usdc = chain.createMint();
    await chain.mint(usdc, chain.payer.address, 1_000_000_000n);
  });
  afterAll(() => chain?.stop());

  function merchant(mint = usdc) {
    const owner = chain.wallet().address;
    const reader = createReader(chain, [owner], { mints: { 'solana-usdc': mint } });
    const gatewayOf = (id: string) => reader.context.gateways.find((each) => each.chain === id) as Gateway;
    const lookUp = (txid: string, id: string, address_key = owner) =>
      reader.lookUp({ txid, address_key, gateway: gatewayOf(id) });
    return { owner, reader, lookUp };
  }

  describe('a transaction that is named', () => {
    /** Without what depends on when it is asked for. */
    const timeless = ({ confirmations, final, earliest_at, latest_at, ...transfer }: Transfer) => transfer;

    it('has paid what reading finds, and no more in one asset than in that', async () => {
      verifies('resolve-looks-up');
      const { owner, reader, lookUp } = merchant();
      const txid = await chain.send([
        ...chain.tokenPayment(usdc, owner, 7n, { memo: 'BOTH' }),
        ...chain.tokenPayment(usdc, owner, 8n, { memo: 'SECOND' }),
      ]);
      const sol = await chain.sendSol(owner, 9n, { memo: 'SOL', references: [newKeypair().address] });
      await reader.until(3);
      const found = [...(await lookUp(txid, 'solana-usdc')), ...(await lookUp(sol, 'solana'))];
      expect(found.map(timeless)).toEqual(
        expect.arrayContaining(reader.transfers().map((each) => timeless(each))),
      );
      expect(found).toHaveLength(3);
      expect(Math.abs((found[0]?.earliest_at ?? 0) - Date.now() / 1000)).toBeLessThan(30);
      expect(await lookUp(txid, 'solana')).toEqual([]);
      expect(await lookUp(sol, 'solana-usdc')).toEqual([]);
      expect(await lookUp(sol, 'solana', chain.wallet().address)).toEqual([]);
      await chain.waitFor(sol, 'finalized');
      expect(await lookUp(sol, 'solana')).toMatchObject([{ final: true, confirmations: 32 }]);
    });

    it('is none where it failed, where no one knows it and where it is no name', async () => {
      const { owner, lookUp } = merchant();
      const failed = await chain.sendFailing(owner, 'NO');
      expect(await lookUp(failed, 'solana')).toEqual([]);
      expect(await lookUp(base58.encode(new Uint8Array(64).fill(5)), 'solana')).toEqual([]);
      expect(await lookUp('not a signature', 'solana')).toEqual([]);
    });

    it('is unknown for an asset whose mint cannot be read', async () => {
      const absent = { ...usdc, address: newKeypair().address };
      const { owner, lookUp } = merchant(absent);
      const txid = await chain.sendSol(owner, 9n);
      await expect(lookUp(txid, 'solana-usdc')).rejects.toThrow('does not exist');
    });
  });

  describe('an address', () => {
    const inspect = (key: string) => {
      const { reader } = merchant();
      return reader.family.inspectAddress?.(reader.rpc, key);
    };

    it('that is a wallet, or nothing so far, may be one', async () => {
      expect(await inspect(chain.wallet().address)).toBeNull();
      expect(await inspect(newKeypair().address)).toBeNull();
    });

    it('that is a token, a token account or belongs to another program is none', async () => {
      verifies('address-no-wallet');
      const extra = newKeypair();
      await chain.send(
        [
          createAccount(
            chain.payer.address,
            extra.address,
            TOKEN_ACCOUNT_RENT,
            TOKEN_ACCOUNT_BYTES,
            TOKEN_PROGRAM,
          ),
          initializeTokenAccount(TOKEN_PROGRAM, extra.address, usdc.address, chain.payer.address),
        ],
        {},
        [extra],
      );
      expect(await inspect(extra.address)).toContain('This is the address of a token account');
      expect(await inspect(chain.tokenAccount(chain.payer.address, usdc))).toContain('a token account');
      expect(await inspect(usdc.address)).toContain('This is the address of a token;');
      expect(await inspect(chain.createLookupTable([]).key)).toContain(
        'belongs to the program AddressLookupTab1e',
      );
    });

    it('that is none and is watched all the same is in trouble with all its assets, and nothing of it is read', async () => {
      verifies('address-no-wallet');
      const reader = createReader(chain, [usdc.address], { mints: { 'solana-usdc': usdc } });
      await reader.tick();
      for (const asset of ['solana', 'solana-usdc'])
        expect(reader.proof(usdc.address, asset)).toMatchObject({
          read_through: null,
          failed: true,
          trouble: 'This is the address of a token; give the address of your wallet',
        });
      expect(reader.cursors.size).toBe(0);
      expect(reader.errors).toEqual([]);
    });
  });

  describe('a payment that is made for a wallet to sign', () => {
    const reference = newKeypair().address;
    const decode = (transaction: string) => {
      const { messageBytes, signatures } = getTransactionDecoder().decode(Buffer.from(transaction, 'base64'));
      return { signatures, message: getCompiledTransactionMessageDecoder().decode(messageBytes) };
    };

    /** What wallets read of it: each instruction with the accounts it names, and which may be written. */
    function instructionsOf(transaction: string) {
      const { message } = decode(transaction);
      if (message.version !== 'legacy') throw new Error('not a legacy message');
      const { header, instructions, staticAccounts: keys } = message;
      const writable = keys.length - header.numReadonlyNonSignerAccounts;
      expect(header).toMatchObject({ numSignerAccounts: 1, numReadonlySignerAccounts: 0 });
      return instructions.map(({ programAddressIndex, accountIndices = [], data = new Uint8Array() }) => ({
        program: keys[programAddressIndex],
        accounts: accountIndices.map((at) => `${keys[at]}${at < writable ? ' w' : ''}`),
        data: Buffer.from(data).toString('hex'),
      }));
    }

    async function scene(id: string) {
      const { owner, reader } = merchant();
      const buyer = chain.wallet();
      const gateway = reader.context.gateways.find((each) => each.chain === id) as Gateway;
      const order = {
        gateway,
        address: owner,
        amount_atomic: 1_234_567n,
        memo: 'MEMO-7',
        reference,
        label: '',
        expires_at: 0,
        now: 0,
      };
      const compose = async (payer = buyer.address) => {
        const composed = await composeSolana(reader.context.rpc, { ...order, payer });
        if (composed.kind !== 'transaction') throw new Error('not a transaction');
        return composed.transaction;
      };
      return { owner, reader, buyer, order, compose };
    }
    it('says for how long the network takes it: 150 blocks at the pace that the node counts', async () => {
      verifies('compose-lapsed');
      const { reader, buyer, order } = await scene('solana');
      const life = async (samples: unknown) => {
        chain.intercept({
          method: 'getRecentPerformanceSamples',
          times: 1,
          answer: () =>
            samples ? { result: samples } : { error: { code: -32601, message: 'Method not found' } },
        });
        const composed = await composeSolana(reader.context.rpc, { ...order, payer: buyer.address });
        return composed.kind === 'transaction' ? composed.valid_seconds : null;
      };
      const sample = (numSlots: number) => ({ slot: 1, numSlots, samplePeriodSecs: 60, numTransactions: 1 });
      expect(await life([sample(280), sample(280)])).toBe(32);
      expect(await life([sample(150)])).toBe(60);
      expect(await life([sample(1)])).toBe(90);
      for (const nothing of [null, [], [sample(0)]]) expect(await life(nothing)).toBe(30);
    });

    const memo = { accounts: [], data: Buffer.from('MEMO-7').toString('hex'), program: MEMO_V3 };

    it('in SOL is a memo and a transfer that names its reference, nothing else, and pays when it is signed', async () => {
      verifies('compose-alone', 'compose-unsigned');
      const { owner, reader, buyer, compose } = await scene('solana');
      const transaction = await compose();
      expect(Object.entries(decode(transaction).signatures)).toEqual([[buyer.address, null]]);
      expect(instructionsOf(transaction)).toEqual([
        memo,
        {
          program: SYSTEM_PROGRAM,
          accounts: [`${buyer.address} w`, `${owner} w`, reference],
          data: '0200000087d6120000000000',
        },
      ]);
      const txid = await chain.signAndSend(transaction, buyer);
      await reader.until(1);
      const paid = { txid, memo: 'MEMO-7', references: [reference], amount_atomic: 1_234_567n };
      expect(reader.transfers()).toMatchObject([{ chain: 'solana', sender: buyer.address, ...paid }]);
    });

    it("in a token makes the shop's account where it is missing, and only then", async () => {
      verifies('compose-alone');
      const { owner, reader, buyer, compose } = await scene('solana-usdc');
      await chain.mint(usdc, buyer.address, 5_000_000n);
      const [from, to] = [chain.tokenAccount(buyer.address, usdc), chain.tokenAccount(owner, usdc)];
      const transfer = {
        program: TOKEN_PROGRAM,
        accounts: [`${from} w`, usdc.address, `${to} w`, `${buyer.address} w`, reference],
        data: '0c87d612000000000006',
      };
      const first = await compose();
      expect(instructionsOf(first)).toEqual([
        {
          program: ATA_PROGRAM,
          accounts: [`${buyer.address} w`, `${to} w`, owner, usdc.address, SYSTEM_PROGRAM, TOKEN_PROGRAM],
          data: '01',
        },
        memo,
        transfer,
      ]);
      await chain.signAndSend(first, buyer);
      const second = await compose();
      expect(instructionsOf(second)).toEqual([memo, transfer]);
      await chain.signAndSend(second, buyer);
      await reader.until(2);
      for (const paid of reader.transfers())
        expect(paid).toMatchObject({ memo: 'MEMO-7', references: [reference], amount_atomic: 1_234_567n });
    });

    it('is refused to what is no wallet, to the shop itself, and to who has too little', async () => {
      verifies('compose-payer');
      const { owner, buyer, compose } = await scene('solana-usdc');
      const account = newKeypair();
      await chain.send(
        [
          createAccount(
            chain.payer.address,
            account.address,
            TOKEN_ACCOUNT_RENT,
            TOKEN_ACCOUNT_BYTES,
            TOKEN_PROGRAM,
          ),
          initializeTokenAccount(TOKEN_PROGRAM, account.address, usdc.address, chain.payer.address),
        ],
        {},
        [account],
      );
      await expect(compose(account.address)).rejects.toThrow('This is the address of a token account');
      await expect(compose(owner)).rejects.toThrow('This is the wallet that is to be paid');
      await expect(compose(newKeypair().address)).rejects.toThrow('too little SOL');
      await expect(compose()).rejects.toThrow('This account has less USDC than is asked for');
      await expect(compose(chain.tokenAccount(buyer.address, usdc))).rejects.toThrow(AddressError);
      const { compose: inCoins } = await scene('solana');
      await expect(inCoins(newKeypair().address)).rejects.toThrow('too little SOL');
    });
  });
});
