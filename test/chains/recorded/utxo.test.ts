// What Esplora servers and Bitcoin Core really answer, read as the product reads it.
import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/chains/family.ts';
import { createMemory } from '../../../src/chains/utxo/memory.ts';
import { coreSource } from '../../../src/chains/utxo/providers/core.ts';
import { esploraSource } from '../../../src/chains/utxo/providers/esplora.ts';
import type { Listing, Sighting, Source } from '../../../src/chains/utxo/source.ts';
import { answering, failureOf, openRecords } from './recorded.ts';

const PAID_HEADER = '0000000000000000000065bda8f8a88f2e1e00d9a6887a43d640e52a4c7660f2';
const SMALL_BLOCK = '00000000b0c5a240b2a61d2e75692224efd4cbecdf6eaf4cc2cf477ca7c270e7';
const TXID = 'a6eab3c14ab5272a58a5ba91505ba1a4b6d7a3a9fcbd187b6cd99a7b6d548cb7';
const WAITING = '16cd9bbc6b62313a22d16671fa559aec6bf581df8b5853d37775c84b0fddfa90';
const SCRIPT = `0014${'11'.repeat(20)}`;
const NOW = 1_700_000_000;

const header = {
  hash: PAID_HEADER,
  previous: '0000000000000000000cfd8624d228e07fd647ba23bcb1a91d7d1850c4d4042c',
  time: 1_625_994_502,
};

async function listed(source: Source, again = false): Promise<{ lists: Listing[]; seen: Sighting[] }> {
  const watched = new Map([[SCRIPT, { address: 'an address', key: SCRIPT, since: NOW - 600, open: true }]]);
  const request = {
    watched,
    urgent: [SCRIPT],
    followed: [],
    paused: new Set<string>(),
    again,
    listed_at: 0,
    now: () => NOW,
    spare_requests: 1,
  };
  const seen: Sighting[] = [];
  const lists = source.list(request);
  for (;;) {
    const next = await lists.next();
    if (next.done) return { lists: next.value, seen };
    seen.push(...next.value);
  }
}

describe('Esplora', () => {
  const records = openRecords('esplora');
  const open = (...names: string[]) => {
    const opened = answering(
      names.map((name) => records.named(name)),
      'esplora',
    );
    return { ...opened, source: esploraSource(opened.rpc, createMemory()) };
  };

  test('the tip is the block at its height', async () => {
    const { source, asked } = open('the block at a height', 'a block', 'the block at a height');
    expect(await source.tip()).toEqual({
      hash: '000000000000000015dc777b3ff2611091336355d3f0ee9766a2cf3be8e4b1ce',
      height: 363_366,
      time: 1_435_766_771,
    });
    expect(asked.map(({ path }) => path)).toEqual([
      '/v1/blocks/tip/hash',
      '/v1/block/000000000000000015dc777b3ff2611091336355d3f0ee9766a2cf3be8e4b1ce',
      '/v1/block-height/363366',
    ]);
    const newest = open('the tip', 'a block', 'the block at a height');
    await newest.source.tip();
    expect(newest.asked[1]?.path).toBe(
      '/v1/block/0000000000000000000624d76f52661d0f35a0da8b93a87cb93cf08fd9140209',
    );
  });

  test('headers and blocks are what their hashes say', async () => {
    expect(await open('a header').source.header(PAID_HEADER)).toMatchObject(header);
    const block = await open('the bytes of a block').source.block(SMALL_BLOCK);
    expect(block.transactions.map(({ outputs }) => outputs.map(({ amount }) => amount))).toEqual([
      [5_000_000_000n],
      [6_100_000_000n],
    ]);
  });

  test('a transaction is what its id says, in a block or in none', async () => {
    const mined = await open('where a transaction is', 'the bytes of a transaction').source.locate(TXID);
    expect(mined).toMatchObject({
      transaction: { txid: TXID },
      block: { height: 363_348, hash: '0000000000000000139385d7aa78ffb45469e0c715b8d6ea6cb2ffa98acc7171' },
    });
    const waiting = open('a transaction that is in no block, or unknown', 'the bytes of a transaction');
    expect(await waiting.source.locate(TXID)).toMatchObject({ transaction: { txid: TXID }, block: null });
    // The status of a transaction that no one knows is that it is unconfirmed.
    const unknown = open('a transaction that is in no block, or unknown', 'a transaction that is not there');
    expect(await unknown.source.locate(TXID)).toBeNull();
    expect(unknown.provider.counters.failures).toBe(0);
  });

  test('who spent an output', async () => {
    const { source, asked } = open('what spent an output', 'a transaction that is not there');
    expect(await source.spender(`${TXID}:3`)).toBeNull();
    expect(asked.map(({ path }) => path)).toEqual([
      `/v1/tx/${TXID}/outspend/3`,
      '/v1/tx/2a1b8ec06d68096911da82b02806c3848c415b0044a0046850c4a97cbffac7b1/hex',
    ]);
    expect(await open('an output that is not spent').source.spender(`${TXID}:3`)).toBeNull();
  });

  test('a list of a script, whose only transaction is gone when its bytes are asked for', async () => {
    const { source } = open('unconfirmed transactions of a script', 'a transaction that is not there');
    const { lists, seen } = await listed(source);
    expect(seen).toEqual([]);
    expect(lists).toMatchObject([
      {
        script: SCRIPT,
        txids: new Set([WAITING]),
        complete: false,
      },
    ]);
  });

  test.each([
    ['asked too often', 'rate_limited', 429],
    ['no one behind the proxy', 'unreachable', 502],
  ])('it may refuse: %s', async (name, kind, code) => {
    const { rpc } = open(name);
    expect(await failureOf(rpc.text('/block-height/1'))).toEqual({ kind, code });
  });

  test('a list after a block shows what stands in it, and an entry that is there twice once', async () => {
    const { source, asked } = open(
      'transactions of a script, one of them twice',
      'a transaction that is not there',
    );
    const { lists } = await listed(source, true);
    expect(lists).toMatchObject([
      {
        txids: new Set([WAITING]),
        paid_in: [
          { height: 363_348, hash: '0000000000000000139385d7aa78ffb45469e0c715b8d6ea6cb2ffa98acc7171' },
        ],
      },
    ]);
    expect(asked.map(({ path }) => path)).toEqual([
      expect.stringMatching(/^\/v1\/scripthash\/[0-9a-f]{64}\/txs$/),
      `/v1/tx/${WAITING}/hex`,
    ]);
  });

  test.each([
    [0, 'unspent outputs of a script', false],
    [13, 'unspent outputs of a script', true],
    [13, 'more unspent outputs than are listed', true],
  ])(
    'a list that is as long as a page is held against what the provider counts: %i, %s',
    async (count, unspent, lacks) => {
      const row = { txid: WAITING, status: { confirmed: false } };
      const rows = Array.from({ length: 12 }, (_, at) => ({
        ...row,
        txid: at.toString(16).padStart(64, '0'),
      }));
      const list = { ...records.named('unconfirmed transactions of a script'), body: rows };
      const counted = records.named('what a script has');
      const { mempool_stats } = counted.body as { mempool_stats: { [name: string]: Json } };
      const body = { ...(counted.body as object), mempool_stats: { ...mempool_stats, tx_count: count } };
      const bytes = records.named('a transaction that is not there');
      const answers = [list, { ...counted, body }, ...(count > 0 ? [records.named(unspent)] : []), bytes];
      const { rpc, asked } = answering(answers, 'esplora');
      const [found] = (await listed(esploraSource(rpc, createMemory()))).lists;
      expect(found?.failed).toBe(lacks);
      expect(asked.filter(({ path }) => /\/utxo$/.test(path))).toHaveLength(count > 0 ? 1 : 0);
    },
  );

  test('every recorded answer of this kind was read', () => {
    expect(records.unread()).toEqual([]);
  });
});

