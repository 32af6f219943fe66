// What toncenter's indexer really answers, read as the product reads it.
import { Address } from '@ton/core';
import { expect, test } from 'vitest';
import type { Gateway } from '../../../src/chains/family.ts';
import { gatewaysOf } from '../../../src/chains/gateways.ts';
import { keyOf, readAddress } from '../../../src/chains/ton/address.ts';
import {
  getAccountStates,
  getJettonWallet,
  getTip,
  getTransactions,
  getWalletData,
  identifyNetwork,
  isJettonMaster,
} from '../../../src/chains/ton/providers/toncenter.ts';
import { toTransfer } from '../../../src/chains/ton/transfers.ts';
import { rightClock } from '../../helpers/reading.ts';
import { answering, failureOf, openRecords } from './recorded.ts';

const records = openRecords('toncenter');
const open = (name: string) => answering([records.named(name)], 'toncenter');
const rpcOf = (name: string) => open(name).rpc;
const ask = (name: string) => getTransactions(rpcOf(name), { sort: 'asc' });
const wallet = Address.parse(`0:${'1'.repeat(64)}`);

test('the last block, and which network it is of', async () => {
  const name = 'the last block of the test network';
  expect(await getTip(rpcOf(name))).toEqual({
    tip: { height: 21_082_664, hash: null, time: 1_721_068_768 },
    start_lt: 23_694_519_000_000n,
  });
  expect(await identifyNetwork(rpcOf(name))).toBe('testnet');
});

/** The credit that the only transaction of an answer makes. */
async function creditIn(name: string) {
  const [row] = await ask(name);
  expect(row?.reason).toBeNull();
  const gateway = gatewaysOf('testnet').find(({ chain }) => chain === 'ton') as Gateway;
  const tip = { height: 90_000_000, hash: null, time: 1_800_000_000 };
  const to = { account: row?.account ?? '', gateway, address_key: row?.account ?? '' };
  return row?.transaction ? toTransfer(row.transaction, to, tip, rightClock.local) : null;
}

test('a payment to a wallet that was never used is aborted, and a payment', async () => {
  expect(await creditIn('a payment to a wallet never used')).toMatchObject({
    txid: '86f97a56821ce3629abd3c59884b87ebcaea1933eb96bc84e91646e304043729',
    amount_atomic: 1_000_000_000n,
    memo: null,
    height: 82_744_100,
    earliest_at: 1_785_330_571,
    sender: expect.stringMatching(/^0Q/),
  });
});

test('a comment is the memo of its payment', async () => {
  expect(await creditIn('a payment with a comment')).toMatchObject({
    amount_atomic: 1_000_000_000n,
    memo: '1985597651',
    height: 19_702_476,
    earliest_at: 1_717_046_274,
  });
});

test('what a wallet sends is no payment to it', async () => {
  expect(await creditIn('a wallet that sent')).toBeNull();
  expect(await creditIn('a wallet that sent a jetton')).toBeNull();
  expect(await ask('no transactions')).toEqual([]);
});

test('states of accounts', async () => {
  const key = '0:237E5119FFA2A028CC4F95C9CA37566852F1DD4D3EA15704D6F791065507DE4A';
  expect(await getAccountStates(rpcOf('the state of a wallet'), [key])).toEqual(
    new Map([
      [
        key,
        {
          status: 'active',
          last_transaction_lt: 23_693_722_000_001n,
          last_transaction_hash: 'mVuNwFVC4eIWjS+lIAkfinkXUQz8k1lqFZ+lQqvAZK8=',
        },
      ],
    ]),
  );
  expect(await getAccountStates(rpcOf('states of accounts never used'), [key])).toEqual(new Map());
});

test('what contracts return', async () => {
  expect(await isJettonMaster(rpcOf('what a jetton is'), wallet)).toBe(true);
  expect(await isJettonMaster(rpcOf('the number of a wallet'), wallet)).toBe(false);
  const found = await getJettonWallet(rpcOf('the wallet of a jetton'), wallet, wallet);
  const known = readAddress('0:3D340B150EAC0392F5F428ABFFDF3C33BED68468A7F7F607C4A13D8013EF56B1');
  expect(found && keyOf(found)).toBe(known && keyOf(known));
  expect(await getWalletData(rpcOf('the number of a wallet'), wallet)).toBe('none');
  expect(await getWalletData(rpcOf('a contract without code'), wallet)).toBe('no_code');
  expect(await getWalletData(rpcOf('a contract that ran out of gas'), wallet)).toBe('no_code');
});

test('a contract that returns what the indexer cannot show has no such method', async () => {
  const name = 'a null among the results';
  const { rpc, provider } = open(name);
  expect(await getJettonWallet(rpc, wallet, wallet)).toBeNull();
  expect(await getWalletData(rpcOf(name), wallet)).toBe('none');
  expect(await isJettonMaster(rpcOf(name), wallet)).toBe(false);
  expect(provider.counters.failures).toBe(0);
});

test.each([
  ['a stack that is too deep', 500],
  ['a query that took too long', 500],
  ['states that took too long', 422],
  ['an account that is none', 422],
])('a failure of one question is nothing against the provider: %s', async (name, code) => {
  const { rpc, provider } = open(name);
  const asked = {
    '/runGetMethod': () => isJettonMaster(rpc, wallet),
    '/transactions': () => getTransactions(rpc, { sort: 'asc' }),
    '/accountStates': () => getAccountStates(rpc, [keyOf(wallet)]),
  }[records.named(name).asks] as () => Promise<unknown>;
  expect(await failureOf(asked())).toEqual({ kind: 'rpc', code });
  expect(provider.counters.failures).toBe(0);
});

test.each([
  ['asked too often', 'rate_limited', 429],
  ['an unknown key', 'unreachable', 401],
])('it may refuse everything: %s', async (name, kind, code) => {
  const { rpc, provider } = open(name);
  expect(await failureOf(getTip(rpc))).toEqual({ kind, code });
  expect(provider.counters.failures).toBeGreaterThan(0);
});

test('every recorded answer of this kind was read', () => {
  expect(records.unread()).toEqual([]);
});
