// Payments made for the payer's wallet: what is missing now, refused where nothing is, limited over all daemons.
import { comment } from '@ton/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { testClock } from '../../helpers/clock.ts';
import { databases } from '../../helpers/database.ts';
import { namedRpc } from '../../helpers/family.ts';
import {
  create as createFor,
  fundedMerchant,
  invoiceRow,
  observe,
  transferTo,
} from '../../helpers/payments.ts';
import { ABSENT_ID, wallets } from '../../helpers/people.ts';
import { sourceOf } from '../../helpers/reading.ts';
import { verifies } from '../../requirements.ts';

const LIMIT = 6;
const MINUTE = 60;
const PAYER = `0:${'22'.repeat(32)}`;

describe.each(databases)("a payment for the payer's wallet on %s", (database) => {
  const clock = testClock();
  const settings = { trust_proxy: true, 'limits.compose_per_blockchain': String(LIMIT) };
  /** The coin of this chain is paid without asking it anything. */
  const source = (id: string) => (id === 'ton' ? sourceOf(namedRpc('silent')) : undefined);
  let service: TestApp;
  let merchant: TestMerchant;
  beforeAll(async () => {
    service = await startApp({ database, clock, settings, source });
    merchant = await fundedMerchant(service);
  });
  afterAll(() => service.stop());

  const create = (chain = 'ton') => createFor(service, merchant, chain);
  const compose = (id: string, account = PAYER, from = service, ip = '198.51.100.1') =>
    from.fetch('POST', `/v1/invoices/${id}/transaction`, {
      headers: { 'x-forwarded-for': ip },
      body: { account },
    });
  const refusal = async (reply: ReturnType<typeof compose>) => {
    const { status, json } = await reply;
    return [status, json.code];
  };

  test('asks for what is missing, with its memo, and for nothing where nothing is to be paid', async () => {
    verifies('compose-missing', 'compose-payer');
    const invoice = await create();
    const row = await invoiceRow(service, invoice.id);
    const all = BigInt(row.amount_atomic);
    const expected = (amount: bigint) => ({
      kind: 'messages',
      message: expect.any(String),
      network: '-3',
      valid_until: Math.min(row.expires_at, clock.now() + 300),
      messages: [
        {
          address: row.address,
          amount: amount.toString(),
          payload: comment(row.memo ?? '')
            .toBoc()
            .toString('base64'),
        },
      ],
    });
    const { json, headers } = await compose(row.id);
    expect(json).toEqual(expected(all));
    expect(headers.get('access-control-allow-origin')).toBe('*');
    await observe(service, 'ton', [transferTo(service, row, { amount_atomic: all / 4n })]);
    expect((await compose(row.id)).json).toEqual(expected(all - all / 4n));
    expect(await refusal(compose(row.id, wallets.ton))).toEqual([409, 'payer_cannot_pay']);
    expect(await refusal(compose(row.id, 'not an account'))).toEqual([400, 'invalid_address']);
    await observe(service, 'ton', [transferTo(service, row, { amount_atomic: all - all / 4n })]);
    expect(await refusal(compose(row.id))).toEqual([409, 'payment_detected']);
    const seen = await invoiceRow(service, (await create()).id);
    const unconfirmed = { confirmations: 0, final: false, height: null, block_hash: null };
    await observe(service, 'ton', [transferTo(service, seen, unconfirmed)]);
    expect(await refusal(compose(seen.id))).toEqual([409, 'payment_detected']);
    const ended = await create();
    await service.fetch('POST', `/v1/invoices/${ended.id}/cancel`);
    expect(await refusal(compose(ended.id))).toEqual([409, 'invoice_ended']);
    expect(await refusal(compose((await create('bitcoin')).id))).toEqual([400, 'bad_request']);
    expect(await refusal(compose(ABSENT_ID))).toEqual([404, 'invoice_not_found']);
    const { json: asks } = await service.fetch('GET', `/v1/invoices/${ended.id}/transaction`);
    expect(asks.icon).toBe(`${service.app.config.public_url}/logo.png`);
    expect(asks.label).not.toBe('');
  });

  test('is made so often a minute for a blockchain, by all daemons together', async () => {
    verifies('compose-limits');
    clock.advance(MINUTE + 1);
    const { id } = await create();
    const database_url = service.app.config.database_url ?? '';
    const others =
      database === 'postgres' ? [await startApp({ database, clock, settings, source, database_url })] : [];
    const daemons = [service, ...others];
    const by = (at: number, ip: string) => compose(id, PAYER, daemons[at % daemons.length], ip);
    for (let at = 0; at < LIMIT; at++) expect((await by(at, '198.51.100.1')).status).toBe(200);
    // Used up: each address has one more, until those are used up, too.
    for (let address = 1; address <= LIMIT; address++) {
      const statuses = [
        (await by(0, `198.51.100.${address}`)).status,
        (await by(1, `198.51.100.${address}`)).status,
      ];
      expect(statuses).toEqual([200, 429]);
    }
    const { status, headers } = await by(1, '198.51.100.99');
    expect([status, headers.get('retry-after')]).toEqual([429, String(MINUTE)]);
    for (const other of others) await other.stop();
  });
});
