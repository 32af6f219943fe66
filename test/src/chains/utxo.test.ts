// Payment links, block bytes and provider networks of Bitcoin and Litecoin.
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PaymentOrder } from '../../../src/chains/family.ts';
import { gatewaysOf } from '../../../src/chains/gateways.ts';
import { MalformedBytes, parseBlock, parseHeader, parseTransaction } from '../../../src/chains/utxo/block.ts';
import { utxo } from '../../../src/chains/utxo/family.ts';
import { startFaultyServer } from '../../chains/faulty-server.ts';
import { createTestRpc } from '../../chains/rpc.ts';
import { verifies } from '../../requirements.ts';

const bitcoin = utxo('bitcoin');
const litecoin = utxo('litecoin');

describe('payment links', () => {
  const order = (chain: string, rest: Partial<PaymentOrder>): PaymentOrder => {
    const gateway = gatewaysOf('testnet').find((each) => each.chain === chain);
    if (!gateway) throw new Error(`no gateway ${chain}`);
    return {
      gateway,
      address: 'tb1qx',
      amount_atomic: 1n,
      memo: null,
      reference: null,
      label: '',
      expires_at: 0,
      ...rest,
    };
  };

  test('are BIP21 with a plain decimal amount and an encoded label', () => {
    verifies('exits-documented');
    const links = bitcoin.paymentLinks(order('bitcoin', { amount_atomic: 150_000n, label: 'Café & Co' }));
    expect(links.uri).toBe('bitcoin:tb1qx?amount=0.0015&label=Caf%C3%A9%20%26%20Co');
    expect(links.exits).toEqual({ wallet: links.uri });
    expect(litecoin.paymentLinks(order('litecoin', { amount_atomic: 1n })).uri).toBe(
      'litecoin:tb1qx?amount=0.00000001',
    );
    expect(bitcoin.paymentLinks(order('bitcoin', { amount_atomic: 2_100_000_000_000_000n })).uri).toBe(
      'bitcoin:tb1qx?amount=21000000',
    );
  });
});

describe('block bytes', () => {
  /** The first block of Bitcoin: its hash is known to everyone, and its merkle root proves the transaction. */
  const genesis = hex.decode(
    '0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e67768f61' +
      '7fc81bc3888a51323a9fb8aa4b1e5e4a29ab5f49ffff001d1dac2b7c01010000000100000000000000000000000000000000000000' +
      '00000000000000000000000000ffffffff4d04ffff001d0104455468652054696d65732030332f4a616e2f32303039204368616e63' +
      '656c6c6f72206f6e206272696e6b206f66207365636f6e64206261696c6f757420666f722062616e6b73ffffffff0100f2052a0100' +
      '0000434104678afdb0fe5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61deb649f6bc3f4cef38c4f35504e51ec112de' +
      '5c384df7ba0b8d578a4c702b6bf11d5fac00000000',
  );

  test('the first block of Bitcoin is read in full', () => {
    const block = parseBlock(genesis);
    expect(block.hash).toBe('000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f');
    expect(block.time).toBe(1231006505);
    expect(block.transactions).toMatchObject([
      {
        txid: '4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b',
        coinbase: true,
        outputs: [{ amount: 5_000_000_000n }],
      },
    ]);
  });

  test('a block cut off anywhere is refused', () => {
    for (let length = 0; length < genesis.length; length++) {
      expect(() => parseBlock(genesis.subarray(0, length))).toThrow(MalformedBytes);
    }
  });

  test('a block changed anywhere in its transactions is refused', () => {
    for (let at = 80; at < genesis.length; at++) {
      const changed = Uint8Array.from(genesis);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => parseBlock(changed)).toThrow(MalformedBytes);
    }
  });

  /** A block of these transactions under a header with their merkle root: three of them, or three and the last again. */
  function blockOf(a: Uint8Array, b: Uint8Array, c: Uint8Array, shown = [a, b, c]): Uint8Array {
    const hash = (...parts: Uint8Array[]) => sha256(sha256(concatBytes(...parts)));
    const ids = [a, b, c].map((each) => hash(withoutFlag(each))) as [Uint8Array, Uint8Array, Uint8Array];
    const root = hash(hash(ids[0], ids[1]), hash(ids[2], ids[2]));
    const header = [genesis.subarray(0, 36), root, genesis.subarray(68, 80)];
    return concatBytes(...header, Uint8Array.of(shown.length), ...shown);
  }
  /** What a transaction's id is made of: no marker, no flag, none of the data they announce. */
  const withoutFlag = (bytes: Uint8Array) =>
    bytes[4] === 0 ? concatBytes(bytes.subarray(0, 4), bytes.subarray(6, -5), bytes.subarray(-4)) : bytes;
  /** The first transaction with another lock time: three different transactions from one. */
  const variant = (lockTime: number) =>
    concatBytes(genesis.subarray(81, -4), Uint8Array.of(lockTime, 0, 0, 0));
  /** With Litecoin's MWEB flag and, before the lock time, the mark of its data. */
  const flagged = (mark: number) => {
    const plain = variant(2);
    const head = [plain.subarray(0, 4), Uint8Array.of(0, 8), plain.subarray(4, -4)];
    return concatBytes(...head, Uint8Array.of(mark), plain.subarray(-4));
  };

  test('a block with its last transaction repeated is refused though its merkle root is right', () => {
    const [a, b, c] = [variant(1), variant(2), variant(3)];
    expect(parseBlock(blockOf(a, b, c)).transactions).toHaveLength(3);
    expect(() => parseBlock(blockOf(a, b, c, [a, b, c, c]))).toThrow(/repeated/);
  });

  test('the empty MWEB mark of a transaction is passed over, MWEB data inside a block is refused', () => {
    const [a, c] = [variant(1), variant(3)];
    const plain = parseBlock(blockOf(a, variant(2), c)).transactions;
    expect(parseBlock(blockOf(a, flagged(0), c)).transactions).toEqual(plain);
    expect(() => parseBlock(blockOf(a, flagged(1), c))).toThrow(/MWEB/);
  });

  test('bytes of any kind are read or refused, never anything else', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        for (const parse of [parseBlock, parseHeader, parseTransaction]) {
          try {
            parse(bytes);
          } catch (error) {
            expect(error).toBeInstanceOf(MalformedBytes);
          }
        }
      }),
    );
  });
});

