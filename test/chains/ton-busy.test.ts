// One busy account alongside another: a hundred thousand dust transactions delay payments to their own account only.
import { describe, expect, it } from 'vitest';
import type { Gateway, Json, Rpc, WatchedAddress } from '../../src/chains/family.ts';
import { gatewaysOf } from '../../src/chains/gateways.ts';
import { ton } from '../../src/chains/ton/family.ts';
import { createToncenter } from '../helpers/toncenter.ts';
import { verifies } from '../requirements.ts';
import { emptyStore, proofOf, readInto, type Store } from './ton/harness.ts';

const START = 1_800_000_000;
/** What the default pace leaves for single accounts. */
const SPARE_REQUESTS = 4;
const PAUSE_SECONDS = 4;
const gateways = gatewaysOf('testnet').filter(({ chain }) => chain === 'ton') as Gateway[];

/** An indexer in memory, and a daemon that reads addresses from it every few seconds. */
function openWorld() {
  let now = START;
  const requests: string[] = [];
  const seqno = () => 1_000_000 + now - START;
  const toncenter = createToncenter(() => ({ seqno: seqno(), now }));
  const unused = () => Promise.reject(new Error('not asked by this family'));
  const rpc: Rpc = {
    provider: 'toncenter',
    async json(path, { query } = {}) {
      requests.push(path);
      return toncenter.answer(path, (query ?? {}) as Record<string, Json>) ?? { exit_code: -13, stack: [] };
    },
    text: unused,
    bytes: unused,
    call: unused,
    batch: unused,
  };
  const pay = (to: WatchedAddress) =>
    toncenter.add({
      account: to.key,
      now,
      mc_block_seqno: seqno(),
      description: { aborted: false, compute_ph: { success: true } },
      in_msg: { source: `0:${'7'.repeat(64)}`, value: '1000000', bounced: false, message_content: null },
    });
  const store = emptyStore();
  return {
    store,
    requests,
    pay,
    wallet(hex: string): WatchedAddress {
      const raw = `0:${hex.repeat(64)}`;
      return { ...ton.normalizeAddress(raw, 'testnet'), since: now, open: true };
    },
    pass: (seconds: number) => {
      now += seconds;
    },
    now: () => now,
    /** One reading; returns how many requests it cost. */
    async read(watched: WatchedAddress[], urgent: WatchedAddress[] = []): Promise<number> {
      now += PAUSE_SECONDS;
      const before = requests.length;
      await readInto(store, watched, {
        gateways,
        urgent: urgent.map(({ key }) => ({ address_key: key, chain: 'ton' })),
        context: { rpc, now: () => now, spare_requests: SPARE_REQUESTS },
      });
      return requests.length - before;
    },
  };
}

const creditsOf = (store: Store, { key }: WatchedAddress) =>
  [...store.transfers.values()].filter(({ address_key }) => address_key === key).length;

describe('a busy account', () => {
  it('of 100,000 dust transactions delays the payment to another by not one reading', async () => {
    verifies('account-own-trouble');
    const world = openWorld();
    const [busy, calm] = [world.wallet('1'), world.wallet('2')];
    const watched = [busy, calm];
    await world.read(watched, watched);
    for (let each = 0; each < 100_000; each++) {
      if (each % 500 === 0) world.pass(1);
      world.pay(busy);
    }
    let paid = 0;
    let most = 0;
    let readings = 0;
    while (creditsOf(world.store, busy) < 100_000) {
      if (readings % 10 === 0) {
        world.pay(calm);
        paid++;
      }
      most = Math.max(most, await world.read(watched, watched));
      expect(creditsOf(world.store, calm)).toBe(paid);
      // The calm one is proved while the busy one is behind.
      expect(proofOf(world.store, calm)).toMatchObject({ read_through: world.now() - 5, trouble: null });
      expect(++readings).toBeLessThan(120);
      if (readings === 5)
        expect(proofOf(world.store, busy)).toMatchObject({
          failed: false,
          trouble: expect.stringMatching(/^busy: 1000 transactions were read at once, and more are unread$/),
        });
    }
    // The tip, the states, the shared query, and what single accounts may spend.
    expect(most).toBeLessThanOrEqual(4 + SPARE_REQUESTS);
    await world.read(watched, watched);
    expect(proofOf(world.store, busy)).toMatchObject({ read_through: world.now() - 5, trouble: null });
  });

  it('leaves to each of twenty busy ones a share, and to a calm one its place', async () => {
    const world = openWorld();
    const calm = world.wallet('2');
    const busy = Array.from({ length: 20 }, (_, at): WatchedAddress => {
      const raw = `0:${(at + 100).toString(16).padStart(4, '0').repeat(16)}`;
      return { ...ton.normalizeAddress(raw, 'testnet'), since: world.now(), open: true };
    });
    const watched = [...busy, calm];
    await world.read(watched);
    for (let each = 0; each < 1500; each++) for (const one of busy) world.pay(one);
    world.pay(calm);
    let most = await world.read(watched);
    expect(creditsOf(world.store, calm)).toBe(1);
    for (let reading = 0; reading < 60; reading++) {
      if (reading % 10 === 0) world.pay(calm);
      most = Math.max(most, await world.read(watched));
    }
    expect(creditsOf(world.store, calm)).toBe(7);
    expect(most).toBeLessThanOrEqual(16);
    expect(busy.map((one) => creditsOf(world.store, one))).toEqual(busy.map(() => 1500));
  });

  it('is read with the others again when it is calm, at two requests for a reading', async () => {
    const world = openWorld();
    const [busy, calm] = [world.wallet('1'), world.wallet('2')];
    const watched = [busy, calm];
    await world.read(watched);
    for (let each = 0; each < 1200; each++) world.pay(busy);
    for (let reading = 0; reading < 5; reading++) await world.read(watched);
    expect(creditsOf(world.store, busy)).toBe(1200);
    for (let reading = 0; reading < 40; reading++) await world.read(watched);
    world.pay(busy);
    // Between two turns of all accounts.
    expect(Math.min(await world.read(watched), await world.read(watched))).toBe(2);
    expect(creditsOf(world.store, busy)).toBe(1201);
  });
});
