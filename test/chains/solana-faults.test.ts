// One Solana account in trouble, a node that lists late, wallets that forward and strangers that send dust: no payment is missed.
import { describe, expect, it } from 'vitest';
import { ProviderError } from '../../src/chains/family.ts';
import type { HostLimits, LimitName } from '../../src/chains/known-hosts.ts';
import { TOKEN_PROGRAM } from '../../src/chains/solana/address.ts';
import { INDEX_MARGIN_SECONDS } from '../../src/chains/solana/listing.ts';
import { verifies } from '../requirements.ts';
import {
  createModel,
  keyOf,
  type ModelPace,
  type Payment,
  type SolanaModel,
  usualPace,
} from './solana-model.ts';
import { createReader, type Reader, type ReaderOptions } from './solana-reader.ts';

const START = 1_800_000_000;
const PAUSE_SECONDS = 4;
/** What the default pace leaves to single accounts. */
const SPARE_REQUESTS = 8;
/** From a payment to the finalized block that has it, seconds. */
const FINAL_SECONDS = 13;
const [ONE, OTHER] = [keyOf(1), keyOf(2)] as const;

/** Wallets that have something, watched and read once. */
async function world(owners: string[], options: ReaderOptions = {}) {
  const model = createModel(START);
  for (const owner of owners) model.grant(owner, 1_000_000_000n);
  const limits = { sweep_ticks: 15, sweeps_per_tick: 4, ...options.limits };
  const reader = createReader(model, owners, {
    since: START,
    spare_requests: SPARE_REQUESTS,
    ...options,
    limits,
  });
  await reader.tick();
  return { model, reader };
}

async function pass(model: SolanaModel, reader: Reader, seconds = PAUSE_SECONDS): Promise<string[]> {
  model.now += seconds;
  const asked = await reader.cost();
  expect(reader.errors).toEqual([]);
  return asked;
}

const memos = (reader: Reader) => reader.transfers().map(({ memo }) => memo);
const proved = (reader: Reader, owner: string) => reader.proof(owner)?.read_through ?? 0;
const forward = (model: SolanaModel, payment: Payment) => {
  model.pay(payment);
  const { to: from, amount, listed_after } = payment;
  model.pay({ from, to: keyOf(99, 4), amount, ...(listed_after === undefined ? {} : { listed_after }) });
};

describe('an account that is read first long after its watch began', () => {
  const since = START;
  /** Of a daemon that was away for so long. */
  const AWAY_SECONDS = 400;

  it('is not proved by a balance that no listed transaction explains, until one does', async () => {
    verifies('end-proved');
    const model = createModel(START);
    model.now += 10;
    model.pay({ to: ONE, amount: 7n, memo: 'MEANWHILE', listed_after: AWAY_SECONDS + 30 });
    model.now = START + AWAY_SECONDS;
    const reader = createReader(model, [ONE], { since });
    reader.ask([{ address_key: ONE, chain: 'solana' }]);
    await pass(model, reader);
    expect([memos(reader), reader.proof(ONE)]).toEqual([[], undefined]);
    for (let seconds = 0; seconds < 60; seconds += PAUSE_SECONDS) await pass(model, reader);
    expect(memos(reader)).toEqual(['MEANWHILE']);
    expect(proved(reader, ONE)).toBeGreaterThan(START + AWAY_SECONDS);
  });

  it('is proved at once where a transaction of before left what it holds, and after a minute where the node forgot it', async () => {
    const model = createModel(START - 1000);
    model.pay({ to: ONE, amount: 7n });
    model.grant(OTHER, 7n);
    model.now = START + AWAY_SECONDS;
    const reader = createReader(model, [ONE, OTHER], { since });
    await pass(model, reader);
    expect(proved(reader, ONE)).toBeGreaterThan(START + AWAY_SECONDS - 60);
    expect(reader.proof(OTHER)).toBeUndefined();
    for (let seconds = 0; seconds < 70; seconds += PAUSE_SECONDS) await pass(model, reader);
    expect(proved(reader, OTHER)).toBeGreaterThan(START + AWAY_SECONDS);
    const asked = await pass(model, reader);
    expect(asked).not.toContain('getSignaturesForAddress');
  });
});

