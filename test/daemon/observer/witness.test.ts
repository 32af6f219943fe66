// What a second provider has shown is never lost, wherever the process dies.
import { describe, expect, test, vi } from 'vitest';
import { startApp } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import { doubleFamily } from '../../helpers/family.ts';
import { create, fundedMerchant, invoiceRow, observe, transferTo } from '../../helpers/payments.ts';

describe.each(databases)('two providers that must agree on %s', (database) => {
  async function shop() {
    const double = doubleFamily('ton');
    const service = await startApp({ database, source: () => double.source });
    const merchant = await fundedMerchant(service);
    vi.spyOn(service.app.quorum, 'several').mockReturnValue(true);
    const needed = vi.spyOn(service.app.quorum, 'needed').mockReturnValue(true);
    const pay = async (amount: string) => {
      const invoice = await create(service, merchant, 'ton', { amount });
      const transfer = transferTo(service, invoice);
      await observe(service, 'ton', [transfer]);
      return { invoice, transfer };
    };
    const statusOf = async (id: string) => (await invoiceRow(service, id)).status;
    return { double, service, needed, pay, statusOf };
  }

  test('what the second provider has shown is booked by the clock where it could not be at once', async () => {
    const { double, service, needed, pay, statusOf } = await shop();
    const { invoice, transfer } = await pay('10');
    expect(await statusOf(invoice.id)).toBe('created');
    double.lookUp = async () => {
      // The database fails, or the process dies, before the invoice is settled.
      needed.mockImplementation(() => {
        throw new Error('gone');
      });
      return [transfer];
    };
    await service.app.observer.poll('ton');
    needed.mockReturnValue(true);
    expect(await statusOf(invoice.id)).toBe('created');
    await service.app.observer.tick();
    expect(await statusOf(invoice.id)).toBe('confirmed');
    await service.stop();
  });
});
