// The same seconds, requests and findings whatever a chain's blocks take, with batches of any size and without.
import { describe, expect, it } from 'vitest';
import {
  beginAt,
  type EvmCursor,
  extended,
  type Held,
  paceOf,
  sinceUnseen,
  withSighting,
} from '../../src/chains/evm/cursor.ts';
import { placeIn } from '../../src/chains/evm/depth.ts';
import { type EvmNetwork, networks } from '../../src/chains/evm/networks.ts';
import { measurePace } from '../../src/chains/pace.ts';
import { verifies } from '../requirements.ts';
import { EvmChain } from '../simulator/chains/evm.ts';
import { evmMethods } from '../simulator/chains/evm-node.ts';
import { Random } from '../simulator/random.ts';
import { createFront } from './evm-front.ts';
import { createEvmObserver, gatewayOf } from './evm-observer.ts';

const TOKEN = '0x036cbd53842c5426634e7929541ec2318f3dcf7e';
const START = 1_800_000_000;
const POLL_SECONDS = 6;
/** … and after one that left something to the next. */
const UNFINISHED_SECONDS = 1;
const REQUESTS_PER_SECOND = 4;
const STATE_BLOCKS = 128;
/** What waits for state that is gone meets the next payment before it is through. */
const PAID_EACH_SECONDS = 20;

interface Choice {
  network?: EvmNetwork;
  /** What a block takes on the chain. */
  seconds: number;
  batch?: number;
  /** Whether each request takes its share of a second. */
  is_limited?: boolean;
}

function open({ network = networks.base, seconds, batch = 20, is_limited = false }: Choice) {
  const time = { now: START };
  const chain = new EvmChain({
    random: new Random(`${network.name} ${seconds}`),
    now: () => time.now * 1000,
    block_seconds: seconds,
    history: 40,
  });
  /** How far each provider is behind, seconds. */
  const lag = { own: 0, other: 0 };
  const provider = (of: keyof typeof lag) => {
    const methods = evmMethods({
      chain,
      chain_id: network.chain_ids.mainnet,
      decimals: new Map([[TOKEN, 6]]),
      seen: () => time.now - lag[of],
      final_blocks: Math.ceil(60 / seconds),
      state_blocks: STATE_BLOCKS,
    });
    const front = createFront(async (method, ...params) => {
      chain.catchUp();
      const answer = methods[method];
      if (!answer) throw Object.assign(new Error(`${method} is not served`), { code: -32_601 });
      return answer(params);
    });
    front.batch_calls = batch;
    return front;
  };
  const [front, other] = [provider('own'), provider('other')];
  const rate = () => {
    if (is_limited) time.now += 1 / REQUESTS_PER_SECOND;
  };
  const rpc = {
    ...front.rpc,
    call: (method: string, params: never) => {
      rate();
      return front.rpc.call(method, params);
    },
    batch: (calls: never) => {
      rate();
      return front.rpc.batch(calls);
    },
  };
  const coin = gatewayOf(network, { chain: 'a-coin', decimals: 18 });
  const token = gatewayOf(network, { chain: 'a-token', token_contract: TOKEN });
  const options = { network, gateways: [coin, token], rpc, other: other.rpc, side: 'mainnet' as const };
  const observer = createEvmObserver({ ...options, now: () => Math.floor(time.now) });
  const to = observer.watch();
  const pass = (passed: number) => {
    time.now += passed;
    chain.catchUp();
  };
  const poll = async () => {
    pass(observer.is_unfinished ? UNFINISHED_SECONDS : POLL_SECONDS);
    await observer.read();
  };
  return { time, lag, chain, front, observer, to, pass, poll };
}

const minute = async ({ poll, front }: ReturnType<typeof open>) => {
  for (let waited = 0; waited < 180; waited += POLL_SECONDS) await poll();
  front.requests.length = 0;
  for (let waited = 0; waited < 60; waited += POLL_SECONDS) await poll();
  return { requests: front.requests.length, calls: front.requests.flat().length };
};