describe('an account that is listed first long after its balance was seen', () => {
  const LISTED_AFTER = 900;
  /** Nothing may be proved before what was paid at the beginning is listed, and then all of it. */
  async function passUnproved(model: SolanaModel, reader: Reader, owners: string[], until: number) {
    const made_at = START + 1;
    while (model.now + PAUSE_SECONDS < until) {
      await pass(model, reader);
      for (const owner of owners) expect(proved(reader, owner)).toBeLessThanOrEqual(made_at);
    }
    for (let at = 0; at < 40; at++) await pass(model, reader, 120);
    expect(new Set(memos(reader))).toEqual(new Set(owners));
    expect(owners.filter((owner) => proved(reader, owner) <= made_at)).toEqual([]);
  }

  it('as one of many that are watched at once, is not proved without what was paid meanwhile', async () => {
    verifies('end-proved');
    const owners = Array.from({ length: 100 }, (_, at) => keyOf(at));
    const { model, reader } = await world(owners);
    const waiting = owners.filter((owner) => reader.proof(owner) === undefined);
    expect(waiting.length).toBeGreaterThan(50);
    for (const owner of waiting)
      model.pay({ to: owner, amount: 1n, memo: owner, listed_after: LISTED_AFTER });
    await passUnproved(model, reader, waiting, START + LISTED_AFTER);
  });

  it('is listed again where the first list is too young to have what its balance already shows', async () => {
    verifies('read-again');
    const owners = Array.from({ length: 60 }, (_, at) => keyOf(at));
    const model = createModel(START);
    for (const owner of owners) model.grant(owner, 1_000_000_000n);
    for (const owner of owners) model.pay({ to: owner, amount: 1n, memo: owner, listed_after: 15 });
    // Without a sweep, which would find it later.
    const reader = createReader(model, owners, { since: START, spare_requests: SPARE_REQUESTS });
    for (let seconds = 0; seconds < 80; seconds += PAUSE_SECONDS) await pass(model, reader);
    expect(new Set(memos(reader))).toEqual(new Set(owners));
  });

  it('as listing it fails before, is not proved without what was paid meanwhile', async () => {
    verifies('end-proved');
    const model = createModel(START);
    model.grant(ONE, 1_000_000_000n);
    model.fail(ONE, new ProviderError('rpc', 'it cannot be listed', -32000));
    const reader = createReader(model, [ONE], { since: START, spare_requests: SPARE_REQUESTS });
    await pass(model, reader, 0);
    model.pay({ to: ONE, amount: 1n, memo: ONE, listed_after: LISTED_AFTER });
    let asked = 0;
    for (let seconds = 0; seconds < 200; seconds += PAUSE_SECONDS)
      asked += (await pass(model, reader)).filter((method) => method === 'getSignaturesForAddress').length;
    expect(asked).toBeLessThan(10);
    model.fail(ONE, undefined);
    await passUnproved(model, reader, [ONE], START + LISTED_AFTER);
  });
});

