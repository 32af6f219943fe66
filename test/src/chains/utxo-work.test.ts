// Proof of work: what real headers prove, what is refused, and how far a chain made up by a provider gets.
import { hex } from '@scure/base';
import { describe, expect, test } from 'vitest';
import type { Json, Network, Page, Rpc } from '../../../src/chains/family.ts';
import { gatewaysOf } from '../../../src/chains/gateways.ts';
import { MalformedBytes, parseHeader } from '../../../src/chains/utxo/block.ts';
import { createMemory, type UtxoContext } from '../../../src/chains/utxo/memory.ts';
import { coins, workRules } from '../../../src/chains/utxo/networks.ts';
import { readChain } from '../../../src/chains/utxo/read.ts';
import { checkWork, followTarget, targetOf } from '../../../src/chains/utxo/work.ts';
import { EASIEST_BITS, type MadeChain, makeChain, makeHeader } from '../../chains/utxo-blocks.ts';
import { rightClock, unasked } from '../../helpers/reading.ts';

const { bitcoin, litecoin } = coins;
const NOW = 1_800_000_000;
const OTHER = 'f'.repeat(64);

function headerOf(parts: {
  version: number;
  merkle_root: string;
  time: number;
  bits: number;
  nonce: number;
}) {
  const bytes = Buffer.alloc(80);
  bytes.writeUInt32LE(parts.version, 0);
  Buffer.from(parts.merkle_root, 'hex').reverse().copy(bytes, 36);
  bytes.writeUInt32LE(parts.time, 68);
  bytes.writeUInt32LE(parts.bits, 72);
  bytes.writeUInt32LE(parts.nonce, 76);
  return parseHeader(bytes);
}

/** The first blocks of the main networks. */
const firstBitcoin = headerOf({
  version: 1,
  merkle_root: '4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b',
  time: 1231006505,
  bits: 0x1d00ffff,
  nonce: 2083236893,
});
const firstLitecoin = headerOf({
  version: 1,
  merkle_root: '97ddfbbae6be97fd6cdf3e7ca13232a3afff2353e29badfab7f73011edd4ced9',
  time: 1317972665,
  bits: 0x1e0ffff0,
  nonce: 2084524493,
});
const withoutFloor = (rules: typeof bitcoin.main.work) => ({ ...rules, least_difficulty: undefined });

describe('a target in compact form', () => {
  test.each([
    [0x1d00ffff, 'ffff0000000000000000000000000000000000000000000000000000'],
    [0x207fffff, '7fffff0000000000000000000000000000000000000000000000000000000000'],
    [0x1b0404cb, '404cb000000000000000000000000000000000000000000000000'],
    [0x04123456, '12345600'],
    [0x03123456, '123456'],
    [0x02123456, '1234'],
    [0x01120000, '12'],
  ])('%i is decoded', (bits, target) => {
    expect(targetOf(bits)).toBe(BigInt(`0x${target}`));
  });

  test.each([
    ['negative', 0x04923456],
    ['negative', 0x1d80ffff],
    ['overflowing', 0xff123456],
    ['overflowing', 0x23000001],
    ['overflowing', 0x22000100],
    ['overflowing', 0x21010000],
    ['nothing', 0],
    ['nothing', 0x01003456],
    ['nothing', 0x1d000000],
    ['nothing', 0x1d800000],
  ])('that is %s is refused: %i', (_, bits) => {
    expect(() => targetOf(bits)).toThrow(MalformedBytes);
  });
});

