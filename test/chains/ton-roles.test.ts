// One account is read as one asset: jetton wallets and masters are no wallets, and a jetton wallet is held against its master.
import { Address, beginCell } from '@ton/core';
import { describe, expect, it } from 'vitest';
import type { ReadContext, Rpc, WatchedAddress } from '../../src/chains/family.ts';
import { ton } from '../../src/chains/ton/family.ts';
import { rightClock } from '../helpers/reading.ts';
import { verifies } from '../requirements.ts';
import {
  buyer,
  chain,
  coin,
  emptyStore,
  jetton,
  merchant,
  ONE_TON,
  ONE_USDT,
  proofOf,
  readInto,
  refsOf,
  requestsTo,
  rpc,
  type Store,
  usdt,
  useTonChain,
  watch,
} from './ton/harness.ts';
import { jettonWalletContract } from './ton/jetton.ts';
import type { TonWallet } from './ton-chain.ts';

useTonChain();

const NOT_A_WALLET = 'is a jetton wallet, not a wallet';
/** Long enough for every account to have had its turn. */
const ROUND_SECONDS = 61;
const DAY_SECONDS = 86_400;

/** An address as if somebody had set it as his wallet. */
function asWallet(at: Address): TonWallet {
  const { key, address } = ton.normalizeAddress(at.toRawString(), 'testnet');
  return { key, address, at };
}

const payJetton = (comment: string, to = merchant) =>
  chain.sendJetton({ jetton, from: buyer, to, amount: ONE_USDT, comment });

/** An address as contracts answer it. */
const boc = (address: Address) => beginCell().storeAddress(address).endCell().toBoc().toString('base64');

/** What was read, as `memo address gateway`. */
const creditsOf = (store: Store) =>
  [...store.transfers.values()].map((each) => `${each.memo} ${each.address_key} ${each.chain}`).sort();

/** The victim's jetton wallet, which a hostile merchant sets as his own wallet. */
const hostileWallet = async () => asWallet(await chain.jettonWallet(jetton, merchant));

describe("another's jetton wallet as somebody's wallet", () => {
  /** Addresses that sort between any two: enough that two accounts of one address are asked for apart. */
  const fillers = () =>
    Array.from({ length: 120 }, (_, at): WatchedAddress => {
      const raw = `0:${(at * 2 + 1).toString(16).padStart(2, '0').repeat(32)}`;
      return { ...ton.normalizeAddress(raw, 'testnet'), since: chain.now(), open: true };
    });

  it.each([
    ['in one batch', () => []],
    ['in two batches', fillers],
  ])('takes nothing from its owner, %s, set after him or before', async (_name, others) => {
    verifies('address-no-wallet');
    const hostile = await hostileWallet();
    for (const first of [merchant, hostile]) {
      const store = emptyStore();
      await readInto(store, [watch(first)], { gateways: [coin, usdt] });
      const watched = [...others(), watch(merchant), watch(hostile)];
      const { txid } = await payJetton('INV-A');
      chain.advanceTime(10);
      const urgent = [...refsOf(merchant), ...refsOf(hostile)];
      for (let reading = 0; reading < 8; reading++) await readInto(store, watched, { urgent });
      expect(store.transfers.get(`${txid} ton-usdt:${merchant.key}`)).toMatchObject({
        address_key: merchant.key,
        amount_atomic: ONE_USDT,
        memo: 'INV-A',
      });
      expect(proofOf(store, merchant, usdt)).toMatchObject({ read_through: chain.now() - 5, trouble: null });
      for (const gateway of [coin, usdt])
        expect(proofOf(store, hostile, gateway)).toMatchObject({ trouble: NOT_A_WALLET, failed: true });
      expect(proofOf(store, hostile)?.read_through).toBeNull();
    }
  });

  it('gives other keys to the same transaction where it was read before its owner was watched', async () => {
    const hostile = await hostileWallet();
    const store = emptyStore();
    await readInto(store, [watch(hostile)]);
    const { txid } = await payJetton('INV-A');
    await readInto(store, [watch(hostile)]);
    chain.advanceTime(5);
    await readInto(store, [watch(hostile), watch(merchant, chain.now() - 5)]);
    const keys = [...store.transfers.keys()].filter((key) => key.startsWith(txid));
    expect(keys.sort()).toEqual([`${txid} ton-usdt:${merchant.key}`, `${txid} ton:${hostile.key}`]);
  });

  it('is refused as soon as the chain can be asked, though its owner is not watched', async () => {
    await payJetton('FIRST');
    const hostile = await hostileWallet();
    const store = emptyStore();
    await readInto(store, [watch(hostile)]);
    for (const _ of [1, 2]) {
      chain.advanceTime(ROUND_SECONDS);
      await readInto(store, [watch(hostile)]);
    }
    await payJetton('INV-A');
    chain.advanceTime(4);
    await readInto(store, [watch(hostile)]);
    expect(proofOf(store, hostile)).toMatchObject({ trouble: NOT_A_WALLET, failed: true });
    expect(creditsOf(store).filter((credit) => credit.startsWith('INV-A'))).toEqual([]);
    // What was found is stored with the address: a restart asks nothing again.
    store.reader = ton.open();
    rpc.requests.length = 0;
    await readInto(store, [watch(hostile)]);
    expect(requestsTo('/runGetMethod')).toBe(0);
  });

  it('is read as a wallet again when it turns out to be one', async () => {
    const store = emptyStore();
    const stranger = await chain.createWallet();
    // One odd answer of the master names a wallet that is none.
    const wrong: Rpc = {
      ...rpc,
      json: async (path, options) => {
        const { method } = (options?.body ?? {}) as { method?: string };
        if (path !== '/runGetMethod' || method !== 'get_wallet_address') return rpc.json(path, options);
        return { exit_code: 0, stack: [{ type: 'slice', value: boc(stranger.at) }] };
      },
    };
    const watched = [watch(merchant), watch(stranger)];
    const urgent = [...refsOf(merchant), ...refsOf(stranger)];
    await readInto(store, watched, { urgent, context: { rpc: wrong } });
    const { txid } = await payJetton('INV-A');
    for (let reading = 0; reading < 5; reading++) {
      chain.advanceTime(10);
      await readInto(store, watched, { urgent });
    }
    expect(proofOf(store, stranger)).toMatchObject({ read_through: chain.now() - 5, trouble: null });
    // The master's later word is believed, because the account that it named denies.
    expect(proofOf(store, merchant, usdt)).toMatchObject({ read_through: chain.now() - 5, trouble: null });
    expect(store.transfers.get(`${txid} ton-usdt:${merchant.key}`)).toMatchObject({ memo: 'INV-A' });
  });
});

