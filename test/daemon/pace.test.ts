// A chain that changes its pace: operators are notified once, in doctor and in observers, and what pages say follows; on both databases.
import { describe, expect, onTestFinished, test } from 'vitest';
import { database as examine } from '../../daemon/doctor/books.ts';
import type { Pace } from '../../src/chains/family.ts';
import { blockchains } from '../../src/chains/gateways.ts';
import { LISTED_AT, standingOf, upgrades } from '../../src/chains/upgrades.ts';
import { offPace, usualTime } from '../../src/chains/usual.ts';
import { startApp, type TestApp } from '../helpers/app.ts';
import { databases } from '../helpers/database.ts';
import { json, type LocalServer, serve } from '../helpers/local-server.ts';
import { create, fundedMerchant, observe, transferTo } from '../helpers/payments.ts';
import { verifies } from '../requirements.ts';

const HOUR = 3600;
const textsOf = ({ requests }: LocalServer): string[] => requests.map(({ body }) => JSON.parse(body).text);

const hands = (service: TestApp) => {
  const notify = async () => {
    await service.app.notify.tick();
    service.clock.advance(HOUR);
    await service.app.notify.tick();
    service.clock.advance(HOUR);
  };
  const measure = (blockchain: string, pace: Pace) => observe(service, blockchain, [], { pace });
  const shown = async () => {
    const { token } = await service.superuser();
    const { json: reply } = await service.fetch('GET', '/api/v1/admin/observers', { token });
    return new Map(
      reply.observers.map((each: { blockchain: string; pace: unknown }) => [each.blockchain, each.pace]),
    );
  };
  const doctor = async (about = 'pace') => {
    const { config } = service.app;
    const examined = { config, origins: new Map(), settings: [], now: service.clock.now(), ntp: undefined };
    return (await examine(examined)).filter(({ of }) => of.startsWith(about));
  };
  return { notify, measure, shown, doctor };
};

describe.each(databases)('the pace of a chain on %s', (database) => {
  async function open({
    on = ['pace_changed', 'pace_usual'],
    settings = {},
  }: {
    on?: string[];
    settings?: Record<string, string | boolean>;
  } = {}) {
    const target = await serve((_request, response) => json(response, { ok: true }));
    const service = await startApp({
      database,
      single: true,
      settings: {
        notify: JSON.stringify([{ to: target.url, on }]),
        webhook_allow_private: true,
        ...settings,
      },
    });
    onTestFinished(() => service.stop());
    return { service, target, ...hands(service) };
  }

  test('that is over 30 % off is notified of once, stops nothing, and once more when it is over', async () => {
    verifies('pace-warning');
    const { service, target, notify, measure, shown, doctor } = await open();
    await measure('ton', { recent_seconds: 0.45, hour_seconds: null });
    await notify();
    expect([target.requests.length, await doctor()]).toEqual([
      0,
      [expect.objectContaining({ of: 'pace', status: 'ok' })],
    ]);
    await measure('ton', { recent_seconds: 4, hour_seconds: null });
    for (let hour = 0; hour < 3; hour++) await notify();
    expect(textsOf(target)).toEqual([
      expect.stringMatching(
        /Pace of a blockchain changed: TON: a block each 4 s, usually 0\.4 s; payments count/,
      ),
    ]);
    expect(await doctor()).toEqual([
      expect.objectContaining({ of: 'pace ton', status: 'warning', says: 'a block each 4 s, usually 0.4 s' }),
    ]);
    expect((await shown()).get('ton')).toEqual({
      seconds: 4,
      hour_seconds: null,
      usual_seconds: 0.4,
      warning: 'a block each 4 s, usually 0.4 s',
    });
    const merchant = await fundedMerchant(service);
    expect((await create(service, merchant, 'ton')).status).toBe('created');
    await measure('ton', { recent_seconds: 0.4, hour_seconds: 0.4 });
    for (let hour = 0; hour < 3; hour++) await notify();
    expect(textsOf(target).slice(1)).toEqual([
      expect.stringContaining('TON makes blocks as fast as usual again'),
    ]);
    expect((await shown()).get('ton')).toMatchObject({ warning: null });
  });

  test('that makes the blocks of a setting too few seconds is a warning with what to set', async () => {
    verifies('depth-warning');
    const settings = {
      'gateways.base-usdc.enabled': true,
      'gateways.base-usdc.min_confirmations': '15',
      'gateways.arbitrum-usdc.enabled': true,
      'blockchains.arbitrum.confirmations': JSON.stringify([
        { below_usd: 100, blocks: 40 },
        { until: 'finalized' },
      ]),
    };
    const { target, notify, measure, shown, doctor } = await open({ on: ['depth_short'], settings });
    const base =
      '15 blocks of base-usdc take 3 s, and 30 s are usual there: set gateways.base-usdc.confirm_seconds to 30 instead of gateways.base-usdc.min_confirmations';
    const arbitrum =
      '40 blocks of arbitrum-usdc take 10 s, and 30 s are usual there: use seconds, 30 or more, instead of blocks in blockchains.arbitrum.confirmations';
    // By the pace that is known of it before any was measured.
    const findingOf = (of: string, text: string) => {
      const [says, fix] = text.split(': ');
      return expect.objectContaining({ of, status: 'warning', says, fix });
    };
    expect(await doctor('depth')).toEqual([
      findingOf('depth base-usdc', base),
      findingOf('depth arbitrum-usdc', arbitrum),
    ]);
    for (let hour = 0; hour < 3; hour++) await notify();
    const [text, ...more] = textsOf(target);
    expect(more).toEqual([]);
    for (const each of [base, arbitrum]) expect(text).toContain(each);
    // Blocks as slow as before the upgrade: fifteen of them are enough.
    await measure('base', { recent_seconds: 2, hour_seconds: 2 });
    await measure('arbitrum', { recent_seconds: 0.25, hour_seconds: null });
    expect((await doctor('depth')).map(({ of }) => of)).toEqual(['depth arbitrum-usdc']);
    expect((await shown()).get('arbitrum')).toMatchObject({ warning: arbitrum });
    await measure('base', { recent_seconds: 0.2, hour_seconds: 0.2 });
    expect((await shown()).get('base')).toMatchObject({ warning: base });
    expect((await doctor('depth'))[0]).toEqual(findingOf('depth base-usdc', base));
  });

  test('that was measured by another daemon is known to each, also after a restart', async () => {
    verifies('pace-warning');
    const { service, measure, shown } = await open();
    await measure('solana', { recent_seconds: 0.3, hour_seconds: 0.25 });
    expect(service.app.pace.measured('solana')).toBeNull();
    await service.app.pace.refresh();
    expect(service.app.pace.measured('solana')).toEqual({ recent_seconds: 0.3, hour_seconds: 0.25 });
    expect((await shown()).get('bitcoin')).toBeNull();
    // What is no time is not stored.
    await measure('solana', { recent_seconds: 0, hour_seconds: null });
    await measure('solana', { recent_seconds: Number.NaN, hour_seconds: null });
    await service.app.pace.refresh();
    expect(service.app.pace.measured('solana')?.recent_seconds).toBe(0.3);
  });

  test('is what pages say of the usual time', async () => {
    verifies('usual-measured');
    const { service, measure } = await open();
    const merchant = await fundedMerchant(service);
    const usual = async () => {
      const invoice = await create(service, merchant, 'ton');
      await observe(service, 'ton', [transferTo(service, invoice, { confirmations: 0 })]);
      const { text } = await service.fetch('GET', `/pay/${invoice.id}?lang=en`);
      return /This usually takes [^.<]*/.exec(text)?.[0];
    };
    await measure('ton', { recent_seconds: 0.4, hour_seconds: null });
    await service.app.pace.refresh();
    expect(await usual()).toBe('This usually takes about a second');
    await measure('ton', { recent_seconds: 60, hour_seconds: null });
    await service.app.pace.refresh();
    expect(await usual()).toBe('This usually takes about a minute');
  });
});