describe('an EVM chain at another pace', () => {
  it('is measured over spans, and by no single header', () => {
    const samples = Array.from({ length: 700 }, (_, at) => ({ height: at * 30, time: START + at * 6 }));
    expect(measurePace(samples.slice(0, 5), 0.2)).toBeNull();
    const pace = measurePace(samples, 0.2);
    expect(pace?.recent_seconds).toBeCloseTo(0.2);
    expect(pace?.hour_seconds).toBeCloseTo(0.2);
    // It stood still for ten minutes, or one header lies.
    const stalled = samples.map(({ height, time }, at) => ({ height, time: at > 690 ? time + 600 : time }));
    expect(measurePace(stalled, 0.2)?.recent_seconds).toBeCloseTo(0.2);
    const lied = samples.map((each, at) => (at === 695 ? { ...each, time: each.time + 3000 } : each));
    expect(measurePace(lied, 0.2)?.recent_seconds).toBeCloseTo(0.2, 1);
    const absurd = samples.map(({ height, time }) => ({ height: height * 1000, time }));
    expect(measurePace(absurd, 0.2)?.recent_seconds).toBeCloseTo(0.2 / 32);
  });

  it('costs an idle minute of Base no more at 0.2 s, or 0.02, than at 2 s', async () => {
    verifies('pace-cost');
    const slow = await minute(open({ seconds: 2 }));
    for (const seconds of [0.2, 0.02]) {
      const found = await minute(open({ seconds }));
      if (process.env.EVM_COSTS) console.log(seconds, found, slow);
      expect(found.requests).toBeLessThanOrEqual(32);
      expect(found.calls).toBeLessThanOrEqual(1.2 * slow.calls);
    }
  });

  it.each(
    Object.values(networks).flatMap((network) =>
      [0.1, 1, 10].flatMap((times) =>
        [20, 3, 0].map((batch) => ({ network, name: network.name, times, batch })),
      ),
    ),
  )(
    'confirms $name in the same seconds at $times times its blocks, with batches of $batch',
    async ({ network, times, batch }) => {
      verifies('pace-seconds');
      const seconds = network.block_seconds * times;
      const world = open({ network, seconds, batch });
      const { observer, chain, to, poll, time } = world;
      await observer.read();
      for (let waited = 0; waited < Math.max(130, 12 * seconds); waited += POLL_SECONDS) await poll();
      chain.payToken(TOKEN, to, 5n);
      let paid_at: number | undefined;
      const { depth_seconds } = network.final;
      for (let each = 0; each < 100; each++) {
        await poll();
        const [seen] = observer.to(to);
        paid_at ??= seen && chain.blockOf(seen.txid)?.timestamp;
        if ((seen?.depth_seconds ?? 0) >= depth_seconds) break;
      }
      expect(paid_at).toBeDefined();
      const took = time.now - (paid_at as number);
      // Times of blocks are whole seconds.
      expect(took).toBeGreaterThan(depth_seconds - 1);
      expect(took).toBeLessThanOrEqual(depth_seconds + POLL_SECONDS + 2 * seconds + 2);
    },
  );

  it.each([20, 130, 600].flatMap((outage) => [20, 3, 0].map((batch) => ({ outage, batch }))))(
    'is caught up with after $outage seconds, with batches of $batch',
    async ({ outage, batch }) => {
      verifies('pace-cost');
      const world = open({ seconds: 0.2, batch, is_limited: true });
      const { observer, chain, to, pass, poll, time } = world;
      await observer.read();
      for (let each = 0; each < 20; each++) await poll();
      pass(outage / 2);
      chain.send({ to, value: 7n });
      chain.payToken(TOKEN, to, 5n);
      pass(outage / 2);
      const back_at = time.now;
      const position = () => observer.family.positions?.(observer.cursor, observer.context.gateways)[0];
      let most_behind = 0;
      const behind = () => (time.now - START) / 0.2 + 40 - (observer.height() ?? 0);
      const took = { logs: 0, token: 0, coin: 0 };
      for (let each = 0; each < 150 && Object.values(took).includes(0); each++) {
        await poll();
        most_behind = Math.max(most_behind, position()?.behind_seconds ?? 0);
        const amounts = observer.amounts(to);
        const since = Math.round(time.now - back_at);
        if (behind() * 0.2 < 20) took.logs ||= since;
        if (amounts.includes(5n)) took.token ||= since;
        if (amounts.includes(7n)) took.coin ||= since;
      }
      if (process.env.EVM_COSTS) console.log('outage', outage, 'batch', batch, took);
      expect(took.logs).toBeGreaterThan(0);
      expect(took.token).toBeGreaterThan(0);
      expect(took.token).toBeLessThanOrEqual(45);
      expect(took.logs).toBeLessThanOrEqual(60);
      expect(took.coin).toBeGreaterThan(0);
      for (let each = 0; each < 5; each++) await poll();
      expect(observer.unreadable).toEqual([]);
      // How far the coin is, as figures: of the stored cursor, whole or not.
      const { chain: asset, height = 0, behind_seconds } = position() ?? {};
      expect(asset).toBe('a-coin');
      expect(behind_seconds).toBeLessThanOrEqual(2 * POLL_SECONDS);
      expect(height).toBeLessThanOrEqual(observer.height() as number);
      if (outage === 600 && batch === 0) expect(most_behind).toBeGreaterThan(20);
      expect(observer.family.positions?.(null, observer.context.gateways)).toEqual([]);
      expect(observer.family.positions?.({ held: 'damaged' }, observer.context.gateways)).toEqual([]);
    },
    60_000,
  );

  it.each([20, 3, 0])(
    'is caught up with while payments continue, with batches of %i',
    async (batch) => {
      verifies('pace-cost');
      const world = open({ seconds: 0.2, batch, is_limited: true });
      const { observer, chain, to, pass, poll, time } = world;
      await observer.read();
      for (let each = 0; each < 20; each++) await poll();
      pass(130);
      const back_at = time.now;
      let paid = 0;
      let next_at = back_at - 65;
      let took = 0;
      for (let each = 0; each < 200 && took === 0; each++) {
        // Nodes forget the state of what is older than this.
        for (; time.now >= next_at; next_at += PAID_EACH_SECONDS) chain.send({ to, value: BigInt(++paid) });
        await poll();
        const [position] = observer.family.positions?.(observer.cursor, observer.context.gateways) ?? [];
        if ((position?.behind_seconds ?? 99) <= 2 * POLL_SECONDS) took = Math.round(time.now - back_at);
      }
      if (process.env.EVM_COSTS) console.log('busy, batch', batch, took, paid);
      expect(took).toBeGreaterThan(0);
      expect(took).toBeLessThanOrEqual(700);
      for (let each = 0; each < 12; each++) await poll();
      expect(observer.unreadable).toEqual([]);
      // Each to its transaction, and none left over as an increase that no one explains.
      expect(observer.amounts(to)).toEqual(Array.from({ length: paid }, (_, at) => BigInt(at + 1)));
      expect(observer.to(to).filter(({ ambiguous }) => ambiguous != null)).toEqual([]);
    },
    60_000,
  );

  it.each([
    { says: 'one provider that is 16 s behind', own: 16, other: 0 },
    { says: 'two providers that are both 16 s behind', own: 16, other: 16 },
    { says: 'two providers that are both 28 s behind', own: 28, other: 28 },
  ])('takes nothing back for $says, at 0.2 s', async ({ own, other }) => {
    verifies('pace-seconds');
    const { observer, chain, lag, to, pass, poll } = open({ seconds: 0.2 });
    await observer.read();
    for (let each = 0; each < 20; each++) await poll();
    chain.send({ to, value: 7n });
    chain.payToken(TOKEN, to, 5n);
    for (let each = 0; each < 4; each++) await poll();
    const placed = observer.to(to).map(({ txid, block_hash }) => ({ txid, block_hash }));
    expect(placed).toHaveLength(2);
    const stood = observer.height() as number;
    observer.pages.length = 0;
    Object.assign(lag, { own, other });
    let refused = 0;
    for (let waited = 0; waited < 120; waited += 2) {
      const before = observer.height() as number;
      if (!(await observer.tryRead())) refused++;
      // Never back, not by a block.
      expect(observer.height()).toBeGreaterThanOrEqual(before);
      pass(2);
    }
    // It was behind what had been read at first, and says that alone.
    expect(refused).toBeGreaterThan(0);
    for (const { message } of observer.errors) expect(message).toMatch(/the provider is behind: it is at/);
    for (const { message } of observer.errors) expect(message).not.toMatch(/on another branch/);
    expect(observer.pages.flatMap(({ orphaned_blocks }) => orphaned_blocks ?? [])).toEqual([]);
    expect(observer.to(to).map(({ txid, block_hash }) => ({ txid, block_hash }))).toEqual(placed);
    expect(observer.height()).toBeGreaterThan(stood + 300);
  });
});