describe('the work of a header', () => {
  test('of the first blocks is proved, by SHA-256 there and by scrypt here', () => {
    expect(firstBitcoin.hash).toBe(bitcoin.main.genesis);
    expect(firstLitecoin.hash).toBe(litecoin.main.genesis);
    checkWork(withoutFloor(bitcoin.main.work), firstBitcoin);
    checkWork(withoutFloor(litecoin.main.work), firstLitecoin);
    expect(() => checkWork(withoutFloor(litecoin.main.work), firstBitcoin)).toThrow(/lacks the proof/);
    expect(() => checkWork(withoutFloor(bitcoin.main.work), firstLitecoin)).toThrow(
      /easier than the network/,
    );
  });

  test('with any bit of it changed is none', () => {
    const rules = withoutFloor(bitcoin.main.work);
    for (let at = 0; at < 80; at++) {
      const changed = Uint8Array.from(firstBitcoin.bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => checkWork(rules, parseHeader(changed))).toThrow(MalformedBytes);
    }
  });

  test('of a main network is at least what it has been for years', () => {
    expect(() => checkWork(bitcoin.main.work, firstBitcoin)).toThrow(/far easier/);
    expect(() => checkWork(litecoin.main.work, firstLitecoin)).toThrow(/far easier/);
    // Block 840,000 of Bitcoin asked for this.
    const real = targetOf(0x17034219);
    expect(real).toBeLessThan((0xffffn << 208n) / (bitcoin.main.work.least_difficulty ?? 1n));
  });

  test('is checked by the rules of the network that begins with its first block', () => {
    expect(workRules(bitcoin, 'mainnet', OTHER)).toBe(bitcoin.main.work);
    const litecoinRegtest = '530827f38f93b43ed12af0b3ad25a288dc02ed74d6d7857862df51fc56c416f9';
    expect(workRules(bitcoin, 'testnet', litecoinRegtest)).toMatchObject({ retarget: 'never' });
    expect(workRules(bitcoin, 'testnet', OTHER)).toMatchObject({ retarget: 'freely' });
  });
});

describe('the next target', () => {
  const { main } = bitcoin;
  const testnet = workRules(
    bitcoin,
    'testnet',
    '00000000da84f2bafbbc53dee25a72ae507ff4914b867c565be350b0da8bf043',
  );
  const regtest = workRules(
    bitcoin,
    'testnet',
    '0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206',
  );
  const BITS = 0x17034219;
  const FOUR_TIMES = 0x170d0864;
  const QUARTER = 0x1700d086;

  test('of a main network is the same but for every 2016th block, and there within a factor of four', () => {
    expect(followTarget(main.work, BITS, 840_001, BITS)).toBe(BITS);
    for (const bits of [0x1703421a, 0x17034218, FOUR_TIMES, 0x1d00ffff])
      expect(() => followTarget(main.work, bits, 840_001, BITS)).toThrow(/does not follow/);
    const boundary = 2016 * 417;
    for (const bits of [BITS, FOUR_TIMES, QUARTER, 0x17034218])
      expect(followTarget(main.work, bits, boundary, BITS)).toBe(bits);
    for (const bits of [FOUR_TIMES + 1, 0x1700d000, 0x1d00ffff])
      expect(() => followTarget(main.work, bits, boundary, BITS)).toThrow(/does not follow/);
  });

  test('of a test network may be the easiest at any time, and then what it was before', () => {
    expect(followTarget(testnet, 0x1d00ffff, 101, BITS)).toBe(BITS);
    expect(followTarget(testnet, BITS, 102, BITS)).toBe(BITS);
    expect(followTarget(testnet, 0x1d00ffff, 101, null)).toBeNull();
    expect(() => followTarget(testnet, 0x1c00ffff, 102, BITS)).toThrow(/does not follow/);
    // A period that ends with an exception may begin the next one from it.
    expect(followTarget(testnet, 0x1c7fff80, 2016, BITS)).toBe(0x1c7fff80);
  });

  test('of a regtest never changes', () => {
    expect(followTarget(regtest, EASIEST_BITS, 2016, EASIEST_BITS)).toBe(EASIEST_BITS);
    expect(() => followTarget(regtest, 0x1f7fffff, 2016, EASIEST_BITS)).toThrow(/does not follow/);
  });
});

