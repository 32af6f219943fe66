// A clock that is wrong: nothing ends by it, no payment is late by it, and the operator is shown it; on both databases.
import { describe, expect, onTestFinished, test } from 'vitest';
import { ensureCursor } from '../../../data/cursors.ts';
import { watchedAddresses } from '../../../data/invoices.ts';
import { noteReading } from '../../../data/proofs.ts';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { testClock } from '../../helpers/clock.ts';
import { databases, newDatabase } from '../../helpers/database.ts';
import { doubleFamily } from '../../helpers/family.ts';
import {
  create,
  fundedMerchant,
  invoiceRow,
  observe,
  readThrough,
  transferTo,
  unconfirmed,
} from '../../helpers/payments.ts';
import { verifies } from '../../requirements.ts';

const DAY = 86_400;

describe.each(databases)('a wrong clock on %s', (database) => {
  const operator = async (service: TestApp) => {
    const { token } = await service.superuser();
    return {
      clock: async () => (await service.fetch('GET', '/api/v1/admin/observers', { token })).json.clock,
      dashboard: async () => (await service.fetch('GET', '/api/v1/admin/dashboard', { token })).json,
    };
  };
  const statusOf = async (service: TestApp, id: string) => (await invoiceRow(service, id)).status;

  test('one tick two days ahead ends nothing, and what is over ends once it agrees again', async () => {
    verifies('clock-alert');
    const service = await startApp({ single: true, database });
    const { clock } = service;
    const merchant = await fundedMerchant(service);
    const [unpaid, paid] = [
      await create(service, merchant, 'ton'),
      await create(service, merchant, 'bitcoin', { amount: '20' }),
    ];
    const seen = transferTo(service, paid, unconfirmed);
    await observe(service, 'bitcoin', [seen]);
    const { clock: shown, dashboard } = await operator(service);
    expect(await shown()).toMatchObject({ trusted: true });
    expect((await dashboard()).clock).toMatchObject({ trusted: true });

    clock.step(2 * DAY);
    for (const blockchain of ['ton', 'bitcoin']) await readThrough(service, blockchain);
    await service.app.observer.tick();
    expect([await statusOf(service, unpaid.id), await statusOf(service, paid.id)]).toEqual([
      'created',
      'created',
    ]);
    expect(await shown()).toMatchObject({ trusted: false, offset_seconds: 2 * DAY });
    expect((await dashboard()).clock).toMatchObject({ trusted: false, offset_seconds: 2 * DAY });
    const alerts = service.log.map((line) => JSON.parse(line)).filter(({ alert }) => alert === 'clock');
    expect(alerts).toHaveLength(1);
    // What comes meanwhile is booked as ever.
    await observe(service, 'bitcoin', [{ ...seen, height: 7, block_hash: 'b7', confirmations: 1 }]);
    expect(await statusOf(service, paid.id)).toBe('confirmed');

    clock.step(-2 * DAY);
    await service.app.observer.tick();
    expect(await shown()).toMatchObject({ trusted: true });
    expect(await statusOf(service, unpaid.id)).toBe('created');
    clock.set(unpaid.expires_at + 1);
    // The readings of the days ahead were proved by a wrong clock, but nothing was ended by them.
    await readThrough(service, 'ton');
    expect(await statusOf(service, unpaid.id)).toBe('expired');
    await service.stop();
  });

  test('an address is watched on, and a payment seen meanwhile is in time', async () => {
    const double = doubleFamily('bitcoin');
    const service = await startApp({ single: true, database, source: () => double.source });
    const merchant = await fundedMerchant(service);
    const invoice = await create(service, merchant, 'bitcoin', { amount: '20' });
    service.clock.advance(600);
    service.clock.step(4 * DAY);
    const watched: string[] = [];
    double.read = async (context, request) => {
      for (const { key, open } of await request.addresses()) if (open) watched.push(key);
      const seen_at = context.now();
      const time = { earliest_at: seen_at - 10, latest_at: seen_at };
      return [
        {
          transfers: [transferTo(service, invoice, { ...time, confirmations: 1 })],
          tip: { height: 100, hash: 'h', time: service.clock.now() },
        },
      ];
    };
    await service.app.observer.poll('bitcoin');
    expect(watched).toEqual([invoice.address_key]);
    expect(await statusOf(service, invoice.id)).toBe('confirmed');
    await service.stop();
  });

  test('an invoice made meanwhile is payable when the clock is right again', async () => {
    const service = await startApp({ single: true, database });
    const merchant = await fundedMerchant(service);
    const right = service.clock.now();
    service.clock.step(2 * DAY);
    const invoice = await create(service, merchant, 'ton');
    expect(invoice.created_at).toBe(right);
    service.clock.step(-2 * DAY);
    service.clock.advance(60);
    await observe(service, 'ton', [transferTo(service, invoice)]);
    expect(await statusOf(service, invoice.id)).toBe('confirmed');
    await service.stop();
  });

  test('an address that is watched since a time to come is watched for an invoice of the right time', async () => {
    const double = doubleFamily('ton');
    const right = 1_800_000_000;
    const clock = testClock(right + DAY / 2);
    const service = await startApp({ single: true, database, clock, source: () => double.source });
    const merchant = await service.merchant();
    const ahead = await create(service, merchant, 'ton');
    expect(ahead.created_at).toBe(right + DAY / 2);
    clock.step(-DAY / 2);
    double.read = async () => [{ transfers: [], tip: { height: 1, hash: null, time: right } }];
    await service.app.observer.poll('ton');
    const invoice = await create(service, merchant, 'ton');
    expect(invoice.created_at).toBe(right);
    const [watch] = await watchedAddresses(service.app.db.query, 'ton', right);
    expect(watch?.since).toBe(right);
    expect(watch?.watch_until).toBeGreaterThanOrEqual(ahead.watch_until);
    await service.stop();
  });

  test.each(['ton', 'solana'])('310 seconds behind makes no payment on %s late', async (chain) => {
    verifies('clock-offset');
    const double = doubleFamily(chain);
    const clock = testClock();
    const service = await startApp({ single: true, database, clock, source: () => double.source });
    const merchant = await fundedMerchant(service);
    const truth = () => clock.now() + 310;
    const tip = () => ({ height: truth(), hash: null, time: truth() - 4 });
    const invoice = await create(service, merchant, chain);
    // Two seconds are left by our clock, and to the buyer.
    clock.set(invoice.expires_at - 2);
    const paid_at = truth();
    clock.advance(10);
    double.read = async (context) => [
      {
        transfers: [transferTo(service, invoice, { ...context.local(paid_at), final: true })],
        tip: tip(),
        read_through: context.local(tip().time).earliest_at,
      },
    ];
    await service.app.observer.poll(chain);
    expect(await statusOf(service, invoice.id)).toBe('confirmed');
    await service.stop();
  });

  test('20 seconds behind makes no payment late that is read after a start, of a host that is behind as well', async () => {
    verifies('clock-offset');
    const { url: database_url, remove } = await newDatabase(database);
    onTestFinished(remove);
    const double = doubleFamily('ton');
    const clock = testClock();
    const truth = () => clock.now() + 20;
    const options = { database, database_url, clock, source: () => double.source };
    const before = await startApp(options);
    const merchant = await fundedMerchant(before);
    const tip = (age: number) => ({ height: truth(), hash: null, time: truth() - age });
    double.read = async () => [{ transfers: [], tip: tip(2) }];
    const invoice = await create(before, merchant, 'ton');
    await before.app.observer.poll('ton');
    await before.stop();
    clock.set(invoice.expires_at - 2);
    const paid_at = truth();
    clock.advance(10);
    const after = await startApp(options);
    double.read = async (context) => [
      {
        transfers: [transferTo(after, invoice, { ...context.local(paid_at), final: true })],
        tip: tip(22),
      },
    ];
    await after.app.observer.poll('ton');
    expect(await statusOf(after, invoice.id)).toBe('confirmed');
    await after.stop();
  });

  test('what a clock far ahead has proved before a restart ends nothing', async () => {
    verifies('end-proved', 'clock-offset');
    const service = await startApp({ single: true, database });
    const merchant = await service.merchant();
    const ahead = service.clock.now() + 36_000;
    await ensureCursor(service.app.db.query, 'bitcoin');
    await noteReading(service.app.db.query, 'bitcoin', { started_at: ahead, read_through: ahead - 30 });
    const invoice = await create(service, merchant, 'bitcoin', { amount: '20' });
    service.clock.set(invoice.expires_at + 60);
    await service.app.observer.tick();
    expect(await statusOf(service, invoice.id)).toBe('created');
    await readThrough(service, 'bitcoin');
    expect(await statusOf(service, invoice.id)).toBe('expired');
    await service.stop();
  });

  test('a provider that is behind, with a right clock, ends nothing until it has read past the end', async () => {
    const double = doubleFamily('ton');
    const service = await startApp({ single: true, database, source: () => double.source });
    const { clock } = service;
    const merchant = await fundedMerchant(service);
    const invoice = await create(service, merchant, 'ton');
    const lagging = (by: number) => {
      const time = clock.now() - by;
      double.read = async (context) => [
        {
          transfers: [],
          tip: { height: time, hash: null, time },
          read_through: context.local(time).earliest_at,
        },
      ];
    };
    lagging(4);
    await service.app.observer.poll('ton');
    clock.set(invoice.expires_at + 200);
    lagging(400);
    await service.app.observer.poll('ton');
    await service.app.observer.tick();
    expect(await statusOf(service, invoice.id)).toBe('created');
    clock.advance(10);
    lagging(4);
    await service.app.observer.poll('ton');
    await service.app.observer.tick();
    expect(await statusOf(service, invoice.id)).toBe('expired');
    await service.stop();
  });
});
