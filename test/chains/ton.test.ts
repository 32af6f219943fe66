// Which TON transactions are payments, on the real executor: every trap of the chain, one by one.
import { Address, beginCell } from '@ton/core';
import { describe, expect, it } from 'vitest';
import type { Gateway } from '../../src/chains/family.ts';
import { composeTon } from '../../src/chains/ton/compose.ts';
import { verifies } from '../requirements.ts';
import {
  buyer,
  chain,
  coin,
  jetton,
  memosOf,
  merchant,
  ONE_TON,
  ONE_USDT,
  readAll,
  requestsTo,
  rpc,
  usdt,
  useTonChain,
  watch,
} from './ton/harness.ts';
import { commentInReference, internalTransferBody, notificationBody, textComment } from './ton-chain.ts';

useTonChain();

describe('credits', () => {
  it('reads coin and jetton payments of one merchant with one query', async () => {
    verifies('service-match');
    const paid = await chain.sendTon({ from: buyer, to: merchant, amount: ONE_TON, comment: ' INV-A ' });
    const sent = await chain.sendJetton({
      jetton,
      from: buyer,
      to: merchant,
      amount: 12_340_001n,
      comment: 'INV-B',
    });
    const common = {
      address_key: merchant.key,
      references: [],
      sender: buyer.address,
      block_hash: null,
      inputs: [],
      earliest_at: chain.now(),
      latest_at: chain.now(),
    };
    expect(await readAll()).toEqual([
      {
        ...common,
        chain: 'ton',
        index: `ton:${merchant.key}`,
        txid: paid.txid,
        amount_atomic: ONE_TON,
        memo: 'INV-A',
        height: chain.tip().seqno - 1,
        confirmations: 2,
        final: true,
      },
      {
        ...common,
        chain: 'ton-usdt',
        index: `ton-usdt:${merchant.key}`,
        txid: sent.txid,
        amount_atomic: 12_340_001n,
        memo: 'INV-B',
        height: chain.tip().seqno,
        confirmations: 1,
        final: true,
      },
    ]);
    expect(requestsTo('/transactions')).toBe(1);
  });

  it('gives the same keys at every reading', async () => {
    await chain.sendTon({ from: buyer, to: merchant, amount: ONE_TON, comment: 'INV-A' });
    await chain.sendJetton({ jetton, from: buyer, to: merchant, amount: ONE_USDT, comment: 'INV-B' });
    const first = await readAll();
    expect(first).toHaveLength(2);
    expect(await readAll()).toEqual(first);
  });

  it('tells apart many transfers of one external message', async () => {
    const parts = [1n, 2n, 3n, 4n].map((part) => ({
      to: merchant,
      amount: part * ONE_TON,
      comment: `INV-${part}`,
    }));
    await chain.sendMany(buyer, parts);
    const found = await readAll();
    expect(memosOf(found)).toEqual(['INV-1', 'INV-2', 'INV-3', 'INV-4']);
    expect(new Set(found.map(({ txid }) => txid)).size).toBe(4);
  });

  it('credits a payment to a wallet that was never deployed, though its transaction is aborted', async () => {
    verifies('assets-ton');
    const fresh = await chain.createWallet({ deployed: false });
    const { records, txid } = await chain.sendTon({
      from: buyer,
      to: fresh,
      amount: ONE_TON,
      comment: 'INV-A',
    });
    const description = records.find((record) => record.txid === txid)?.transaction.description;
    expect(description).toMatchObject({ type: 'generic', aborted: true });
    const sent = await chain.sendJetton({
      jetton,
      from: buyer,
      to: fresh,
      amount: ONE_USDT,
      comment: 'INV-B',
    });
    const found = await readAll([watch(fresh)]);
    expect(found.map((each) => [each.chain, each.txid])).toEqual([
      ['ton', txid],
      ['ton-usdt', sent.txid],
    ]);
  });

  it('credits a jetton transfer that forwards nothing and so sends no notification', async () => {
    verifies('assets-ton');
    const sent = await chain.sendJetton({
      jetton,
      from: buyer,
      to: merchant,
      amount: 5n * ONE_USDT,
      forward_amount: 0n,
      comment: 'INV-A',
    });
    expect(sent.records.some(({ account }) => account === merchant.key)).toBe(false);
    expect(await readAll()).toMatchObject([{ txid: sent.txid, amount_atomic: 5n * ONE_USDT, memo: 'INV-A' }]);
  });

  it('reads the forward payload inline, in a reference, empty and absent', async () => {
    const transfer = { jetton, from: buyer, to: merchant, amount: ONE_USDT };
    await chain.sendJetton({ ...transfer, comment: 'INV-INLINE', form: 'inline' });
    await chain.sendJetton({ ...transfer, comment: 'INV-REF', form: 'reference' });
    await chain.sendJetton(transfer);
    await chain.sendJetton({ ...transfer, form: 'absent' });
    await chain.sendJetton({ ...transfer, form: 'inline', payload: commentInReference('INV-DEEP') });
    expect(memosOf(await readAll())).toEqual(['INV-INLINE', 'INV-REF', null, null, 'INV-DEEP']);
  });

  it('credits freshly minted jettons without sender and memo', async () => {
    const { txid } = await chain.mintTo({ jetton, to: merchant, amount: ONE_USDT });
    expect(await readAll()).toMatchObject([{ txid, amount_atomic: ONE_USDT, memo: null, sender: null }]);
  });
});