describe('reading refuses', () => {
  async function read(chain: MadeChain, cursor: Json | null, network: Network = 'testnet', since = NOW) {
    const pages: Page[] = [];
    const context: UtxoContext = {
      rpc: { provider: 'made' } as Rpc,
      network,
      blockchain: 'bitcoin',
      gateways: gatewaysOf(network).filter((gateway) => gateway.chain === 'bitcoin'),
      memory: createMemory(),
      now: () => NOW + 100,
      ...rightClock,
    };
    const addresses = async () => [{ key: '0014aa', address: '', since, open: true }];
    const request = { ...unasked, addresses, cursor, accounts: async () => new Map() };
    const reading = (async () => {
      for await (const page of readChain(bitcoin, chain.source, context, request)) pages.push(page);
    })();
    await reading.catch(() => undefined);
    return { pages, reading, cursors: pages.flatMap(({ cursor }) => cursor ?? []) };
  }
  const headOf = (chain: MadeChain): Json => ({
    height: chain.blocks.length - 1,
    hashes: [chain.blocks.at(-1)?.hash ?? ''],
    bits: EASIEST_BITS,
  });

  test('a block without work, and stays where it was', async () => {
    const chain = makeChain(NOW - 1000);
    const cursor = headOf(chain);
    const previous = chain.blocks[0]?.hash ?? '';
    chain.blocks.push({ ...makeHeader({ previous, time: NOW }, { proved: false }), transactions: [] });
    const { reading, cursors } = await read(chain, cursor);
    await expect(reading).rejects.toMatchObject({ kind: 'bad_answer', message: /lacks the proof of work/ });
    expect(cursors).toEqual([]);
  });

  test.each([
    ['negative', 0x20ffffff],
    ['overflowing', 0x23ffffff],
    ['easier than allowed', 0x217fffff],
  ])('a block whose target is %s', async (_, bits) => {
    const chain = makeChain(NOW - 1000);
    const cursor = headOf(chain);
    const { bytes, ...rest } = makeHeader({ previous: chain.blocks[0]?.hash ?? '', time: NOW });
    chain.blocks.push({ ...rest, bits, bytes, transactions: [] });
    const { reading, cursors } = await read(chain, cursor);
    await expect(reading).rejects.toMatchObject({ kind: 'bad_answer' });
    expect(cursors).toEqual([]);
  });

  test('a main network made up from nothing, wherever the walk to its beginning meets it', async () => {
    const chain = makeChain(NOW - 100_000);
    for (let at = 1; at < 50; at++) chain.mine(NOW - 100_000 + at * 2000);
    const { reading, cursors } = await read(chain, null, 'mainnet', NOW - 50_000);
    await expect(reading).rejects.toMatchObject({ kind: 'bad_answer', message: /easier than the network/ });
    expect(cursors).toEqual([]);
  });

  test('a longer branch of less work that leaves the main network where it is', async () => {
    const chain = makeChain(NOW - 100_000);
    const fork = chain.blocks.length - 1;
    const cursor = { height: fork, hashes: [chain.blocks[fork]?.hash ?? ''], bits: 0x17034219 };
    for (let at = 1; at < 20; at++) chain.mine(NOW - 2000 + at, [], { bits: 0x207fffff });
    const { reading, cursors } = await read(chain, cursor, 'mainnet');
    await expect(reading).rejects.toMatchObject({ kind: 'bad_answer' });
    expect(cursors).toEqual([]);
  });

  test('a tip and a block of a time to come', async () => {
    const chain = makeChain(NOW - 1000);
    const cursor = headOf(chain);
    chain.mine(NOW + 100 + 7201);
    const { reading, cursors } = await read(chain, cursor);
    await expect(reading).rejects.toMatchObject({ kind: 'bad_answer', message: /ahead of now/ });
    chain.mine(NOW);
    const past = await read(chain, cursor);
    await expect(past.reading).rejects.toMatchObject({ kind: 'bad_answer', message: /time to come/ });
    expect([...cursors, ...past.cursors]).toEqual([]);
  });

  test('the tip of a main network that is hours old', async () => {
    const chain = makeChain(NOW - 4 * 3600);
    const { reading, pages } = await read(chain, headOf(chain), 'mainnet');
    await expect(reading).rejects.toMatchObject({ kind: 'bad_answer', message: /is stuck/ });
    expect(pages.filter(({ read_through }) => read_through !== undefined)).toEqual([]);
  });

  test('nothing of a cursor that was stored without a target, which is filled', async () => {
    const chain = makeChain(NOW - 1000);
    const { bits: _, ...cursor } = headOf(chain) as { height: number; hashes: string[]; bits: number };
    chain.mine(NOW - 10);
    chain.mine(NOW);
    const { cursors } = await read(chain, cursor);
    expect(cursors.map((each) => (each as { bits: number }).bits)).toEqual([EASIEST_BITS, EASIEST_BITS]);
  });

  test('an honest header in bytes is what it was made from', () => {
    const header = makeHeader({ previous: OTHER, time: NOW });
    expect(parseHeader(header.bytes)).toEqual(header);
    expect(hex.encode(header.bytes)).toHaveLength(160);
  });
});