/** Less than what makes a provider count as stuck. */
const STOP_SECONDS = 90;

describe('a sequencer that makes up for a stop', () => {
  it.each([20, 3, 0])('confirms no sooner by the times that it writes, with batches of %i', async (batch) => {
    verifies('seconds-decide');
    const { observer, chain, to, poll, lag, time } = open({ seconds: 0.2, batch });
    await observer.read();
    for (let waited = 0; waited < 120; waited += POLL_SECONDS) await poll();
    // It stands still, and then makes the blocks of that time at once, each with the time that it should have had.
    chain.payToken(TOKEN, to, 5n);
    for (let waited = 0; waited < STOP_SECONDS; waited += POLL_SECONDS) {
      lag.own += POLL_SECONDS;
      await poll();
    }
    expect(observer.to(to)).toEqual([]);
    lag.own = 0;
    await poll();
    const seen_at = time.now;
    const [seen] = observer.to(to);
    expect(seen?.confirmations).toBeGreaterThan(networks.base.final.depth_seconds / 0.2);
    // It was not there when it was read before.
    expect(seen?.depth_seconds).toBeLessThanOrEqual(POLL_SECONDS);
    for (let each = 0; each < 30; each++) {
      await poll();
      const depth_seconds = observer.to(to)[0]?.depth_seconds ?? 0;
      expect(depth_seconds).toBeLessThanOrEqual(time.now - seen_at + POLL_SECONDS);
      if (depth_seconds >= networks.base.final.depth_seconds) break;
    }
    expect(time.now - seen_at).toBeLessThanOrEqual(networks.base.final.depth_seconds + POLL_SECONDS);
  });
});

