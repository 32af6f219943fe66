// What a Solana node says of a transaction that somebody names, and of an address that somebody wants as wallet.
import { base58 } from '@scure/base';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Gateway, Transfer } from '../../src/chains/family.ts';
import { TOKEN_PROGRAM } from '../../src/chains/solana/address.ts';
import { verifies } from '../requirements.ts';
import { hasSurfpool, type Mint, type SolanaChain, startSolanaChain } from './solana-chain.ts';
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
});