describe('an account in trouble', () => {
  it('of a transaction that is listed and never delivered delays no other, and is left alone for longer and longer', async () => {
    verifies('account-own-trouble');
    const { model, reader } = await world([ONE, OTHER]);
    const poison = model.pay({ to: ONE, amount: 1n, memo: 'POISON', delivered_after: 400 });
    model.pay({ to: ONE, amount: 2n, memo: 'AFTER' });
    model.pay({ to: OTHER, amount: 3n, memo: 'OTHER' });
    const before = proved(reader, ONE);
    await pass(model, reader);
    expect(memos(reader).sort()).toEqual(['AFTER', 'OTHER']);
    expect(reader.proof(ONE)).toMatchObject({
      failed: true,
      trouble: `transaction ${poison} is listed, but not delivered`,
    });
    let asked = 0;
    for (let at = 0; at < 80; at++) {
      asked += (await pass(model, reader)).filter((method) => method === 'getTransaction').length;
      expect(proved(reader, ONE)).toBe(before);
    }
    expect(asked).toBeLessThan(12);
    expect(proved(reader, OTHER)).toBeGreaterThan(before);
    for (let at = 0; at < 80; at++) await pass(model, reader);
    expect(memos(reader).sort()).toEqual(['AFTER', 'OTHER', 'POISON']);
    expect(reader.proof(ONE)).toMatchObject({ failed: false, trouble: null });
  });

  it('of more than a hundred transactions that are never delivered still has its payments read', async () => {
    verifies('account-own-trouble');
    const { model, reader } = await world([ONE]);
    Object.assign(reader.context, { spare_requests: 500 });
    const before = proved(reader, ONE);
    for (let at = 0; at < 30; at++) {
      for (let each = 0; each < 5; each++) model.pay({ to: ONE, amount: 1n, delivered_after: 10_000_000 });
      await pass(model, reader, 1_200);
    }
    model.pay({ to: ONE, amount: 5n, memo: 'PAID' });
    for (let at = 0; at < 5; at++) await pass(model, reader, 1_200);
    expect(memos(reader).filter((memo) => memo !== null)).toEqual(['PAID']);
    expect(proved(reader, ONE)).toBe(before);
  });

  it('that makes the node run out of time is not an outage; a node that answers nothing is', async () => {
    verifies('account-own-trouble');
    const { model, reader } = await world([ONE, OTHER]);
    model.pay({ to: ONE, amount: 1n, memo: 'SLOW' });
    model.pay({ to: OTHER, amount: 2n, memo: 'OTHER' });
    const timeout = new ProviderError('unreachable', 'no complete answer in 20000 ms');
    model.fail(ONE, timeout);
    await pass(model, reader);
    expect(memos(reader)).toEqual(['OTHER']);
    expect(reader.proof(ONE)).toMatchObject({ failed: true, trouble: timeout.message });
    model.fail(ONE, undefined);
    await pass(model, reader, 2 * PAUSE_SECONDS);
    expect(memos(reader)).toEqual(['OTHER', 'SLOW']);
    const { call } = reader.rpc;
    reader.rpc.call = async () => {
      throw timeout;
    };
    expect(await reader.tick()).toBe(false);
    reader.rpc.call = call;
  });

  it.each([
    ['is refused', new ProviderError('rpc', 'data too large', -32600)],
    ['breaks off', new ProviderError('bad_answer', 'an answer of over 67108864 bytes')],
  ])(
    'whose state no answer can hold keeps hundreds of others from nothing, where it %s',
    async (_, error) => {
      verifies('account-own-trouble');
      const owners = Array.from({ length: 250 }, (_, at) => keyOf(at));
      const { model, reader } = await world(owners);
      const huge = owners[42] as string;
      const { call } = reader.rpc;
      reader.rpc.call = async (method, params) => {
        const answer = await call(method, params);
        if (method === 'getMultipleAccounts' && JSON.stringify(params).includes(huge)) throw error;
        return answer;
      };
      for (const owner of owners) model.pay({ to: owner, amount: 1n, memo: owner });
      for (let at = 0; at < 30; at++) await pass(model, reader);
      expect(new Set(memos(reader))).toEqual(new Set(owners.filter((owner) => owner !== huge)));
      expect(reader.proof(huge)).toMatchObject({ failed: true, trouble: error.message });
      expect(owners.filter((owner) => reader.proof(owner)?.failed)).toEqual([huge]);
      // Halving costs a few requests of each reading, and no more.
      expect((await pass(model, reader)).length).toBeLessThanOrEqual(1 + 3 + 2 * 14 + 2 * SPARE_REQUESTS);
      reader.rpc.call = call;
      for (let at = 0; at < 12; at++) await pass(model, reader, 120);
      expect(memos(reader)).toContain(huge);
      expect(reader.proof(huge)?.trouble).toBeNull();
    },
  );

  it('of a replica that is behind is asked for once more, and the reading continues', async () => {
    verifies('account-own-trouble', 'read-again');
    const owners = Array.from({ length: 250 }, (_, at) => keyOf(at));
    let asked = 0;
    let is_lagging = false;
    // A third of the replicas has not even the finalized slot.
    const model = createModel(START);
    for (const owner of owners) model.grant(owner, 1_000n);
    const reader = createReader(model, owners, { since: START, spare_requests: SPARE_REQUESTS });
    await reader.tick();
    const { call } = reader.rpc;
    reader.rpc.call = async (method, params) => {
      const isScan = method === 'getMultipleAccounts' && JSON.stringify(params).includes('minContextSlot');
      if (isScan && is_lagging && asked++ % 3 === 0)
        throw new ProviderError('rpc', 'Minimum context slot has not been reached', -32016);
      return call(method, params);
    };
    is_lagging = true;
    for (const owner of owners) model.pay({ to: owner, amount: 1n, memo: owner });
    for (let at = 0; at < 30; at++) await pass(model, reader);
    expect(new Set(memos(reader))).toEqual(new Set(owners));
    expect(owners.filter((owner) => reader.proof(owner)?.trouble)).toEqual([]);
  });

  it('that is no wallet is reported to be none, and is not read', async () => {
    verifies('account-own-trouble');
    const { model, reader } = await world([ONE, OTHER]);
    model.own(ONE, TOKEN_PROGRAM);
    model.pay({ to: ONE, amount: 1n, memo: 'ONE' });
    model.pay({ to: OTHER, amount: 1n, memo: 'OTHER' });
    await pass(model, reader);
    expect(memos(reader)).toEqual(['OTHER']);
    expect(reader.proof(ONE)).toMatchObject({
      failed: true,
      trouble: 'This is the address of a token account; give the address of your wallet',
    });
    model.own(ONE, keyOf(5, 5));
    await pass(model, reader, 10);
    expect(reader.proof(ONE)?.trouble).toContain(`belongs to the program ${keyOf(5, 5)}`);
  });
});