describe('the usual pace', () => {
  test('is left by more than 30 %, by the hour where that is known', () => {
    verifies('pace-warning');
    const off = (recent_seconds: number, hour_seconds: number | null) =>
      offPace({ block_seconds: 2 }, { recent_seconds, hour_seconds });
    expect([off(2.59, null), off(1.41, null), off(20, 2.1)]).toEqual([null, null, null]);
    expect(off(0.2, null)).toBe('a block each 0.2 s, usually 2 s');
    expect(off(2, 0.2)).toBe('a block each 0.2 s, usually 2 s');
    expect(offPace({ block_seconds: 2 }, null)).toBeNull();
  });

  test('is only what a payment takes where blocks decide', () => {
    verifies('usual-measured');
    const usual = { block_seconds: 2 };
    const timed = { min_confirmations: 15, confirm_seconds: 30, until_final: 0 as const };
    const counted = { min_confirmations: 15, confirm_seconds: null, until_final: 0 as const };
    expect([usualTime(usual, timed, 0.2).seconds, usualTime(usual, timed, 20).seconds]).toEqual([31, 31]);
    expect([usualTime(usual, counted, 0.2).seconds, usualTime(usual, counted, 20).seconds]).toEqual([4, 301]);
    const solana = blockchains.find(({ id }) => id === 'solana');
    if (!solana) throw new Error('no Solana');
    const final = { min_confirmations: 32, confirm_seconds: null, until_final: 0 as const };
    expect(usualTime(solana, final, 0.2).seconds).toBeLessThan(2);
    expect(usualTime(solana, final, 2).seconds).toBeCloseTo(3);
  });
});

describe('upgrades of the chains', () => {
  const find = (name: string) => upgrades.find((each) => each.name === name) ?? expect.fail(name);

  test('are warned of for thirty days before their date, and after it where this version is older', () => {
    verifies('upgrades-known');
    const jenner = find('Jenner');
    const at = Date.parse('2026-12-08T02:30:00Z') / 1000;
    expect(jenner.at).toBe(at);
    const days = (count: number) => standingOf(jenner, at + count * 86_400, null);
    expect([days(-31), days(-30), days(-1), days(0), days(400)]).toEqual([
      'later',
      'near',
      'near',
      'newer',
      'newer',
    ]);
    expect(standingOf(find('Denim'), LISTED_AT, null)).toBe('known');
    expect(standingOf(find('Glamsterdam'), at, null)).toBe('later');
  });

  test('at a height are near where the chain reaches it within thirty days', () => {
    verifies('upgrades-known');
    const rules = find('first MWEB rules');
    const tip = (height: number) => standingOf(rules, LISTED_AT, { height, block_seconds: 150 });
    expect([tip(3_000_000), tip(3_154_439), tip(3_154_440)]).toEqual(['later', 'near', 'known']);
    expect(standingOf(rules, LISTED_AT, null)).toBe('later');
  });

  test('are of blockchains that are built in', () => {
    verifies('upgrades-known');
    const ids = blockchains.map(({ id }) => id);
    expect(upgrades.filter(({ blockchain }) => !ids.includes(blockchain))).toEqual([]);
  });
});
