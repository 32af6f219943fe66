// A daemon that stood still, or started with a clock far ahead: the grace ends nothing before there was time to read.
import { describe, expect, test } from 'vitest';
import { startApp } from '../../helpers/app.ts';
import { testClock } from '../../helpers/clock.ts';
import { databases } from '../../helpers/database.ts';
import { doubleFamily } from '../../helpers/family.ts';
import { create, fundedMerchant, invoiceRow, transferTo } from '../../helpers/payments.ts';

const DAY = 86_400;

describe.each(databases)('a daemon that stood still on %s', (database) => {
  async function shop() {
    const double = doubleFamily('ton');
    const clock = testClock();
    const service = await startApp({ database, clock, source: () => double.source });
    const merchant = await fundedMerchant(service);
    const invoice = await create(service, merchant, 'ton');
    const paid = transferTo(service, invoice, { time: invoice.created_at + 10, final: true });
    const read = (transfers = [paid]) => {
      double.read = async (context) => [
        {
          transfers,
          tip: { height: clock.now(), hash: null, time: clock.now() },
          read_through: context.local(clock.now()).earliest_at,
        },
      ];
      return service.app.observer.poll('ton');
    };
    const status = async () => (await invoiceRow(service, invoice.id)).status;
    return { service, clock, invoice, read, status };
  }

  test('reads before the grace ends anything, where time passed without it', async () => {
    const { service, clock, read, status } = await shop();
    await read([]);
    clock.advance(900);
    await service.app.observer.tick();
    // Stopped before the payment was read, and continued a day later: its timers fire first.
    clock.freeze(DAY + 600);
    await service.app.observer.tick();
    expect(await status()).toBe('created');
    await read();
    expect(await status()).toBe('confirmed');
    await service.stop();
  });

  test('the same where its timer stood still with it', async () => {
    const { service, clock, read, status } = await shop();
    await read([]);
    clock.advance(900);
    await service.app.observer.tick();
    clock.step(DAY + 600);
    await service.app.observer.tick();
    service.app.clock_check.observe('bitcoin', clock.now());
    clock.advance(60);
    await service.app.observer.tick();
    expect(await status()).toBe('created');
    await read();
    expect(await status()).toBe('confirmed');
    await service.stop();
  });
});