describe('comments', () => {
  verifies('memo-exact');
  const text32 = (op: number) => beginCell().storeUint(op, 32);

  it.each([
    ['written inline', textComment('INV-A'), 'INV-A'],
    ['wholly in a reference', commentInReference('INV-A'), 'INV-A'],
    ['continued over cells', textComment(`INV ${'x'.repeat(300)}`), `INV ${'x'.repeat(300)}`],
    ['of other letters', textComment('счёт №5 ✓'), 'счёт №5 ✓'],
    ['of blanks', textComment('   '), null],
    ['empty', textComment(''), null],
    ['encrypted', text32(0x2167da4b).storeBuffer(Buffer.alloc(64, 7)).endCell(), null],
    [
      'of broken UTF-8',
      text32(0)
        .storeBuffer(Buffer.from([0x49, 0xff, 0xfe]))
        .endCell(),
      null,
    ],
    ['of odd bits', text32(0).storeUint(1, 5).endCell(), null],
    ['longer than any invoice', textComment('x'.repeat(5000)), null],
    ['of an unknown operation', text32(0x12345678).storeStringTail('INV-A').endCell(), null],
    ['too short for an operation', beginCell().storeUint(5, 8).endCell(), null],
    [
      'that only looks bounced',
      text32(0xffffffff).storeUint(0, 32).storeStringTail('INV-A').endCell(),
      undefined,
    ],
  ])('reads a comment %s', async (_name, body, memo) => {
    await chain.sendTon({ from: buyer, to: merchant, amount: ONE_TON, body });
    const found = await readAll();
    expect(memosOf(found)).toEqual(memo === undefined ? [] : [memo]);
  });

  it('credits a payment without any body', async () => {
    await chain.sendTon({ from: buyer, to: merchant, amount: ONE_TON });
    expect(await readAll()).toMatchObject([{ amount_atomic: ONE_TON, memo: null }]);
  });
});

describe('what is not a payment', () => {
  it('ignores a forged transfer notification', async () => {
    verifies('assets-ton');
    const body = notificationBody(1000n * ONE_USDT, buyer.at, textComment('INV-A'));
    await chain.sendTon({ from: buyer, to: merchant, amount: 10_000_000n, body });
    expect(await readAll()).toEqual([]);
  });

  it('ignores a forged internal transfer, which the jetton wallet aborts with exit code 707', async () => {
    await chain.sendJetton({ jetton, from: buyer, to: merchant, amount: ONE_USDT, comment: 'REAL' });
    const wallet = await chain.jettonWallet(jetton, merchant);
    const body = internalTransferBody(1000n * ONE_USDT, buyer.at, textComment('FORGED'));
    const records = await chain.sendMessages(buyer, [
      { to: wallet, value: 100_000_000n, body, bounce: true },
    ]);
    const exits = records.map(({ transaction: { description } }) =>
      description.type === 'generic' && description.computePhase.type === 'vm'
        ? description.computePhase.exitCode
        : 0,
    );
    expect(exits).toContain(707);
    expect(memosOf(await readAll())).toEqual(['REAL']);
  });

  it('ignores another jetton of the same code and name', async () => {
    verifies('assets-ton');
    const fake = await chain.deployJetton({ admin: buyer });
    await chain.mintTo({ jetton: fake, to: buyer, amount: 1000n * ONE_USDT });
    await chain.sendJetton({
      jetton: fake,
      from: buyer,
      to: merchant,
      amount: 1000n * ONE_USDT,
      comment: 'INV-A',
    });
    expect(await readAll()).toEqual([]);
  });

  it('ignores a jetton transfer of more than the sender has', async () => {
    const amount = 1_000_000n * ONE_USDT;
    const send = chain.sendJetton({ jetton, from: buyer, to: merchant, amount, comment: 'INV-A' });
    await expect(send).rejects.toThrow('no transaction');
    expect(await readAll()).toEqual([]);
  });

  it("ignores the merchant's own money coming back with a body that looks like a memo", async () => {
    verifies('assets-ton');
    const absent = await chain.createWallet({ deployed: false });
    const transfer = { to: absent.at, value: ONE_TON, body: textComment('INV-A'), bounce: true };
    const records = await chain.sendMessages(merchant, [transfer]);
    const returned = records.filter(({ account, transaction: { inMessage } }) => {
      return account === merchant.key && inMessage?.info.type === 'internal' && inMessage.info.bounced;
    });
    expect(returned).toHaveLength(1);
    expect(await readAll()).toEqual([]);
  });

  it('ignores a bounceable payment that the never-deployed wallet sent back', async () => {
    const fresh = await chain.createWallet({ deployed: false });
    await chain.sendTon({ from: buyer, to: fresh, amount: ONE_TON, comment: 'INV-A', bounce: true });
    expect(await readAll([watch(fresh)])).toEqual([]);
  });

  it("ignores the merchant's own transfers and the excess that returns from them", async () => {
    await chain.mintTo({ jetton, to: merchant, amount: 10n * ONE_USDT });
    const since = chain.now() + 600;
    chain.advanceTime(600);
    const { records } = await chain.sendJetton({
      jetton,
      from: merchant,
      to: buyer,
      amount: ONE_USDT,
      comment: 'OUT',
    });
    expect(records.filter(({ account }) => account === merchant.key)).toHaveLength(2);
    await chain.sendTon({ from: merchant, to: buyer, amount: ONE_TON, comment: 'OUT' });
    expect(await readAll([watch(merchant, since)])).toEqual([]);
  });
});