describe('a replica that is behind', () => {
  const behind = () => new ProviderError('rpc', 'Minimum context slot has not been reached', -32_016);

  it('that takes no list of an account is no trouble of the account: it is listed with the next reading', async () => {
    verifies('account-own-trouble', 'read-again');
    const { model, reader } = await world([ONE, OTHER]);
    const { call } = reader.rpc;
    let refused = 0;
    reader.rpc.call = async (method, params) => {
      if (method === 'getSignaturesForAddress' && refused < 5) {
        refused++;
        throw behind();
      }
      return call(method, params);
    };
    model.pay({ to: ONE, amount: 1n, memo: 'ONE' });
    model.pay({ to: OTHER, amount: 1n, memo: 'OTHER' });
    reader.ask([ONE, OTHER].map((address_key) => ({ address_key, chain: 'solana' })));
    for (let at = 0; at < 6 && refused < 5; at++) await pass(model, reader);
    expect([reader.proof(ONE)?.failed ?? false, reader.proof(OTHER)?.failed ?? false]).toEqual([
      false,
      false,
    ]);
    await pass(model, reader);
    expect(new Set(memos(reader))).toEqual(new Set(['ONE', 'OTHER']));
  });

  it('is the provider’s own trouble where all of them are behind, and no account’s', async () => {
    verifies('account-own-trouble');
    const { model, reader } = await world([ONE, OTHER]);
    const { call } = reader.rpc;
    model.pay({ to: ONE, amount: 1n, memo: 'ONE' });
    let asked = 0;
    reader.rpc.call = async (method, params) => {
      const isOfTip = JSON.stringify(params).includes('minContextSlot');
      // The balances come from one that is not, before the others are asked.
      if (isOfTip && asked++ > 0) throw behind();
      return call(method, params);
    };
    model.now += 10;
    expect(await reader.tick()).toBe(false);
    expect(reader.errors.at(-1)?.code).toBe(-32_016);
    expect([ONE, OTHER].filter((owner) => reader.proof(owner)?.failed)).toEqual([]);
  });
});

describe('how many accounts a node takes at once', () => {
  it.each([
    ['getMultipleAccounts is limited to 10 accounts on this plan', [10]],
    ['invalid params', []],
  ])('is known after a restart where it says so: %s', async (message, remaining) => {
    verifies('refusals-known');
    const owners = Array.from({ length: 40 }, (_, at) => keyOf(at));
    const model = createModel(START);
    for (const owner of owners) model.grant(owner, 1_000n);
    const reader = createReader(model, owners, { since: START, spare_requests: SPARE_REQUESTS });
    const stored = new Map<LimitName, number>();
    const { call } = reader.rpc;
    const sizes: number[] = [];
    Object.assign(reader.rpc, {
      limits: {
        get: (name: LimitName) => stored.get(name),
        learn: (name: LimitName, value: number) => void stored.set(name, value),
      } satisfies HostLimits,
      call: async (method: string, params: [string[]]) => {
        if (method !== 'getMultipleAccounts' || !JSON.stringify(params).includes('minContextSlot'))
          return call(method, params);
        sizes.push(params[0].length);
        if (params[0].length > 10) throw new ProviderError('rpc', message, -32_602);
        return call(method, params);
      },
    });
    await pass(model, reader);
    expect(sizes.at(-1)).toBeLessThanOrEqual(10);
    expect([...stored.values()]).toEqual(remaining);
    reader.restart();
    sizes.length = 0;
    await pass(model, reader);
    expect(sizes[0]).toBe(remaining[0] ?? 40);
  });
});