describe('a jetton wallet and its master', () => {
  const MASTER = () => ton.normalizeAddress(jetton.master, 'testnet').key;

  /** A store in which the merchant's jetton wallet was deployed, read and verified. */
  async function verified() {
    const store = emptyStore();
    const watched = [watch(merchant)];
    await payJetton('INV-A');
    await readInto(store, watched);
    rpc.requests.length = 0;
    for (const _ of [1, 2]) {
      chain.advanceTime(ROUND_SECONDS);
      await readInto(store, watched);
    }
    return { store, watched, urgent: refsOf(merchant) };
  }

  /** Changes what get-methods answer. */
  const answering = (
    change: (method: string, answer: { exit_code: number; stack: unknown[] }) => unknown,
  ): Rpc => ({
    ...rpc,
    json: async (path, options) => {
      const answer = (await rpc.json(path, options)) as { exit_code: number; stack: unknown[] };
      if (path !== '/runGetMethod') return answer;
      const { method } = (options?.body ?? {}) as { method?: string };
      return change(method ?? '', answer);
    },
  });

  it('are asked both once the wallet is deployed, and again after a day', async () => {
    const { store, watched } = await verified();
    // The wallet's both sides, and what kind of contract the merchant's own address is.
    expect(requestsTo('/runGetMethod')).toBe(4);
    const marker = store.accounts.get(merchant.key) as { assets: Record<string, { verified_at: number }> };
    expect(marker.assets[MASTER()]).toMatchObject({ verified_at: expect.any(Number), doubt: null });
    rpc.requests.length = 0;
    for (let reading = 0; reading < 3; reading++) {
      chain.advanceTime(ROUND_SECONDS);
      await readInto(store, watched);
    }
    expect(requestsTo('/runGetMethod')).toBe(0);
    chain.advanceTime(DAY_SECONDS);
    await readInto(store, watched);
    expect(requestsTo('/runGetMethod')).toBe(2);
  });

  it.each<[string, string, (stack: unknown[]) => unknown[]]>([
    [
      'the master names another wallet',
      'get_wallet_address',
      () => [{ type: 'slice', value: boc(buyer.at) }],
    ],
    [
      'the wallet names another owner',
      'get_wallet_data',
      ([balance, _, master, code]) => [balance, { type: 'slice', value: boc(buyer.at) }, master, code],
    ],
    [
      'the wallet names another master',
      'get_wallet_data',
      ([balance, owner, _, code]) => [balance, owner, { type: 'slice', value: boc(buyer.at) }, code],
    ],
  ])('that contradict are believed neither: %s', async (_name, method, change) => {
    const { store, watched, urgent } = await verified();
    const known = (store.accounts.get(merchant.key) as { assets: Record<string, { account: string }> })
      .assets[MASTER()]?.account;
    const lying = answering((asked, answer) =>
      asked === method ? { ...answer, stack: change(answer.stack) } : answer,
    );
    chain.advanceTime(DAY_SECONDS);
    await readInto(store, watched, { urgent, context: { rpc: lying } });
    const through = proofOf(store, merchant, usdt)?.read_through;
    await payJetton('INV-B');
    chain.advanceTime(10);
    await readInto(store, watched, { urgent, context: { rpc: lying } });
    // It is read on as it was known, and nothing is proved of it.
    expect(proofOf(store, merchant, usdt)).toMatchObject({
      account: known,
      read_through: through,
      failed: true,
      trouble: expect.stringMatching(/another wallet/),
    });
    expect(creditsOf(store)).toContain(`INV-B ${merchant.key} ton-usdt`);
    expect(proofOf(store, merchant)).toMatchObject({ read_through: chain.now() - 5, trouble: null });
    for (const _ of [1, 2]) await readInto(store, watched, { urgent });
    expect(proofOf(store, merchant, usdt)).toMatchObject({ read_through: chain.now() - 5, trouble: null });
  });
});

