// Reading a real EVM node: which logs are payments, how deep they stand, and what reorganisations do to them.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { networks } from '../../src/chains/evm/networks.ts';
import { ProviderError } from '../../src/chains/family.ts';
import { verifies } from '../requirements.ts';
import { type EvmChain, hasAnvil, startAnvil } from './evm-chain.ts';
import { createFront, omitting, refused, withOrphans } from './evm-front.ts';
import { createEvmObserver, freshAddress, gatewayOf } from './evm-observer.ts';

const USDC = '0x036cbd53842c5426634e7929541ec2318f3dcf7e';
/** The same symbol, another contract. */
const FORGED = '0x1111111111111111111111111111111111111111';
const TAXED = '0x2222222222222222222222222222222222222222';
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** The chain of these tests makes a block in two seconds. */
const network = { ...networks.base, block_seconds: 2 };
const usdc = gatewayOf(network, { chain: 'base-usdc', token_contract: USDC });
const taxed = gatewayOf(network, { chain: 'base-taxed', token_contract: TAXED });
const topic = (address: string) => `0x${address.slice(2).padStart(64, '0')}`;
const amountData = (amount: bigint) => `0x${amount.toString(16).padStart(64, '0')}`;

describe.runIf(hasAnvil)('reading an EVM node', () => {
  let chain: EvmChain;
  const start = () =>
    startAnvil({
      chain_id: network.chain_ids.testnet,
      block_seconds: 2,
      tokens: [{ address: USDC }, { address: FORGED }, { address: TAXED, fee: 100 }],
      history: 100,
    });
  beforeAll(async () => {
    chain = await start();
  });
  afterAll(() => chain?.stop());

  const open = (gateways = [usdc]) => {
    const front = createFront(chain.ask);
    const observer = createEvmObserver({ network, gateways, rpc: front.rpc, now: () => chain.now() });
    return { front, observer };
  };

  /** Watches an address, and has read up to the tip. */
  async function watching(gateways = [usdc]) {
    const { observer, front } = open(gateways);
    const to = observer.watch();
    await observer.read();
    return { observer, front, to };
  }

  it('knows its network by the chain id, and refuses any other', async () => {
    const { observer, front } = open();
    expect(await observer.family.identify(front.rpc)).toBe('testnet');
    front.add(async () => '0x2105');
    expect(await observer.family.identify(front.rpc)).toBe('mainnet');
    front.add(async () => '0x1');
    await expect(observer.family.identify(front.rpc)).rejects.toMatchObject({ kind: 'wrong_network' });
    for (const odd of [84_532, null, '84532', `0x${'f'.repeat(80)}`]) {
      const remove = front.add(async () => odd);
      await expect(observer.family.identify(front.rpc)).rejects.toMatchObject({ kind: 'bad_answer' });
      remove();
    }
  });

  it('knows the contract of a token from a wallet', async () => {
    const { observer, front } = open();
    const inspect = (key: string) => observer.family.inspectAddress?.(front.rpc, key);
    expect(await inspect(FORGED)).toMatch(/contract of a token/);
    expect(await inspect(freshAddress())).toBeNull();
    for (const answer of ['0x', `0x${'0'.repeat(64)}`, `0x${'f'.repeat(64)}`, null]) {
      const remove = front.add(async () => answer);
      expect(await inspect(FORGED)).toBeNull();
      remove();
    }
    const remove = front.add(async () => {
      throw refused('execution reverted', 3);
    });
    expect(await inspect(FORGED)).toBeNull();
    remove();
    front.add(async () => {
      throw new ProviderError('unreachable', 'evm is away');
    });
    await expect(inspect(FORGED)).rejects.toThrow('evm is away');
  });

  it('finds what is paid, once, and counts its confirmations', async () => {
    const { observer, to } = await watching();
    const txid = await chain.payToken(USDC, to, 1_250_000n);
    await chain.mine();
    await observer.read();
    expect(observer.to(to)).toMatchObject([
      { txid, chain: 'base-usdc', amount_atomic: 1_250_000n, confirmations: 1, final: false },
    ]);
    await chain.grow(10);
    await observer.read();
    expect(observer.to(to)).toMatchObject([{ txid, confirmations: 11, final: false }]);
    await chain.grow(20);
    // The tag is asked for now and then: by now it has passed the block.
    await observer.read();
    expect(observer.to(to)).toMatchObject([{ txid, final: true }]);
    expect(await observer.lookUp(txid, to)).toMatchObject([{ txid, amount_atomic: 1_250_000n }]);
    expect(await observer.lookUp(txid, freshAddress())).toEqual([]);
    expect(await observer.lookUp('0x12', to)).toEqual([]);
    expect(await observer.lookUp(`0x${'12'.repeat(32)}`, to)).toEqual([]);
  });

  it('takes each transfer of one transaction as its own, in any order of watching', async () => {
    const { observer, to } = await watching();
    const other = observer.watch();
    const payments: [string, bigint][] = [
      [to, 3n],
      [other, 4n],
      [to, 3n],
      [freshAddress(), 9n],
      [to, 5n],
      [to, 0n],
    ];
    const txid = await chain.payTokens(USDC, payments);
    await chain.mine();
    await observer.read();
    expect(observer.amounts(to)).toEqual([3n, 3n, 5n]);
    expect(observer.amounts(other)).toEqual([4n]);
    expect(new Set(observer.to(to).map(({ index }) => index)).size).toBe(3);
    const fresh = open().observer;
    fresh.watch(to, 0);
    await fresh.read();
    expect(fresh.to(to)).toEqual(observer.to(to));
    expect(await observer.lookUp(txid, to)).toHaveLength(3);
  });

  it('credits what a token says that arrived, and nothing that is no payment of it', async () => {
    const { observer, to } = await watching([usdc, taxed]);
    await chain.payToken(TAXED, to, 1_000_000n);
    await chain.payToken(FORGED, to, 7n);
    await chain.payTokenFor(USDC, freshAddress(), to, 0n, chain.freshPayer());
    // The same contract with other shapes: a token of its own kind, a number too long, an address with a tail, no amount.
    const from = topic(chain.payer);
    await chain.write(USDC, [TRANSFER, from, topic(to), topic('0x01')]);
    await chain.write(USDC, [TRANSFER, from, topic(to)], `${amountData(8n)}00`);
    await chain.write(USDC, [TRANSFER, from, topic(to)]);
    await chain.write(USDC, [TRANSFER, `0x1${from.slice(3)}`, topic(to)], amountData(8n));
    await chain.write(USDC, [TRANSFER, from, `0x1${topic(to).slice(3)}`], amountData(8n));
    await chain.write(USDC, [topic('0x77'), from, topic(to)], amountData(8n));
    await chain.write(USDC, [TRANSFER, topic(to), topic(to)], amountData(8n));
    await chain.send({ to: USDC, data: '0xa9059cbb', value: 1n });
    await chain.mine();
    await observer.read();
    expect(observer.to(to)).toMatchObject([{ chain: 'base-taxed', amount_atomic: 990_000n }]);
  });

  it('names the payer of the token, no matter who sent the transaction', async () => {
    const { observer, to } = await watching();
    const from = freshAddress();
    const relayer = chain.freshPayer();
    await chain.write(USDC, [TRANSFER, topic(from), topic(to)], amountData(44n), relayer);
    await chain.mine();
    await observer.read();
    expect(observer.to(to)[0]?.sender?.toLowerCase()).toBe(from);
    expect(observer.to(to)[0]?.inputs[0]).toMatch(new RegExp(`^${relayer}:\\d+$`));
  });

  it('begins at the oldest watch, and leaves out what is older', async () => {
    const { observer } = open();
    const to = freshAddress();
    await chain.payToken(USDC, to, 1n);
    await chain.grow(40);
    const since = chain.now();
    await chain.grow(5);
    await chain.payToken(USDC, to, 2n);
    await chain.mine();
    await chain.grow(150);
    observer.watch(to, since);
    await observer.read();
    expect(observer.amounts(to)).toEqual([2n]);
    expect(observer.height()).toBe(await chain.height());
  });

  it('reads the most that fits into an amount to the last digit', async () => {
    const { observer, to } = await watching();
    const most = 2n ** 256n - 1n;
    await chain.write(USDC, [TRANSFER, topic(chain.payer), topic(to)], amountData(most));
    await chain.mine();
    await observer.read();
    expect(observer.amounts(to)).toEqual([most]);
  });

  describe('where the chain is reorganised', () => {
    // After a deep one, anvil has lost the contracts below it.
    beforeEach(async () => {
      await chain.stop();
      chain = await start();
    });

    it.each([1, 3, 70])('%d deep: a payment that stands elsewhere is the same one', async (depth) => {
      const { observer, to } = await watching();
      await chain.payToken(USDC, freshAddress(), 1n);
      const txid = await chain.payToken(USDC, to, 11n, chain.freshPayer());
      await chain.mine();
      if (depth > 1) await chain.grow(depth - 1);
      await observer.read();
      const [before] = observer.to(to);
      // Alone in its block, and further up: another height, another log index.
      await chain.reorg(depth, [[txid, depth - 1]]);
      await observer.read();
      const [after, ...others] = observer.to(to);
      expect(others).toEqual([]);
      expect(after).toMatchObject({ txid, index: before?.index, amount_atomic: 11n });
      expect(after?.block_hash).not.toBe(before?.block_hash);
      expect(after?.height).toBe(Number((await receiptOf(txid)).blockNumber));
      await chain.grow(20);
      await observer.read();
      expect(observer.amounts(to)).toEqual([11n]);
      expect(await stands(observer.cursor)).toBe(true);
    });

    it.each([1, 3, 70])('%d deep: a payment that is dropped waits, and confirms nothing', async (depth) => {
      const { observer, to } = await watching();
      await chain.payToken(USDC, to, 12n, chain.freshPayer());
      await chain.mine();
      if (depth > 1) await chain.grow(depth - 1);
      await observer.read();
      await chain.reorg(depth);
      await observer.read();
      expect(observer.to(to)).toMatchObject([{ height: null, block_hash: null, confirmations: 0 }]);
      await chain.grow(100);
      await observer.read();
      chain.wait(100);
      await observer.read();
      expect(observer.to(to)).toMatchObject([{ height: null, confirmations: 0, final: false }]);
    });

    it.each([1, 3, 70])(
      '%d deep: a payment that another of the same number replaces is gone, once that stands deep',
      async (depth) => {
        const { observer, to } = await watching();
        const from = chain.freshPayer();
        await chain.payToken(USDC, to, 13n, from);
        await chain.mine();
        if (depth > 1) await chain.grow(depth - 1);
        await observer.read();
        const nonce = Number(observer.to(to)[0]?.inputs[0]?.split(':')[1]);
        const elsewhere = freshAddress();
        await chain.reorg(depth, [[{ from, to: elsewhere, value: 1n, nonce }, 0]]);
        await observer.read();
        expect(observer.to(to)).toMatchObject([{ height: null }]);
        // A minute later, but not as deep as an invoice waits; then as deep.
        await chain.mine(1, 200);
        await observer.read();
        expect(observer.gone.size).toBe(0);
        await chain.grow(40);
        await observer.read();
        expect([...observer.gone.values()][0]).toMatch(/has its number/);
      },
    );

    it('2 deep: what takes the place of a payment is found in its block, so that one provider is enough', async () => {
      const { observer, to } = await watching();
      const from = chain.freshPayer();
      await chain.payToken(USDC, to, 13n, from);
      await chain.mine(2);
      await observer.read();
      const nonce = Number(observer.to(to)[0]?.inputs[0]?.split(':')[1]);
      await chain.reorg(2, [[{ from, to: freshAddress(), value: 1n, nonce }, 0]]);
      const askOther = async () => Promise.reject(new ProviderError('unreachable', 'there is no other'));
      const began = chain.now();
      for (let waited = 0; observer.gone.size === 0 && waited < 200; waited += 6) {
        await observer.read({ askOther });
        await chain.grow(3, 6);
      }
      expect([...observer.gone.values()][0]).toMatch(/has its number/);
      expect(chain.now() - began).toBeLessThanOrEqual(75);
    });

    it('3 deep: a replacement that pays the shop another amount is a payment of its own', async () => {
      const { observer, to } = await watching();
      const from = chain.freshPayer();
      await chain.payToken(USDC, to, 13n, from);
      await chain.mine(3);
      await observer.read();
      const nonce = Number(observer.to(to)[0]?.inputs[0]?.split(':')[1]);
      const data = `0xa9059cbb${to.slice(2).padStart(64, '0')}${99n.toString(16).padStart(64, '0')}`;
      await chain.reorg(3, [[{ from, to: USDC, data, nonce }, 1]]);
      await observer.read();
      for (let minute = 0; minute < 2; minute++) {
        await chain.grow(20, 70);
        await observer.read();
      }
      expect(observer.amounts(to)).toEqual([99n]);
      expect([...observer.gone.values()]).toEqual([expect.stringMatching(/has its number/)]);
    });

    it('below what the network calls final: it is followed, and reported', async () => {
      verifies('final-left');
      const { observer, to } = await watching();
      const txid = await chain.payToken(USDC, to, 14n, chain.freshPayer());
      await chain.mine();
      await chain.grow(40);
      await observer.read();
      expect(observer.to(to)).toMatchObject([{ final: true }]);
      const final = (observer.cursor as { final: number }).final;
      await chain.reorg(41);
      await observer.read();
      const left = observer.pages.flatMap((page) => page.final_left ?? []);
      expect(left).toEqual([{ from: expect.any(Number), to: final }]);
      expect(observer.to(to)).toMatchObject([{ txid, height: null, final: false }]);
    });

    it('above what the network calls final, where no block between was held: nothing is reported', async () => {
      verifies('final-left');
      const { observer, to } = await watching();
      const txid = await chain.payToken(USDC, to, 16n, chain.freshPayer());
      await chain.mine();
      await chain.grow(100);
      await observer.read();
      const { final, held } = observer.cursor as { final: number; held: [number][] };
      expect(held.filter(([height]) => height >= final && height <= final + 3)).toEqual([]);
      await chain.reorg(5);
      await observer.read();
      expect(observer.pages.flatMap((page) => page.orphaned_blocks ?? []).length).toBeGreaterThan(0);
      expect(observer.pages.flatMap((page) => page.final_left ?? [])).toEqual([]);
      expect(observer.to(to)).toMatchObject([{ txid }]);
    });

    it('below all that was read: it is read again from further down', async () => {
      const { observer, to } = await watching();
      const txid = await chain.payToken(USDC, to, 15n, chain.freshPayer());
      await chain.mine();
      await observer.read();
      await chain.reorg(30, [[txid, 5]]);
      await observer.read();
      expect(observer.to(to)).toMatchObject([{ txid, height: Number((await receiptOf(txid)).blockNumber) }]);
    });

    it('below what was read twice: all above is read twice again', async () => {
      const { observer, front, to } = await watching();
      const txid = await chain.payToken(USDC, to, 20n, chain.freshPayer());
      await chain.mine();
      for (let reading = 0; reading < 6; reading++) {
        await chain.grow(10);
        chain.wait(20);
        await observer.read();
      }
      expect(observer.read_through).toBeGreaterThan(observer.to(to)[0]?.latest_at ?? Infinity);
      const heal = front.add(omitting(() => true));
      await chain.reorg(61, [[txid, 30]]);
      await observer.read();
      expect(observer.to(to)).toMatchObject([{ height: null }]);
      heal();
      for (let reading = 0; reading < 3; reading++) {
        await chain.mine(1, 40);
        await observer.read();
      }
      expect(observer.to(to)).toMatchObject([{ height: Number((await receiptOf(txid)).blockNumber) }]);
    });

    it('while the daemon was away: what it had stored is compared first', async () => {
      const { observer, to } = await watching();
      const [stays, goes] = [
        await chain.payToken(USDC, to, 16n, chain.freshPayer()),
        await chain.payToken(USDC, to, 17n, chain.freshPayer()),
      ];
      await chain.mine();
      await chain.grow(30);
      await observer.read();
      observer.restart();
      await chain.reorg(31, [[stays, 3]]);
      await chain.grow(100);
      await observer.read();
      expect(observer.to(to)).toMatchObject([
        { txid: stays, height: Number((await receiptOf(stays)).blockNumber) },
        { txid: goes, height: null },
      ]);
    });

    it.each([networks.base, networks.bsc])(
      'what it paid before an address was watched is older than the watch ($name)',
      async (of) => {
        const front = createFront(withOrphans(chain.ask));
        const options = { network: of, gateways: [gatewayOf(of, { chain: 'a-usdc', token_contract: USDC })] };
        const observer = createEvmObserver({ ...options, rpc: front.rpc, now: () => chain.now() });
        observer.watch();
        await observer.read();
        const to = freshAddress();
        const txid = await chain.payToken(USDC, to, 19n, chain.freshPayer());
        await chain.mine(2);
        await observer.read();
        chain.wait(10);
        observer.watch(to);
        const since = chain.now();
        await chain.mine(2);
        await observer.read();
        expect(observer.amounts(to)).toEqual([]);
        // It would pay an invoice of the same amount that was made meanwhile.
        await chain.reorg(4, [[txid, 3]]);
        await chain.mine(1, 20);
        await observer.read();
        expect(observer.to(to)).toMatchObject([{ txid, amount_atomic: 19n }]);
        expect(observer.to(to)[0]?.latest_at).toBeLessThan(since);
      },
    );

    it('below where reading began again: what is stored there is asked about by its block', async () => {
      const { observer, front, to } = await watching();
      const stays = await chain.payToken(USDC, to, 21n, chain.freshPayer());
      await chain.mine();
      const goes = await chain.payToken(USDC, to, 22n, chain.freshPayer());
      await chain.mine();
      await observer.read();
      // Nothing is watched for a while; then another address is.
      observer.unwatch(to);
      observer.cursor = null;
      observer.restart();
      await chain.reorg(1);
      await chain.grow(60);
      chain.wait(10);
      observer.watch();
      await chain.mine(2);
      front.requests.length = 0;
      await observer.read();
      expect(observer.to(to)).toMatchObject([
        { txid: stays, final: true },
        { txid: goes, height: null, confirmations: 0 },
      ]);
      const before = front.requests.length;
      await observer.read();
      expect(front.requests.length - before).toBeLessThan(3);
    });

    it('to a branch of the same height: it stays with the first until one grows', async () => {
      const { observer, to } = await watching();
      await chain.payToken(USDC, to, 18n, chain.freshPayer());
      await chain.mine();
      await observer.read();
      await chain.ask('anvil_reorg', 1, []);
      await observer.read();
      expect(observer.to(to)).toMatchObject([{ confirmations: 1 }]);
      await chain.mine();
      await observer.read();
      expect(observer.to(to)).toMatchObject([{ height: null }]);
    });
  });

  const receiptOf = (txid: string) => chain.ask<{ blockNumber: string }>('eth_getTransactionReceipt', txid);

  /** Whether every block that the cursor holds is on the chain. */
  async function stands(cursor: unknown): Promise<boolean> {
    const { held } = cursor as { held: [number, string][] };
    for (const [height, hash] of held) {
      const block = await chain.ask<{ hash: string }>(
        'eth_getBlockByNumber',
        `0x${height.toString(16)}`,
        false,
      );
      if (block.hash !== hash) return false;
    }
    return JSON.stringify(cursor).length < 12_000;
  }
});