describe('looks that did not show a block', () => {
  it.each([1, 2, 6, 60])('are not forgotten while each is %i s after the last', (apart) => {
    verifies('seconds-decide');
    const STOP = 3 * 3_600;
    let cursor: EvmCursor = withSighting(beginAt(1_000, 'block 1000', 0), 0);
    const look = (height: number, at: number) => {
      cursor = withSighting(extended(cursor, [[height, `block ${height}`, at]], []), at);
    };
    for (let at = apart; at < 600; at += apart) look(1_000 + at, at);
    const stood = cursor.seen?.at(-1)?.[1] as number;
    // What is made up for shows in two looks.
    const shown = [stood + STOP, stood + STOP + apart] as const;
    look(20_000, shown[0]);
    look(30_000, shown[1]);
    for (let age = apart; age <= 7_200; age += apart) {
      look(30_000 + age, shown[1] + age);
      expect(sinceUnseen(cursor, 30_000)).toBeGreaterThanOrEqual(age + apart);
      expect(sinceUnseen(cursor, 30_000)).toBeLessThanOrEqual(1.1 * (age + apart));
      expect(sinceUnseen(cursor, 30_001)).toBeGreaterThanOrEqual(age);
      expect(sinceUnseen(cursor, 30_001)).toBeLessThanOrEqual(1.1 * age + apart);
      expect(cursor.seen?.length).toBeLessThan(150);
    }
  });
});

describe.each(Object.entries(networks))('after %s has stood still', (_, network) => {
  const { block_seconds, final } = network;
  it.each([60, 600, 7_200])('for %d s, time alone makes nothing deep', (stall_seconds) => {
    verifies('seconds-decide');
    let time = START;
    let height = 0;
    let cursor: EvmCursor = beginAt(0, 'block 0', START);
    const grow = (seconds: number) => {
      time += seconds;
      height++;
      const block: Held = [height, `block ${height}`, Math.floor(time)];
      cursor = withSighting(extended(cursor, [block], []), Math.floor(time));
      const pace = paceOf(cursor, block_seconds)?.recent_seconds;
      if (pace !== undefined) cursor = { ...cursor, block_seconds: pace };
    };
    while (time < START + 3_600) grow(block_seconds);
    const paid = { height, time: Math.floor(time) };
    grow(stall_seconds);
    // A block may be missing now and then.
    const least = (seconds: number) => Math.ceil((0.9 * seconds) / block_seconds) - 1;
    for (; height - paid.height < 2 * least(final.alone_seconds); grow(block_seconds)) {
      const depth = placeIn(network, cursor, paid.height, paid.time);
      const built = height - paid.height;
      if (built < least(final.depth_seconds) * 0.9)
        expect(depth.depth_seconds).toBeLessThan(final.depth_seconds);
      if (built < least(final.alone_seconds) * 0.9) expect(depth.final).toBe(false);
      if (depth.final) return;
    }
    expect.unreachable();
  });
});