describe('an address that is to be a wallet', () => {
  const inspect = (at: Address) => ton.inspectAddress?.(rpc, asWallet(at).key);

  it('is refused where it is a jetton wallet or a jetton master', async () => {
    verifies('address-no-wallet');
    await payJetton('INV-A');
    expect(await inspect(await chain.jettonWallet(jetton, merchant))).toBe(NOT_A_WALLET);
    expect(await inspect(jetton.at)).toBe('is a jetton master, not a wallet');
  });

  it('is fine where it is a wallet, deployed or not, or a jetton wallet by its own word alone', async () => {
    expect(await inspect(merchant.at)).toBeNull();
    expect(await inspect(buyer.at)).toBeNull();
    expect(await inspect((await chain.createWallet({ deployed: false })).at)).toBeNull();
    const pretended = Address.parseRaw(`0:${'5'.repeat(64)}`);
    const { code, data } = await jettonWalletContract(merchant.at, jetton.at);
    await chain.plant(pretended, code, data);
    expect(await inspect(pretended)).toBeNull();
    // Its master is no contract, or one that answers something else.
    for (const master of [buyer.at, Address.parseRaw(`0:${'6'.repeat(64)}`)]) {
      const other = await jettonWalletContract(merchant.at, master);
      await chain.plant(pretended, other.code, other.data);
      expect(await inspect(pretended)).toBeNull();
    }
  });

  it('cannot be judged where the provider does not answer', async () => {
    chain.fail('bad_gateway', { path: '/runGetMethod' });
    await expect(inspect(merchant.at)).rejects.toMatchObject({ kind: 'unreachable' });
  });
});

describe('a transaction that somebody names', () => {
  const context = () =>
    ({
      rpc,
      network: 'testnet',
      blockchain: 'ton',
      gateways: [coin, usdt],
      now: chain.now,
      ...rightClock,
    }) as unknown as ReadContext;
  const named = (txid: string, { key }: { key: string } = merchant, gateway = coin) =>
    ton.open().lookUp(context(), { txid, address_key: key, gateway });

  it('gives the same transfer as reading, by its hash in either form', async () => {
    verifies('resolve-looks-up');
    const store = emptyStore();
    const { txid } = await chain.sendTon({ from: buyer, to: merchant, amount: ONE_TON, comment: 'INV-A' });
    const jettons = await payJetton('INV-B');
    await readInto(store, [watch(merchant)]);
    const of = (id: string, chain: string) => [store.transfers.get(`${id} ${chain}:${merchant.key}`)];
    const base64 = Buffer.from(txid, 'hex').toString('base64');
    for (const text of [
      txid,
      txid.toUpperCase(),
      base64,
      ` ${base64.replaceAll('+', '-').replaceAll('/', '_')} `,
    ])
      expect(await named(text)).toEqual(of(txid, 'ton'));
    expect(await named(jettons.txid, merchant, usdt)).toEqual(of(jettons.txid, 'ton-usdt'));
  });

  it('is none where it paid another asset, another address or no one, or is no hash', async () => {
    const { txid } = await chain.sendTon({ from: buyer, to: merchant, amount: ONE_TON, comment: 'INV-A' });
    const jettons = await payJetton('INV-B');
    expect(await named(txid, merchant, usdt)).toEqual([]);
    expect(await named(txid, buyer)).toEqual([]);
    expect(await named(jettons.txid)).toEqual([]);
    expect(await named('ab'.repeat(32))).toEqual([]);
    for (const text of ['', 'paid in cash', 'ab'.repeat(31), `${'ab'.repeat(32)}c`])
      expect(await named(text)).toEqual([]);
    // The coins that a jetton transfer carries are no payment to an owner who set the jetton wallet as his address.
    expect(await named(jettons.txid, await hostileWallet())).toEqual([]);
  });
});
