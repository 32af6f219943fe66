// What one provider stated of a transaction that somebody named, where a reading shows it otherwise: the reading stands.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifyInput } from '../../daemon/verify/books.ts';
import { openSnapshot } from '../../data/db/snapshot.ts';
import type { InvoiceRow } from '../../data/schema/tables.ts';
import { verifyLaws } from '../../data/verify/verify.ts';
import type { Transfer } from '../../src/chains/family.ts';
import { startApp, type TestApp, type TestMerchant } from '../helpers/app.ts';
import { databases } from '../helpers/database.ts';
import { doubleFamily, namedRpc } from '../helpers/family.ts';
import {
  at,
  create as createFor,
  fundedMerchant,
  invoiceRow,
  observe,
  transferRow,
  transferTo,
} from '../helpers/payments.ts';
import { sourceOf } from '../helpers/reading.ts';
import { verifies } from '../requirements.ts';

const FREE = {
  'limits.claim_per_address': '0',
  'limits.claim_per_invoice': '0',
  'limits.claim_per_blockchain': '0',
};

describe.each(databases)('what a look-up stated falsely, on %s', (database) => {
  let service: TestApp;
  let merchant: TestMerchant;
  beforeAll(async () => {
    const source = sourceOf(namedRpc('double'));
    service = await startApp({
      database,
      settings: FREE,
      source: (id) => (id === 'ton' ? source : undefined),
    });
    merchant = await fundedMerchant(service);
  });
  afterAll(() => service.stop());

  const create = (): Promise<InvoiceRow> => createFor(service, merchant, 'ton');
  /** A provider that shows this of the transaction, in a block of the chain that is read or of no one's. */
  function lookUpShows(transfer: Transfer, is_read: boolean): void {
    const double = doubleFamily('ton');
    double.lookUp = async (_, { txid, gateway }) =>
      txid === transfer.txid && gateway.chain === transfer.chain ? [transfer] : [];
    double.recheck = async (_, pending) =>
      pending.flatMap(({ txid, index, height, block_hash }) =>
        height === null || !is_read
          ? []
          : [{ txid, index, state: 'final' as const, confirmations: 64, height, block_hash }],
      );
  }
  async function claimed(invoice: InvoiceRow, stated: Transfer): Promise<void> {
    lookUpShows(stated, false);
    await service.fetch('POST', `/v1/invoices/${invoice.id}/claim`, { body: { txid: stated.txid } });
    expect(await transferRow(service, stated)).toMatchObject({ unread: 1, state: 'pending' });
  }
  const paymentsOf = (txid: string) =>
    service.app.db.query.selectFrom('payments').select('status').where('txid', '=', txid).execute();
  const brokenLaws = async () => {
    const { config } = service.app;
    const books = await openSnapshot(config.database_url);
    try {
      const results = await verifyLaws(await verifyInput(books, config, service.clock.now()), {
        laws: [5, 6, 7, 8, 9],
      });
      return results.filter(({ ok }) => !ok);
    } finally {
      await books.close();
    }
  };

  describe.each(['read with a page', 'looked for after a reading'] as const)('and was %s', (way) => {
    async function shown(real: Transfer) {
      if (way === 'read with a page') return void (await observe(service, 'ton', [real]));
      lookUpShows(real, true);
      await service.app.observer.poll('ton');
    }
    const row = (of: Transfer) => transferRow(service, of);
    test.each(['a sum', 'a memo', 'a time'] as const)('confirms nothing by %s', async (what) => {
      verifies('claim-reads');
      const invoice = await create();
      const stated = transferTo(service, invoice, { final: true });
      await claimed(invoice, stated);
      const before = invoice.created_at - 100;
      const real: Transfer = {
        ...stated,
        ...{ 'a sum': { amount_atomic: 1n }, 'a memo': { memo: null }, 'a time': at(before) }[what],
      };
      await shown(real);
      await service.app.observer.tick();
      expect((await invoiceRow(service, invoice.id)).status).toBe('created');
      expect(await row(real)).toMatchObject({
        unread: null,
        state: 'final',
        disposition: what === 'a sum' ? 'matched' : 'unmatched',
        amount_atomic: String(real.amount_atomic),
      });
      expect(await brokenLaws()).toEqual([]);
    });

    test.each(['a sum', 'a memo'] as const)('hides no payment by %s', async (what) => {
      verifies('claim-reads');
      const invoice = await create();
      const real = transferTo(service, invoice, { final: true });
      const stated = what === 'a sum' ? { amount_atomic: 1n, memo: null } : { memo: null };
      await claimed(invoice, { ...real, ...stated });
      await shown(real);
      await service.app.observer.tick();
      expect(await invoiceRow(service, invoice.id)).toMatchObject({ status: 'confirmed', txid: real.txid });
      expect(await row(real)).toMatchObject({ unread: null, booked_invoice_id: invoice.id });
      // Nothing that was stated is listed any more, and a second reading finds nothing new.
      expect((await paymentsOf(real.txid)).map(({ status }) => status).sort()).toEqual(
        what === 'a sum' ? ['confirmed'] : ['confirmed', 'orphaned'],
      );
      await observe(service, 'ton', [real]);
      expect(await brokenLaws()).toEqual([]);
    });
  });
});
