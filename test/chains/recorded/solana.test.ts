// What nodes of Solana really answer, read as the product reads it.
import { expect, test } from 'vitest';
import { type Gateway, type Json, ProviderError } from '../../../src/chains/family.ts';
import { gatewaysOf } from '../../../src/chains/gateways.ts';
import { SYSTEM_PROGRAM } from '../../../src/chains/solana/address.ts';
import {
  findTransaction,
  identifyNetwork,
  isOfOneAccount,
  nothingLearnt,
  readAccounts,
  readBlockhashValid,
  readFirstSlot,
  readLatestBlockhash,
  readNewestSlot,
  readSignatures,
  readSlotSeconds,
  readStatuses,
  readTip,
} from '../../../src/chains/solana/providers/rpc.ts';
import { transfersOf } from '../../../src/chains/solana/transfers.ts';
import { rightClock } from '../../helpers/reading.ts';
import { answering, failureOf, openRecords } from './recorded.ts';

const records = openRecords('solana');
const open = (...names: string[]) =>
  answering(
    names.map((name) => records.named(name)),
    'solana',
  );
const rpcOf = (name: string) => open(name).rpc;
const page = { limit: 1_000, minSlot: 0 };
const KEY = '11111111111111111111111111111112';
const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';

test('which network it is, and how far back it goes', async () => {
  expect(await identifyNetwork(rpcOf('the first block of the main network'))).toBe('mainnet');
  expect(await identifyNetwork(rpcOf('the first block of the test network'))).toBe('testnet');
  expect(await readFirstSlot(rpcOf('the oldest block of a node'))).toBe(39_368_303);
});

test('the tip is the clock', async () => {
  expect(await readTip(rpcOf('the clock'), [])).toEqual({
    tip: { height: 329_849_011, hash: null, time: 1_743_211_690 },
    found: [],
  });
});

test('accounts', async () => {
  const { slot, found } = await readAccounts(rpcOf('accounts'), [KEY, KEY], 0);
  expect(slot).toBe(410_343_008);
  expect(found.map((account) => account?.lamports)).toEqual([564_503_502, 10_665_754]);
});

test('signatures', async () => {
  const { entries, is_full } = await readSignatures(rpcOf('signatures'), KEY, page);
  expect(entries.map(({ slot, blockTime }) => [slot, blockTime])).toEqual([
    [83_994_671, 1_625_231_961],
    [83_994_656, 1_625_231_952],
    [83_994_591, 1_625_231_913],
  ]);
  expect(is_full).toBe(false);
  const [noted] = (await readSignatures(rpcOf('signatures with a memo'), KEY, page)).entries;
  expect(noted).toMatchObject({ slot: 184_930_610, err: null, blockTime: 1_679_899_845 });
  const newer = (await readSignatures(rpcOf('signatures of 2026'), KEY, page)).entries;
  expect(newer.map(({ slot }) => slot)).toEqual([356_623_156, 356_623_152, 356_623_147]);
});

/** What a recorded transaction credited to an owner, in SOL and USDC of the main network. */
async function creditsOf(name: string, owner: string) {
  const [signature] = records.named(name).params as Json[] as string[];
  const transaction = await findTransaction(rpcOf(name), signature as string);
  if (!transaction) throw new Error('there is no transaction');
  const gateways = gatewaysOf('mainnet').filter(({ blockchain }) => blockchain === 'solana') as Gateway[];
  const assets = gateways.map((gateway) => ({
    gateway,
    mint: gateway.token_contract ?? null,
    program: gateway.token_contract ? TOKEN_PROGRAM : SYSTEM_PROGRAM,
  }));
  const made = rightClock.local(transaction.blockTime ?? 0);
  const seen = { signature: signature as string, made, confirmations: 32, final: true };
  return transfersOf(transaction, seen, owner, assets);
}