describe('a node whose index is late', () => {
  it('lists a signature after any time, and it is read: the balance stays unexplained until then', async () => {
    verifies('end-proved', 'read-again');
    for (const late of [30, 300, 3000]) {
      const { model, reader } = await world([ONE]);
      model.now += 100;
      const made_at = model.timeOf(model.slot() + 1);
      model.pay({ to: ONE, amount: 55_000_000n, memo: 'LATE', listed_after: late });
      model.now += 40;
      model.pay({ to: ONE, amount: 1_000n, memo: 'SOON' });
      await pass(model, reader);
      if (late > 40) expect(memos(reader)).toEqual(['SOON']);
      let waited = 0;
      for (; !memos(reader).includes('LATE') && waited < 2 * late + 700; waited += PAUSE_SECONDS) {
        expect(proved(reader, ONE)).toBeLessThanOrEqual(made_at);
        await pass(model, reader);
        const is_shown = waited > 100 && !memos(reader).includes('LATE');
        if (is_shown) expect(reader.proof(ONE)?.trouble).toContain('one of them is not listed');
      }
      const sum = reader.transfers().reduce((total, { amount_atomic }) => total + amount_atomic, 0n);
      expect(sum).toBe(55_001_000n);
      reader.ask([{ address_key: ONE, chain: 'solana' }]);
      for (let at = 0; at < 12; at++) await pass(model, reader);
      expect(proved(reader, ONE)).toBeGreaterThan(made_at);
      expect(reader.proof(ONE)?.trouble).toBeNull();
    }
  });

  it('by 15 s is asked again until the payment is there, with one merchant and with hundreds', async () => {
    for (const merchants of [1, 400]) {
      const owners = Array.from({ length: merchants }, (_, at) => keyOf(at));
      const { model, reader } = await world(owners);
      for (let at = 0; at < 120; at++) await pass(model, reader);
      const paid = owners.at(-1) as string;
      model.pay({ to: paid, amount: 7n, memo: 'PAID', listed_after: 15 });
      for (let waited = 0; waited < 15 + PAUSE_SECONDS; waited += PAUSE_SECONDS) await pass(model, reader);
      expect(memos(reader)).toEqual(['PAID']);
    }
  });

  it('lists two transactions that cancel each other out after what a proof assumes, and both are read where it lists them', async () => {
    const { model, reader } = await world([ONE]);
    model.now += 100;
    forward(model, { to: ONE, amount: 9_000n, memo: 'PAIR', listed_after: 100 });
    model.now += 40;
    model.pay({ to: ONE, amount: 1_000n, memo: 'FIRST' });
    await pass(model, reader);
    model.now += 60;
    model.pay({ to: ONE, amount: 1_000n, memo: 'SECOND' });
    await pass(model, reader);
    expect(memos(reader).sort()).toEqual(['FIRST', 'PAIR', 'SECOND']);
    expect(reader.proof(ONE)?.trouble).toBeNull();
  });
});

describe('a node without an index', () => {
  it('that lists nothing of what was listed before proves nothing', async () => {
    verifies('end-proved');
    let lists_nothing = false;
    const model = createModel(START, () => ({ lists_nothing }));
    model.grant(ONE, 1_000_000n);
    const reader = createReader(model, [ONE], { since: START, spare_requests: SPARE_REQUESTS });
    model.pay({ to: ONE, amount: 5n, memo: 'KNOWN' });
    for (let at = 0; at < 20; at++) await pass(model, reader);
    lists_nothing = true;
    const before = proved(reader, ONE);
    forward(model, { to: ONE, amount: 7n, memo: 'UNLISTED' });
    reader.ask([{ address_key: ONE, chain: 'solana' }]);
    for (let at = 0; at < 25; at++) await pass(model, reader);
    expect(proved(reader, ONE)).toBe(before);
    expect(reader.proof(ONE)).toMatchObject({ failed: true });
    expect(reader.proof(ONE)?.trouble).toContain('the node does not list what it listed before');
    lists_nothing = false;
    for (let at = 0; at < 30; at++) await pass(model, reader);
    expect(memos(reader)).toEqual(['KNOWN', 'UNLISTED']);
    expect(proved(reader, ONE)).toBeGreaterThan(before);
  });
});

