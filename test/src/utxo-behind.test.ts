// How far a UTXO chain counts as read while blocks or parts of the mempool are still to come: invoices expire by it.
import { describe, expect, test } from 'vitest';
import type { Page, ReadContext, Rpc, WatchedAddress } from '../../src/chains/chain.ts';
import { gatewaysOf } from '../../src/chains/gateways.ts';
import { coreSource } from '../../src/chains/utxo/core.ts';
import { esploraSource } from '../../src/chains/utxo/esplora.ts';
import { readChain } from '../../src/chains/utxo/read.ts';
import { createMemory, memoryIn, type Source } from '../../src/chains/utxo/source.ts';
import { rightClock, unasked } from '../helpers/reading.ts';

const START = 1_800_000_000;
const hashOf = (height: number) => height.toString(16).padStart(64, '0');
const scriptOf = (at: number) => `0014${at.toString(16).padStart(40, '0')}`;
const watch = (at: number): WatchedAddress => ({ key: scriptOf(at), address: '', since: START, open: true });

function context(cache: Map<string, unknown>, now: () => number): ReadContext {
  const gateways = gatewaysOf('testnet').filter((gateway) => gateway.blockchain === 'litecoin');
  return { rpc: {} as Rpc, network: 'testnet', blockchain: 'litecoin', gateways, cache, now, ...rightClock };
}

/** One read to its end; answers what it counts as read, Unix seconds. */
async function readThrough(
  source: Source,
  reading: { context: ReadContext; cursor: Page['cursor'] | null; watched: WatchedAddress[] },
): Promise<{ through: number; cursor: Page['cursor'] | null }> {
  let { cursor } = reading;
  let through = reading.context.now();
  const request = {
    ...unasked,
    addresses: async () => reading.watched,
    cursor: cursor ?? null,
    accounts: async () => new Map(),
  };
  for await (const page of readChain(source, reading.context, request)) {
    cursor = page.cursor ?? cursor;
    through = Math.min(through, page.read_through ?? through);
  }
  return { through, cursor };
}

/** A chain of empty blocks, one each minute. */
function emptyChain(height: number): Source {
  const header = (at: number) => ({
    hash: hashOf(at),
    previous: hashOf(at - 1),
    merkle_root: '',
    time: START + at * 60,
  });
  return {
    hashAt: async (at) => hashOf(at),
    tip: async () => ({ height, hash: hashOf(height), time: START + height * 60 }),
    header: async (hash) => header(Number.parseInt(hash, 16)),
    block: async (hash) => ({ ...header(Number.parseInt(hash, 16)), transactions: [] }),
    mempool: async () => async function* nothing() {},
    listedThrough: () => Number.POSITIVE_INFINITY,
    presence: async () => new Map(),
    spentByOther: async () => false,
  };
}

describe('counts as read', () => {
  test('nothing after its addresses were made while blocks are missing, then everything', async () => {
    const now = START + 500 * 60;
    const reading = { context: context(new Map(), () => now), watched: [watch(1)] };
    let cursor: Page['cursor'] | null = { height: 1, hashes: [hashOf(1)] };
    const seen: number[] = [];
    for (let read = 0; read < 3; read++) {
      const done = await readThrough(emptyChain(450), { ...reading, cursor });
      seen.push(done.through);
      cursor = done.cursor;
    }
    expect(seen).toEqual([START, START, now]);
  });

  test('what Esplora listed of every open script, the one longest ago', async () => {
    const cache = new Map<string, unknown>();
    const listing = { provider: 'esplora', json: async () => [] } as unknown as Rpc;
    const source = { ...emptyChain(5), ...partOf(esploraSource(listing, memoryIn(cache))) };
    let now = START + 1000;
    const watched = Array.from({ length: 40 }, (_, at) => watch(at));
    const cursor = { height: 5, hashes: [hashOf(5)] };
    const seen: number[] = [];
    for (let read = 0; read < 4; read++) {
      const reading = { context: context(cache, () => now), watched, cursor };
      seen.push((await readThrough(source, reading)).through);
      now += 15;
    }
    // Sixteen scripts a read: all of forty are listed after three, the first eight twice by then.
    expect(seen).toEqual([START, START, START + 1000, START + 1015]);
  });

  test('a mempool that was listed whole, where a node has more than one read takes', async () => {
    const memory = createMemory();
    const listed = Array.from({ length: 7_000 }, (_, at) => hashOf(at));
    const node = {
      provider: 'core',
      call: async () => listed,
      batch: async (_: string, params: unknown[]) => params.map(() => null),
    } as unknown as Rpc;
    const source = coreSource(node, memory);
    const seen: number[] = [];
    for (const now of [100, 115]) {
      const scan = await source.mempool(now);
      for await (const _ of scan(new Map()));
      seen.push(source.listedThrough(new Map()));
    }
    expect(seen).toEqual([0, 115]);
  });
});

const partOf = ({ mempool, listedThrough }: Source) => ({ mempool, listedThrough });