test('a payment in a token counts by balances, with its memo and who sent it', async () => {
  const owner = '3i476kTBBTy7pBGx4CXwJpJ6phuwLQgcwLTdHhU3c7ui';
  expect(await creditsOf('a payment in USDC with a memo', owner)).toMatchObject([
    {
      chain: 'solana-usdc',
      amount_atomic: 1_000n,
      memo: 'transfer',
      sender: '8fusVwhgo4oS1fGpZKeRaXrJXQk9auKnAgcj9A97wR3t',
      height: 184_930_610,
      earliest_at: 1_679_899_845,
    },
  ]);
});

test('a payment in coins counts by balances, with its memo and who sent it', async () => {
  const owner = '2b7iQq3PbWwWTotRSDFNXT9DauU418aCHK4jcAzETUem';
  expect(await creditsOf('a payment in SOL with a memo', owner)).toMatchObject([
    {
      chain: 'solana',
      amount_atomic: 1_000_000n,
      memo: 'transfer',
      sender: 'DT1mBDFsNBc1UXa25RdxNvnjL5Lro7su7gX1zpLyCmWe',
      height: 185_471_096,
      earliest_at: 1_680_146_043,
    },
  ]);
});

test('a vote pays no one', async () => {
  expect(await creditsOf('a vote', 'EsEtxoyhFTgfvudcy2VwwQJ1qA6BScLUW39PKpYczuxF')).toEqual([]);
});

test('statuses and blockhashes', async () => {
  const found = await readStatuses(rpcOf('statuses'), [KEY, KEY]);
  expect(found.map(({ slot, status }) => [slot, status?.slot])).toEqual([
    [83_999_323, 82_233_105],
    [83_999_323, 82_232_349],
  ]);
  const lacking = await readStatuses(rpcOf('a status that is not there'), [KEY, KEY]);
  expect(lacking[1]).toEqual({ slot: 82, status: null });
  expect(await readNewestSlot(rpcOf('statuses'))).toBe(83_999_323);
  expect(await readSlotSeconds(rpcOf('how many slots there were in a minute'))).toBeCloseTo(60 / 84);
  expect(await readBlockhashValid(rpcOf('a blockhash that is valid'), KEY)).toEqual({
    slot: 100_688_709,
    is_valid: true,
  });
  expect(await readLatestBlockhash(rpcOf('the latest blockhash'))).toBe(
    'EkSnNWid2cvwEVnVx9aBqawnmiCNiDgp3gUdkDPTKN1N',
  );
});

test('a transaction of a newer version is asked for by the version that the node names', async () => {
  const { rpc, provider, asked } = open('a transaction of a newer version', 'a payment in SOL with a memo');
  const [signature] = records.named('a payment in SOL with a memo').params as string[];
  // It has not known the newer version before.
  const learnt = { ...nothingLearnt(), version: 0 };
  expect(await findTransaction({ ...rpc, learnt }, signature as string)).toMatchObject({ slot: 185_471_096 });
  const versions = asked.map(
    ({ body }) => (body as { params: { maxSupportedTransactionVersion?: number }[] }).params[1],
  );
  expect(versions.map((each) => each?.maxSupportedTransactionVersion)).toEqual([0, 1]);
  expect(provider.counters.failures).toBe(0);
  expect(await findTransaction(rpcOf('a transaction that is not there'), signature as string)).toBeNull();
});

/** Whether it is of one account, in the words of the family. */
test.each([
  ['a node that is behind', 'rpc', -32_016, false],
  ['a node that is not healthy', 'rpc', -32_005, false],
  ['a node without history', 'rpc', -32_011, false],
  ['a method that is not there', 'rpc', -32_601, false],
  ['an account that is none', 'rpc', -32_602, true],
  ['one method is asked too often', 'rate_limited', 429, false],
  ['an address that is blocked', 'unreachable', 403, false],
])('a refusal is of the node or of what was asked: %s', async (name, kind, code, of_one) => {
  const { rpc } = open(name);
  const asked = records.named(name).asks;
  const answer = rpc.call(asked, []);
  expect(await failureOf(answer)).toEqual({ kind, code });
  const error = await answer.catch((each: unknown) => each);
  expect(error).toBeInstanceOf(ProviderError);
  expect(isOfOneAccount(error)).toBe(of_one);
});

test('every recorded answer of this kind was read', () => {
  expect(records.unread()).toEqual([]);
});