describe('a payment on a branch that lost', () => {
  const paces: [string, ModelPace][] = [
    ['a slot of 200 ms', usualPace],
    ['a slot of 400 ms', { slot_seconds: 0.4, final_slots: 32 }],
  ];
  it.each(paces)(
    'is given up when its blockhash has expired, and the account is proved again, with %s',
    async (_, pace) => {
      verifies('gone-needs-proof');
      // What is final is asked for: only a node that answers with more has it before.
      const model = createModel(START, () => ({ answers_early: true }), pace);
      model.grant(ONE, 1_000_000_000n);
      const reader = createReader(model, [ONE], { since: START, spare_requests: SPARE_REQUESTS });
      await reader.tick();
      for (let at = 0; at < 20; at++) await pass(model, reader);
      const txid = model.pay({ to: ONE, amount: 5n, memo: 'LOST' });
      await pass(model, reader, 1.5 * pace.slot_seconds);
      const [transfer] = reader.transfers();
      expect(transfer).toMatchObject({ memo: 'LOST', final: false });
      model.drop(txid);
      const pending = [
        {
          chain: 'solana',
          address_key: ONE,
          txid,
          index: transfer?.index ?? '',
          height: transfer?.height ?? 0,
          block_hash: null,
          first_seen_at: model.now,
          inputs: [],
          blockhash: transfer?.blockhash ?? null,
        },
      ];
      const dropped_at = model.now;
      let gone_at: number | undefined;
      for (let at = 0; at < 100; at++) {
        await pass(model, reader);
        const [update] = await reader.recheck(pending);
        if (!update) continue;
        expect(update).toMatchObject({ state: 'gone' });
        gone_at ??= model.now;
      }
      // 300 slots, and a minute between the two readings that prove it.
      const expired_after = 300 * pace.slot_seconds;
      expect((gone_at ?? 0) - dropped_at).toBeGreaterThan(expired_after + 60);
      expect((gone_at ?? 0) - dropped_at).toBeLessThan(expired_after + 120);
      model.pay({ to: ONE, amount: 6n, memo: 'LEFT' });
      await pass(model, reader);
      reader.ask([{ address_key: ONE, chain: 'solana' }]);
      for (let at = 0; at < 20; at++) await pass(model, reader);
      expect(memos(reader)).toEqual(['LOST', 'LEFT']);
      expect(proved(reader, ONE)).toBeGreaterThan(model.now - 100);
      expect(reader.proof(ONE)?.trouble).toBeNull();
    },
  );
});

describe('a wallet that forwards at once', () => {
  it('is proved by its list alone: with 400 addresses, a payment of minutes before the end is never missed', async () => {
    verifies('end-proved');
    const owners = Array.from({ length: 400 }, (_, at) => keyOf(at));
    const { model, reader } = await world(owners, { limits: { sweep_ticks: 1_000, sweeps_per_tick: 4 } });
    for (let at = 0; at < 20; at++) await pass(model, reader);
    const ends_at = START + 400;
    const paid = owners[333] as string;
    model.now = ends_at - 260;
    forward(model, { to: paid, amount: 7_000_000n, memo: 'FORWARDED' });
    while (model.now < ends_at) {
      await pass(model, reader);
      expect(proved(reader, paid)).toBeLessThan(ends_at);
    }
    reader.ask([{ address_key: paid, chain: 'solana' }]);
    const asked = await pass(model, reader);
    expect(memos(reader)).toEqual(['FORWARDED']);
    expect(asked.length).toBeLessThanOrEqual(1 + 4 + SPARE_REQUESTS);
    // It is proved by a listing so long after the end that the index has what was made until then.
    for (let waited = 0; proved(reader, paid) < ends_at; waited += PAUSE_SECONDS) {
      expect(waited).toBeLessThan(FINAL_SECONDS + 2 * INDEX_MARGIN_SECONDS + PAUSE_SECONDS);
      await pass(model, reader);
    }
  });

  it('while hundreds of invoices end at once, has its turn: none is proved before it is listed', async () => {
    verifies('end-proved', 'account-own-trouble');
    const owners = Array.from({ length: 60 }, (_, at) => keyOf(at));
    const { model, reader } = await world(owners);
    // What is new to the reader is asked again when its index must have caught up.
    for (let at = 0; at < 20; at++) await pass(model, reader);
    const ends_at = START + 300;
    model.now = ends_at - 100;
    for (const owner of owners) forward(model, { to: owner, amount: 5n, memo: owner });
    model.now = ends_at;
    let readings = 0;
    for (; owners.some((owner) => proved(reader, owner) < ends_at); readings++) {
      expect(readings).toBeLessThan(100);
      const due = owners.filter((owner) => proved(reader, owner) < ends_at);
      reader.ask(due.map((address_key) => ({ address_key, chain: 'solana' })));
      const asked = await pass(model, reader);
      expect(asked.filter((method) => method === 'getSignaturesForAddress').length).toBeLessThanOrEqual(
        2 * SPARE_REQUESTS,
      );
      for (const owner of owners)
        if (proved(reader, owner) >= ends_at) expect(memos(reader)).toContain(owner);
    }
    expect(memos(reader).sort()).toEqual([...owners].sort());
  });
});

