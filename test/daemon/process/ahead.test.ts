// A daemon that starts with a clock days ahead, or after days: what is open is read before it ends.
import { describe, expect, test } from 'vitest';
import { startApp } from '../../helpers/app.ts';
import { testClock } from '../../helpers/clock.ts';
import { databases } from '../../helpers/database.ts';
import { doubleFamily } from '../../helpers/family.ts';
import { create, fundedMerchant, invoiceRow, transferTo } from '../../helpers/payments.ts';

const DAY = 86_400;

describe.each(databases)('a start days later by its clock on %s', (database) => {
  test.each([4, 40])('%i days: open invoices are read before the grace ends them', async (days) => {
    const double = doubleFamily('ton');
    const clock = testClock();
    const service = await startApp({ database, clock, source: () => double.source });
    const merchant = await fundedMerchant(service);
    const invoice = await create(service, merchant, 'ton');
    const paid = transferTo(service, invoice, { time: invoice.created_at + 10, final: true });
    clock.freeze(days * DAY);
    const restarted = await startApp({
      database,
      clock,
      source: () => double.source,
      database_url: service.app.config.database_url,
    });
    double.read = async (_, request) => {
      const watched = (await request.addresses()).some(({ key }) => key === invoice.address_key);
      return [{ transfers: watched ? [paid] : [], tip: { height: 1, hash: null, time: clock.now() } }];
    };
    await restarted.app.observer.tick();
    await restarted.app.observer.poll('ton');
    expect((await invoiceRow(restarted, invoice.id)).status).toBe('confirmed');
    await restarted.stop();
    await service.stop();
  });
});
