// How far a UTXO chain counts as read while blocks or parts of the mempool are still to come: invoices expire by it.
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { beforeEach, describe, expect, test } from 'vitest';
import type { AccountProof, Json, Page, Rpc, Transfer, WatchedAddress } from '../../../src/chains/family.ts';
import { ProviderError } from '../../../src/chains/family.ts';
import { gatewaysOf } from '../../../src/chains/gateways.ts';
import { createMemory, type Memory, type UtxoContext } from '../../../src/chains/utxo/memory.ts';
import { coins } from '../../../src/chains/utxo/networks.ts';
import { coreSource } from '../../../src/chains/utxo/providers/core.ts';
import { esploraSource } from '../../../src/chains/utxo/providers/esplora.ts';
import { readChain } from '../../../src/chains/utxo/read.ts';
import type { Source } from '../../../src/chains/utxo/source.ts';
import { makeChain } from '../../chains/utxo-blocks.ts';
import { rightClock, unasked } from '../../helpers/reading.ts';
import { makeTransaction } from '../../simulator/chains/utxo-bytes.ts';

const START = 1_800_000_000;
const PROPAGATION = 30;
const scriptOf = (at: number) => `0014${at.toString(16).padStart(40, '0')}`;
const hashOf = (at: number) => at.toString(16).padStart(64, '0');
const watch = (at: number): WatchedAddress => ({ key: scriptOf(at), address: '', since: START, open: true });

/** A reader and its store, with a clock that the test moves. */
function openReader(source: (memory: Memory) => Source, watched: WatchedAddress[]) {
  const memory = createMemory();
  const gateways = gatewaysOf('testnet').filter((gateway) => gateway.blockchain === 'bitcoin');
  const reader = {
    now: START + 1000,
    cursor: null as Json | null,
    read_through: null as number | null,
    urgent: [] as string[],
    proofs: new Map<string, AccountProof>(),
    transfers: [] as Transfer[],
    /** What the last reading stated. */
    stated: undefined as number | undefined,
    async read() {
      const context: UtxoContext = {
        rpc: { provider: 'made' } as Rpc,
        network: 'testnet',
        blockchain: 'bitcoin',
        gateways,
        memory,
        now: () => reader.now,
        ...rightClock,
      };
      const request = {
        ...unasked,
        addresses: async () => watched,
        cursor: reader.cursor,
        accounts: async () => new Map(),
        urgent: async () => reader.urgent.map((address_key) => ({ address_key, chain: 'bitcoin' })),
        behind: async () =>
          [...reader.proofs.values()]
            .filter(({ trouble }) => trouble !== null)
            .map((proof) => ({ ...proof, paused: false })),
        read_through: reader.read_through,
      };
      reader.stated = undefined;
      for await (const page of readChain(coins.bitcoin, source(memory), context, request)) store(page);
      if (reader.stated !== undefined)
        reader.read_through = Math.max(reader.stated, reader.read_through ?? reader.stated);
    },
    /** How far the account of a script is proved. */
    through: (script: string) =>
      reader.proofs.has(script) ? reader.proofs.get(script)?.read_through : reader.read_through,
  };
  function store(page: Page): void {
    reader.cursor = page.cursor ?? reader.cursor;
    reader.transfers.push(...page.transfers);
    reader.stated = page.read_through ?? reader.stated;
    for (const proof of page.proofs ?? []) reader.proofs.set(proof.address_key, proof);
    for (const { address_key } of page.caught_up ?? []) reader.proofs.delete(address_key);
  }
  return reader;
}

const hashed = (script: string) => bytesToHex(sha256(hexToBytes(script)));

/** Lists nothing unconfirmed; one script fails as the test says. */
function listing(asked: string[], fails = (_: string) => false) {
  const rpc = {
    provider: 'esplora',
    json: async (path: string) => {
      const script = path.split('/')[2] ?? '';
      asked.push(script);
      if (fails(script)) throw new ProviderError('rpc', 'too many', 400);
      return [];
    },
  } as unknown as Rpc;
  return (memory: Memory): Source => {
    const { list, lists_alone } = esploraSource(rpc, memory);
    return { ...chain.source, list, lists_alone };
  };
}