describe('dust', () => {
  const dust = (model: SolanaModel, count: number) => {
    for (let at = 0; at < count; at++) model.pay({ to: ONE, amount: 1n });
  };

  it('of 1,500 transactions on one account delays no one: others are stored within one reading', async () => {
    verifies('account-own-trouble');
    const { model, reader } = await world([ONE, OTHER]);
    for (let at = 0; at < 3; at++) {
      dust(model, 500);
      model.now += 2;
    }
    model.pay({ to: OTHER, amount: 7n, memo: 'OTHER' });
    model.pay({ to: ONE, amount: 8n, memo: 'FRESH' });
    const first = await pass(model, reader);
    expect(memos(reader)).toContain('OTHER');
    expect(first.length).toBeLessThanOrEqual(4 + 2 * SPARE_REQUESTS);
    // What came last is read ahead of its turn: somebody may be waiting for it.
    expect(memos(reader)).toContain('FRESH');
    expect(reader.proof(ONE)).toMatchObject({ failed: false });
    expect(reader.proof(ONE)?.trouble).toContain('transactions are still to be read');
    let most = first.length;
    let readings = 1;
    for (; reader.proof(ONE)?.trouble !== null; readings++) {
      expect(readings).toBeLessThan(500);
      if (readings % 50 === 0) {
        model.pay({ to: OTHER, amount: 7n, memo: `OTHER ${readings}` });
        await pass(model, reader);
        expect(memos(reader)).toContain(`OTHER ${readings}`);
      }
      most = Math.max(most, (await pass(model, reader)).length);
    }
    expect(most).toBeLessThanOrEqual(4 + 2 * SPARE_REQUESTS);
    expect(reader.transfers().filter(({ address_key }) => address_key === ONE)).toHaveLength(1_501);
    expect(model.requests.length).toBeLessThan(1_501 + 4 * readings);
  });

  it('of 100,000 transactions on one account costs no reading more than what there is to spare', async () => {
    verifies('account-own-trouble');
    const { model, reader } = await world([ONE, OTHER]);
    dust(model, 100_000);
    for (let at = 0; at < 20; at++) {
      model.pay({ to: OTHER, amount: 7n, memo: `OTHER ${at}` });
      const asked = await pass(model, reader);
      expect(memos(reader)).toContain(`OTHER ${at}`);
      expect(asked.length).toBeLessThanOrEqual(6 + 2 * SPARE_REQUESTS);
    }
    expect(reader.proof(ONE)).toMatchObject({ failed: false });
  });

  it('on many accounts is read in turns, and a restart continues where it stood', async () => {
    const owners = Array.from({ length: 5 }, (_, at) => keyOf(at));
    const { model, reader } = await world(owners);
    for (const owner of owners)
      for (let at = 0; at < 40; at++) {
        model.pay({ to: owner, amount: 1n, memo: owner });
        model.now += 0.1;
      }
    const countOf = (owner: string) => memos(reader).filter((memo) => memo === owner).length;
    for (let at = 0; at < 10; at++) await pass(model, reader);
    for (const owner of owners) expect(countOf(owner)).toBeGreaterThan(0);
    const asked_before = model.requests.filter((method) => method === 'getTransaction').length;
    reader.restart();
    for (let at = 0; at < 120 && owners.some((owner) => reader.proof(owner)?.trouble); at++)
      await pass(model, reader);
    for (const owner of owners) expect(countOf(owner)).toBe(40);
    const asked = model.requests.filter((method) => method === 'getTransaction').length;
    expect(asked - asked_before).toBeLessThan(200);
  });
});