describe('the network of a provider', () => {
  const BITCOIN = '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f';
  const LITECOIN = '12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2';
  const DOGECOIN = '1a91e3dace36e2be3bf030a65679fe821aa1d6ef92e7c9902eb318182c355691';
  const TESTNET4 = '00000000da84f2bafbbc53dee25a72ae507ff4914b867c565be350b0da8bf043';

  /** No main network can run here: a node's and an Esplora's words about theirs. */
  async function identify(
    family: typeof bitcoin,
    provider: 'esplora' | 'core',
    genesis: string,
    chain: string,
  ) {
    const server = await startFaultyServer(
      async ({ path, body }) => {
        if (provider === 'esplora')
          return path === '/block-height/0' ? { body: genesis } : { status: 404, body: '' };
        const { id, method } = JSON.parse(body) as { id: number; method: string };
        return {
          body: JSON.stringify({ id, error: null, result: method === 'getblockhash' ? genesis : { chain } }),
        };
      },
      ({ path }) => path,
    );
    try {
      return await family.identify(createTestRpc({ provider, url: server.url }));
    } finally {
      await server.stop();
    }
  }

  test.each(['esplora', 'core'] as const)('is known by the first block through %s', async (provider) => {
    expect(await identify(bitcoin, provider, BITCOIN, 'main')).toBe('mainnet');
    expect(await identify(litecoin, provider, LITECOIN, 'main')).toBe('mainnet');
    expect(await identify(bitcoin, provider, TESTNET4, 'testnet4')).toBe('testnet');
    for (const wrong of [
      identify(bitcoin, provider, LITECOIN, 'main'),
      identify(litecoin, provider, BITCOIN, 'main'),
    ]) {
      await expect(wrong).rejects.toMatchObject({ kind: 'wrong_network' });
    }
    await expect(identify(bitcoin, provider, '<html>', 'main')).rejects.toMatchObject({ kind: 'bad_answer' });
  });

  test('of an unknown coin that calls itself the main one is refused', async () => {
    await expect(identify(bitcoin, 'core', DOGECOIN, 'main')).rejects.toMatchObject({
      kind: 'wrong_network',
    });
  });

  test('cannot be asked of a provider of another family', async () => {
    const rpc = createTestRpc({ provider: 'evm', url: 'http://127.0.0.1:1' });
    await expect(bitcoin.identify(rpc)).rejects.toMatchObject({ kind: 'bad_answer' });
  });
});
