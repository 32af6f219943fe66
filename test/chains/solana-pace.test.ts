// Solana at every pace: what is counted in seconds stays the same, whatever a slot takes.
import { describe, expect, it } from 'vitest';
import { INDEX_MARGIN_SECONDS } from '../../src/chains/solana/listing.ts';
import { newSlotPace, slotsIn, takeLag, takeTip, tipAge } from '../../src/chains/solana/pace.ts';
import { createModel, keyOf, type ModelPace, usualPace } from './solana-model.ts';
import { createReader } from './solana-reader.ts';

const START = 1_800_000_000;
const PAUSE_SECONDS = 4;
const paces: Record<string, ModelPace> = {
  'a tenth of the usual pace': { ...usualPace, slot_seconds: 10 * usualPace.slot_seconds },
  'the usual pace': usualPace,
  'ten times the usual pace': { ...usualPace, slot_seconds: usualPace.slot_seconds / 10 },
};

describe.each(Object.entries(paces))('Solana at %s', (_, pace) => {
  const owner = keyOf(1);
  function open(fault?: Parameters<typeof createModel>[1]) {
    const model = createModel(START, fault, pace);
    model.grant(owner, 1_000_000_000n);
    const reader = createReader(model, [owner], { since: START });
    const pass = async (seconds = PAUSE_SECONDS) => {
      model.now += seconds;
      return (await reader.cost()).length;
    };
    return { model, reader, pass };
  }

  it('takes as many requests a minute and as long until a payment is final', async () => {
    const { model, reader, pass } = open();
    for (let seconds = 0; seconds < 60; seconds += PAUSE_SECONDS) await pass();
    let at_rest = 0;
    for (let seconds = 0; seconds < 60; seconds += PAUSE_SECONDS) at_rest += await pass();
    expect(at_rest).toBe((60 / PAUSE_SECONDS) * 2);
    const paid_at = model.now;
    model.pay({ to: owner, amount: 7n });
    while (reader.transfers().length === 0) await pass(1);
    expect(reader.transfers()).toMatchObject([{ final: true, confirmations: 32 }]);
    // Two slots: the one of the payment, and the one that makes it final.
    expect(model.now - paid_at).toBeLessThanOrEqual(1 + Math.ceil(2 * pace.slot_seconds));
  });

  it('proves an account as soon, and with one list', async () => {
    const { model, reader, pass } = open();
    await pass();
    const through = model.now + 100;
    reader.ask([{ address_key: owner, chain: 'solana', through }]);
    const before = model.requests.length;
    while ((reader.proof(owner)?.read_through ?? 0) < through && model.now < through + 200) await pass();
    const late = Math.ceil(pace.final_slots * pace.slot_seconds) + PAUSE_SECONDS;
    expect(model.now - through).toBeLessThanOrEqual(INDEX_MARGIN_SECONDS + late);
    const lists = model.requests.slice(before).filter((each) => each === 'getSignaturesForAddress');
    expect(lists.length).toBeLessThanOrEqual(2);
  });

  it('takes a transaction that is listed minutes late for late, and records what is younger by name', async () => {
    const { model, reader, pass } = open();
    for (let each = 0; each < 10; each++) {
      model.pay({ to: owner, amount: 1n, ...(each === 5 ? { listed_after: 150 } : {}) });
      for (let count = 0; count < 5; count++) await pass();
    }
    for (let count = 0; count < 20; count++) await pass();
    expect(reader.transfers()).toHaveLength(10);
    expect(reader.cursors.get(owner)).toMatchObject({ skipped: false });
    const { recent } = reader.cursors.get(owner) as { recent: unknown[] };
    // Of 200 seconds, in which ten were made one every 20.
    expect(recent.length).toBeGreaterThanOrEqual(9);
    for (let count = 0; count < 60; count++) await pass();
    model.pay({ to: owner, amount: 1n });
    for (let count = 0; count < 5; count++) await pass();
    const { recent: later } = reader.cursors.get(owner) as { recent: unknown[] };
    expect(later).toHaveLength(1);
  });

  it('is measured from tips, as are their ages', async () => {
    const { reader, pass } = open();
    for (let seconds = 0; seconds < 3700; seconds += 20) await pass(20);
    const measured = reader.pages.flatMap((page) => page.pace ?? []);
    const { recent_seconds, hour_seconds } = measured.at(-1) ?? { recent_seconds: 0, hour_seconds: 0 };
    for (const seconds of [recent_seconds, hour_seconds ?? 0]) {
      expect(seconds).toBeGreaterThan(pace.slot_seconds * 0.95);
      expect(seconds).toBeLessThan(pace.slot_seconds * 1.05);
    }
    expect(measured[0]?.hour_seconds).toBeNull();
    const { age_seconds } = reader.pages.findLast(({ tip }) => tip)?.tip ?? {};
    expect(age_seconds).toBe(Math.floor(pace.slot_seconds));
  });
});

describe('the pace of Solana', () => {
  const tipAt = (height: number, time: number) => ({ height, hash: null, time });

  it('follows a change within minutes, and stays what it was by the hour', () => {
    const pace = newSlotPace();
    let [slot, time] = [1_000, START];
    const run = (seconds: number, slot_seconds: number) => {
      let measured: ReturnType<typeof takeTip> = null;
      for (const end = time + seconds; time < end; time += 4, slot += Math.round(4 / slot_seconds))
        measured = takeTip(pace, tipAt(slot, time)) ?? measured;
      return measured;
    };
    expect(run(3700, 0.4)).toMatchObject({ recent_seconds: 0.4, hour_seconds: 0.4 });
    expect(slotsIn(pace, 60)).toBe(150);
    expect(run(300, 0.2)).toMatchObject({ recent_seconds: 0.2, hour_seconds: 0.4 });
    expect(slotsIn(pace, 60)).toBe(300);
  });

  it('is not taken from tips that go back, nor from a slot that no chain reaches', () => {
    const pace = newSlotPace();
    for (let at = 0; at < 10; at++) takeTip(pace, tipAt(1_000 + at * 100, START + at * 20));
    expect(slotsIn(pace, 60)).toBe(300);
    expect(takeTip(pace, tipAt(1_500, START + 170))).toBeNull();
    expect(takeTip(pace, tipAt(10 ** 15, START + 200))).toMatchObject({ recent_seconds: 0.2 });
    // What contradicts it begins again, and until then what was measured counts.
    for (let at = 0; at < 2; at++)
      expect(takeTip(pace, tipAt(2_000 + at * 50, START + 220 + at * 20))).toBeNull();
    expect(slotsIn(pace, 60)).toBe(300);
    for (let at = 0; at < 10; at++) takeTip(pace, tipAt(2_100 + at * 50, START + 260 + at * 20));
    expect(slotsIn(pace, 60)).toBe(150);
  });

  it('calls no tip older than what is measured, and none older than 20 seconds', () => {
    const pace = newSlotPace();
    expect(tipAge(pace)).toBe(0);
    for (let at = 0; at < 10; at++) takeTip(pace, tipAt(1_000 + at * 50, START + at * 20));
    takeLag(pace, tipAt(2_000, START), 2_031);
    expect(tipAge(pace)).toBe(12);
    takeLag(pace, tipAt(3_000, START + 600), 2_900);
    expect(tipAge(pace)).toBe(0);
    const other = { ...pace, lags: [] };
    takeLag(other, tipAt(2_000, START), 10 ** 9);
    expect(tipAge(other)).toBe(20);
  });
});