describe('invoices about to end', () => {
  it('at accounts that are behind or in trouble take no place of the others', async () => {
    verifies('account-own-trouble');
    const bad = Array.from({ length: 12 }, (_, at) => keyOf(100 + at));
    const good = Array.from({ length: 6 }, (_, at) => keyOf(at));
    const { model, reader } = await world([...bad, ...good]);
    for (let at = 0; at < 20; at++) await pass(model, reader);
    for (const [at, owner] of bad.entries())
      for (let count = 0; count < 200; count++)
        model.pay({ to: owner, amount: 1n, delivered_after: at % 2 ? 10_000 : 0 });
    reader.ask([...bad, ...good].map((address_key) => ({ address_key, chain: 'solana' })));
    await pass(model, reader);
    const ends_at = model.now;
    const isProved = () => good.every((owner) => proved(reader, owner) >= ends_at);
    for (let at = 0; !isProved(); at++) {
      expect(at).toBeLessThan(20);
      await pass(model, reader);
    }
    for (const owner of bad) expect(proved(reader, owner)).toBeLessThan(ends_at);
  });
});

describe('time', () => {
  it('of a transaction whose block has none is between the last proof and now', async () => {
    const { model, reader } = await world([ONE]);
    for (let at = 0; at < 30; at++) await pass(model, reader);
    const before = proved(reader, ONE);
    const { call } = reader.rpc;
    reader.rpc.call = async (method, params) => {
      const answer = await call(method, params);
      if (method === 'getSignaturesForAddress')
        return (answer as object[]).map((each) => ({ ...each, blockTime: null }));
      return method === 'getTransaction' ? { ...(answer as object), blockTime: null } : answer;
    };
    model.pay({ to: ONE, amount: 5n, memo: 'UNTIMED' });
    await pass(model, reader);
    expect(before).toBeGreaterThan(START);
    expect(reader.transfers()).toMatchObject([
      { memo: 'UNTIMED', earliest_at: before, latest_at: model.now },
    ]);
  });

  it('of a tip in the future proves nothing beyond now, and moves nothing where it cannot be', async () => {
    const { model, reader } = await world([ONE]);
    const { now } = reader.context;
    reader.context.now = () => now() - 3_600;
    model.pay({ to: ONE, amount: 5n, memo: 'PAID' });
    await pass(model, reader, 60);
    expect(memos(reader)).toEqual(['PAID']);
    const [range] = reader.pages.flatMap(({ ranges }) => ranges ?? []).slice(-1);
    expect(range?.to ?? 0).toBeLessThanOrEqual(now());
    expect(reader.pages.flatMap(({ proofs }) => proofs ?? []).at(-1)?.read_through).toBeLessThanOrEqual(
      now() - 3_600,
    );
    reader.context.now = () => now() - 7_300;
    const pages = reader.pages.length;
    model.now += 60;
    expect(await reader.tick()).toBe(false);
    expect(reader.pages).toHaveLength(pages);
  });
});

describe('a clock that is ahead of the chain', () => {
  it('takes no payment for older than its watch, which began by that clock', async () => {
    verifies('clock-offset');
    const AHEAD_SECONDS = 310;
    const model = createModel(START);
    model.grant(ONE, 1_000_000_000n);
    const reader = createReader(model, [ONE], {
      since: START + AHEAD_SECONDS,
      spare_requests: SPARE_REQUESTS,
    });
    reader.context.now = () => Math.floor(model.now) + AHEAD_SECONDS;
    const ours = (time: number) => time + AHEAD_SECONDS;
    reader.context.local = (time) => ({ earliest_at: ours(time), latest_at: ours(time) });
    await reader.tick();
    model.pay({ to: ONE, amount: 5n, memo: 'IN TIME' });
    await pass(model, reader, 30);
    expect(memos(reader)).toEqual(['IN TIME']);
  });
});

describe('costs', () => {
  it.each([1, 100, 10_000])('of %i merchants without payments are what they were', async (merchants) => {
    verifies('read-per-batch');
    const owners = Array.from({ length: merchants }, (_, at) => keyOf(at));
    // None of them has anything yet: what would be asked of each is asked in the sweep.
    const model = createModel(START);
    const reader = createReader(model, owners, {
      since: START,
      spare_requests: SPARE_REQUESTS,
      limits: { sweep_ticks: 15, sweeps_per_tick: 4 },
    });
    await reader.tick();
    let asked = 0;
    for (let at = 0; at < 15; at++) asked += (await pass(model, reader)).length;
    expect(asked / 15).toBeLessThanOrEqual(1 + Math.ceil(merchants / 100) + 4);
  });
});