const chain = makeChain(START - 100_000);
for (let at = 1; at <= 5; at++) chain.mine(START - 50_000 + at);

describe('counts as read', () => {
  test('nothing while blocks are missing, then everything but what may still be on its way', async () => {
    const long = makeChain(START - 100_000);
    for (let at = 1; at <= 450; at++) long.mine(START + at);
    const reader = openReader(() => long.source, [watch(1)]);
    reader.cursor = { height: 0, hashes: [long.blocks[0]?.hash ?? ''], bits: null };
    const stated: (number | undefined)[] = [];
    for (let read = 0; read < 3; read++) {
      await reader.read();
      stated.push(reader.stated);
    }
    expect(stated).toEqual([undefined, undefined, reader.now - PROPAGATION]);
  });

  test('nothing where the provider stands on another block at the same height', async () => {
    const fork = makeChain(START - 100_000);
    for (let at = 1; at <= 4; at++) fork.mine(START - 50_000 + at);
    const reader = openReader(() => fork.source, [watch(1)]);
    await reader.read();
    expect(reader.stated).toBe(reader.now - PROPAGATION);
    const height = fork.blocks.length - 1;
    fork.blocks.pop();
    fork.mine(START - 40_000);
    expect(fork.blocks.length - 1).toBe(height);
    reader.now += 60;
    await reader.read();
    expect(reader.stated).toBeUndefined();
  });

  test('what Esplora listed of every open script before its last list, the one longest ago', async () => {
    const asked: string[] = [];
    const watched = Array.from({ length: 40 }, (_, at) => watch(at));
    const reader = openReader(listing(asked), watched);
    const stated: (number | undefined)[] = [];
    for (let read = 0; read < 7; read++) {
      asked.length = 0;
      await reader.read();
      expect(asked).toHaveLength(16);
      stated.push(reader.stated);
      reader.now += 15;
    }
    // Sixteen scripts a read: all of forty are listed after three, and a second time after five.
    const first = START + 1000 - PROPAGATION;
    expect(stated).toEqual([START, START, START, START, first, first + 15, first + 30]);
  });

  test('one urgent script at once, though forty are open, without waiting for the others', async () => {
    const asked: string[] = [];
    const watched = Array.from({ length: 40 }, (_, at) => watch(at));
    const reader = openReader(listing(asked), watched);
    await reader.read();
    reader.urgent = [scriptOf(39)];
    reader.now += 15;
    asked.length = 0;
    await reader.read();
    expect(asked).toHaveLength(16);
    expect(asked.filter((script) => script === hashed(scriptOf(39)))).toHaveLength(2);
    expect(reader.through(scriptOf(39))).toBe(reader.now - PROPAGATION);
    expect(reader.read_through).toBe(START);
    // Once it is urgent no more, it counts with the others again.
    reader.urgent = [];
    reader.now += 15;
    await reader.read();
    expect(reader.proofs.size).toBe(0);
  });

  test('not an ending script that another host shows a payment to, in a block still to be read', async () => {
    const rows = { mempool: [] as unknown[], all: [] as unknown[] };
    const rpc = {
      provider: 'esplora',
      json: async (path: string) => (path.endsWith('/txs/mempool') ? rows.mempool : rows.all),
    } as unknown as Rpc;
    const reader = openReader(
      (memory) => {
        const { list, lists_alone } = esploraSource(rpc, memory);
        return { ...chain.source, list, lists_alone };
      },
      [watch(1)],
    );
    for (let read = 0; read < 3; read++) {
      await reader.read();
      reader.now += 15;
    }
    const before = reader.through(scriptOf(1)) ?? 0;
    reader.urgent = [scriptOf(1)];
    // One host has it in its block, and so in no list of what is unconfirmed; the one asked for the tip lacks that block.
    const block_height = chain.blocks.length;
    rows.all = [{ txid: hashOf(9), status: { confirmed: true, block_height } }];
    reader.now += 60;
    await reader.read();
    expect(reader.proofs.get(scriptOf(1))?.trouble).toContain(`block ${block_height}`);
    expect(reader.through(scriptOf(1))).toBeLessThan(reader.now - PROPAGATION - 15);
    // Nor is a block of another branch one that was read, be it as high.
    rows.all = [
      {
        txid: hashOf(9),
        status: { confirmed: true, block_height: block_height - 1, block_hash: hashOf(77) },
      },
    ];
    await reader.read();
    expect(reader.proofs.get(scriptOf(1))?.trouble).toContain(`block ${block_height - 1}`);
    const block_hash = chain.blocks.at(-1)?.hash;
    rows.all = [
      { txid: hashOf(9), status: { confirmed: true, block_height: block_height - 1, block_hash } },
      { txid: hashOf(8), status: { confirmed: true, block_height: block_height - 2 } },
    ];
    await reader.read();
    expect(reader.through(scriptOf(1))).toBeGreaterThan(before);
    expect(reader.through(scriptOf(1))).toBe(reader.now - PROPAGATION);
  });

  test('urgent scripts that are too many for one read in turns, and the others get theirs', async () => {
    const asked: string[] = [];
    const watched = Array.from({ length: 40 }, (_, at) => watch(at));
    const reader = openReader(listing(asked), watched);
    reader.urgent = watched.slice(0, 20).map(({ key }) => key);
    for (let read = 0; read < 5; read++) {
      reader.now += 15;
      await reader.read();
    }
    for (const script of reader.urgent) expect(reader.through(script)).toBeGreaterThan(START);
    for (const { key } of watched) expect(asked).toContain(hashed(key));
  });

  test('one script that cannot be listed less far than the others, which it does not hold back', async () => {
    const asked: string[] = [];
    let broken = true;
    const bad = scriptOf(2);
    const fails = (script: string) => broken && script === hashed(bad);
    const watched = [watch(1), watch(2), watch(3)];
    const reader = openReader(listing(asked, fails), watched);
    for (let read = 0; read < 3; read++) {
      reader.now += 15;
      await reader.read();
    }
    expect(reader.read_through).toBe(reader.now - 15 - PROPAGATION);
    expect(reader.proofs.get(bad)).toMatchObject({ read_through: START, failed: true, trouble: 'too many' });
    broken = false;
    const proved: (number | null | undefined)[] = [];
    for (let read = 0; read < 3; read++) {
      reader.now += 15;
      await reader.read();
      proved.push(reader.through(bad));
    }
    // Listed twice it is as far as the others again.
    expect(proved[0]).toBe(START);
    expect(proved[1]).toBe(reader.now - 30 - PROPAGATION);
    expect(proved[2]).toBe(reader.now - 15 - PROPAGATION);
    expect(reader.proofs.size).toBe(0);
  });

  test('nothing where no list can be had, but the blocks all the same', async () => {
    const reader = openReader(
      listing([], () => true),
      [watch(1), watch(2)],
    );
    await expect(reader.read()).rejects.toThrow('too many');
    expect(reader.cursor).toMatchObject({ height: 5 });
    expect(reader.stated).toBeUndefined();
  });

  describe('of a node', () => {
    const sent = Array.from({ length: 7_000 }, (_, at) =>
      makeTransaction([`${hashOf(at + 1)}:0`], [{ script: scriptOf(1_000), amount: 1_000n }]),
    );
    const payment = makeTransaction([`${hashOf(9_999)}:0`], [{ script: scriptOf(1), amount: 1_000n }]);
    /** The host that answers next, behind one name with others. */
    const host = {
      mempool: [] as typeof sent,
      tip_hash: '',
      uptime: 1_000_000,
      /** What another one, which is asked for the bytes, does not have. */
      lacks: [] as typeof sent,
    };
    const node = (memory: Memory) => {
      const bytesOf = ([txid]: string[]) => {
        const found = host.mempool.find((each) => each.txid === txid && !host.lacks.includes(each));
        return found ? Buffer.from(found.bytes).toString('hex') : new ProviderError('rpc', 'none', -5);
      };
      const methods: Record<string, (params: string[]) => unknown> = {
        getrawmempool: () => host.mempool.map(({ txid }) => txid),
        getbestblockhash: () => host.tip_hash,
        uptime: () => host.uptime,
        getrawtransaction: bytesOf,
      };
      const rpc = {
        provider: 'core',
        batch: async (calls: { method: string; params: string[] }[]) =>
          calls.map(({ method, params }) => methods[method]?.(params)),
      } as unknown as Rpc;
      const { list, lists_alone } = coreSource(rpc, memory);
      return { ...chain.source, list, lists_alone };
    };
    beforeEach(() => {
      const tip_hash = chain.blocks.at(-1)?.hash ?? '';
      Object.assign(host, { mempool: [], tip_hash, uptime: 1_000_000, lacks: [] });
    });

    test('a mempool that was listed whole, where it has more than one read takes', async () => {
      host.mempool = sent;
      const reader = openReader(node, [watch(1)]);
      await reader.read();
      expect(reader.stated).toBeUndefined();
      reader.now += 15;
      await reader.read();
      expect(reader.stated).toBe(reader.now - PROPAGATION);
    });

    test('nothing new for an hour after it was started again, because it may lack what was sent meanwhile', async () => {
      const reader = openReader(node, [watch(1)]);
      await reader.read();
      const before = reader.read_through;
      reader.now += 600;
      host.uptime = 60;
      await reader.read();
      expect(reader.read_through).toBe(before);
      reader.now += 3600;
      host.uptime += 3600;
      await reader.read();
      expect(reader.read_through).toBe(reader.now - PROPAGATION);
    });

    test('nothing by the list of a host with a block that is still to be read', async () => {
      const reader = openReader(node, [watch(1)]);
      reader.cursor = { height: 3, hashes: [chain.blocks[3]?.hash ?? ''], bits: null };
      await reader.read();
      const before = reader.read_through;
      reader.now += 15;
      // The host that is asked for the tip does not have this one yet, nor the payment that it holds.
      host.tip_hash = hashOf(77);
      await reader.read();
      expect(reader.stated).toBeUndefined();
      expect(reader.read_through).toBe(before);
      host.tip_hash = chain.blocks.at(-2)?.hash ?? '';
      await reader.read();
      expect(reader.read_through).toBe(reader.now - PROPAGATION);
    });

    test('no more than the list before one that shows what no host gives', async () => {
      const reader = openReader(node, [watch(1)]);
      await reader.read();
      const before = reader.now;
      Object.assign(host, { mempool: [payment], lacks: [payment] });
      for (let read = 0; read < 3; read++) {
        reader.now += 15;
        await reader.read();
        expect(reader.read_through).toBe(before - PROPAGATION);
      }
      host.lacks = [];
      reader.now += 15;
      await reader.read();
      expect(reader.read_through).toBe(reader.now - PROPAGATION);
      expect(reader.transfers).toMatchObject([{ txid: payment.txid, latest_at: before + 15 }]);
    });

    test('up to the list before where each list shows something that is only on its way to the others', async () => {
      const reader = openReader(node, [watch(1)]);
      await reader.read();
      for (let read = 1; read <= 4; read++) {
        reader.now += 15;
        host.mempool = sent.slice(0, read);
        host.lacks = sent.slice(read - 1, read);
        await reader.read();
        expect(reader.read_through).toBe(reader.now - 15 - PROPAGATION);
      }
    });
  });
});