describe('Bitcoin Core', () => {
  const records = openRecords('core');
  const open = (...names: string[]) => {
    const opened = answering(
      names.map((name) => records.named(name)),
      'core',
    );
    return { ...opened, source: coreSource(opened.rpc, createMemory()) };
  };

  test('the tip is the block at its height', async () => {
    const { source } = open('the state of a node', 'a header in words', 'the block at a height');
    expect(await source.tip()).toEqual({
      hash: '00000000000000000005233c5202951a85538b047e62f4c12c25d9ff65e62f07',
      height: 787_066,
      time: 1_682_501_447,
    });
    const behind = open('a node that still has blocks to fetch').source.tip();
    await expect(behind).rejects.toThrow('the node still has 848131 blocks to fetch');
  });

  test('headers and blocks are what their hashes say', async () => {
    expect(await open('a header as bytes').source.header(PAID_HEADER)).toMatchObject(header);
    const block = await open('a block as bytes').source.block(SMALL_BLOCK);
    expect(block.hash).toBe(SMALL_BLOCK);
  });

  test('a transaction that it does not have is none, in either form of the answer', async () => {
    for (const name of ['a transaction that the node does not have', 'the same, asked of JSON-RPC 2.0']) {
      const { source, provider } = open(name);
      expect(await source.locate(TXID)).toBeNull();
      expect(provider.counters.failures).toBe(0);
    }
  });

  test('its mempool comes with its newest block', async () => {
    const { source, asked } = open(
      'the mempool, its node and for how long that runs',
      'transactions as bytes',
    );
    const { lists, seen } = await listed(source);
    expect(seen.map(({ transaction }) => transaction.txid)).toEqual([TXID]);
    expect(lists).toMatchObject([
      {
        script: null,
        txids: new Set([TXID]),
        tip_hash: '00000000000000000005233c5202951a85538b047e62f4c12c25d9ff65e62f07',
        complete: true,
      },
    ]);
    expect(asked.map(({ methods }) => methods.join(' '))).toEqual([
      'getrawmempool getbestblockhash uptime',
      'getrawtransaction',
    ]);
  });

  test.each([
    ['a node that is starting', 'rpc', -28],
    ['a block that the node does not know', 'rpc', -5],
    ['a block that was pruned', 'rpc', -1],
    ['a wrong password', 'unreachable', 401],
    ['its queue is full', 'unreachable', 503],
  ])('it may refuse: %s', async (name, kind, code) => {
    const { rpc } = open(name);
    expect(await failureOf(rpc.call(records.named(name).asks, []))).toEqual({ kind, code });
  });

  test('every recorded answer of this kind was read', () => {
    expect(records.unread()).toEqual([]);
  });
});