describe('a payment that is made for a wallet to sign', () => {
  const orderOf = (gateway: Gateway) => ({
    gateway,
    address: merchant.address,
    amount_atomic: 2_500_001n,
    memo: 'MEMO-7',
    reference: null,
    label: '',
    expires_at: chain.now() + 120,
    now: chain.now(),
  });
  const compose = async (gateway: Gateway, payer: string) => {
    const composed = await composeTon(rpc, { ...orderOf(gateway), payer });
    if (composed.kind !== 'messages') throw new Error('not messages');
    return composed;
  };

  it('in the coin is one message with the memo, and pays when it is sent', async () => {
    verifies('compose-alone', 'compose-unsigned');
    const { messages, ...rest } = await compose(coin, buyer.at.toRawString());
    expect(rest).toEqual({ kind: 'messages', network: '-3', valid_until: chain.now() + 120 });
    expect(messages).toEqual([
      {
        address: merchant.address,
        amount: '2500001',
        payload: textComment('MEMO-7').toBoc().toString('base64'),
      },
    ]);
    await chain.signAndSend(buyer, messages);
    expect(await readAll()).toMatchObject([{ chain: 'ton', amount_atomic: 2_500_001n, memo: 'MEMO-7' }]);
  });

  it('in a jetton goes to the wallet that the listed master names; what is left of the gas comes back', async () => {
    verifies('compose-alone', 'compose-unsigned');
    const { messages } = await compose(usdt, buyer.address);
    const [message] = messages;
    const wallet = await chain.jettonWallet(jetton, buyer);
    expect(messages).toHaveLength(1);
    expect(message?.address).toBe(wallet.toString({ bounceable: true, testOnly: true }));
    const records = await chain.signAndSend(buyer, messages);
    expect(await readAll()).toMatchObject([
      { chain: 'ton-usdt', amount_atomic: 2_500_001n, memo: 'MEMO-7', sender: buyer.address },
    ]);
    const back = records.filter(({ account }) => account === buyer.key).at(-1)?.transaction.inMessage?.info;
    expect(back?.type === 'internal' && back.value.coins).toBeGreaterThan(BigInt(message?.amount ?? 0) / 2n);
  });

  it('is not made where the indexer names a wallet of another jetton, or one that is not deployed', async () => {
    verifies('compose-alone');
    const other = await chain.deployJetton();
    await chain.mintTo({ jetton: other, to: buyer, amount: 1000n * ONE_USDT });
    const master = Address.parse(usdt.token_contract ?? '').toRawString();
    const lying: typeof rpc.json = (path, options) => {
      const body = options?.body as { address?: string } | undefined;
      return rpc.json(
        path,
        body?.address === master
          ? { body: { ...body, address: Address.parse(other.master).toRawString() } }
          : options,
      );
    };
    await expect(
      composeTon({ ...rpc, json: lying }, { ...orderOf(usdt), payer: buyer.address }),
    ).rejects.toMatchObject({ name: 'ProviderError', kind: 'bad_answer' });
  });

  it('is refused to who has no such jetton, and to the shop itself', async () => {
    verifies('compose-payer');
    const poor = await chain.createWallet();
    await expect(compose(usdt, poor.address)).rejects.toThrow('This account has no USDT');
    await expect(compose(coin, merchant.address)).rejects.toThrow('This is the wallet that is to be paid');
  });
});
