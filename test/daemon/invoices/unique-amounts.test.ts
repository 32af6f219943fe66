// Unique amounts: a thousand invoices at one price are distinct, and then none is left.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import { create, credit, observe, transferTo } from '../../helpers/payments.ts';
import { verifies } from '../../requirements.ts';

describe.each(databases)('unique amounts on %s', (database) => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startApp({ database });
  });
  afterAll(() => test.stop());

  it('gives a thousand invoices at one price a thousand amounts, and then says that none is left', async () => {
    verifies('amount-unique', 'amount-tail', 'amount-none-left');
    const { id, key } = await test.merchant();
    // As many as this only for one who has sold there before and has a limit.
    await credit(test, id, 100_000_000n);
    const sold = await create(test, { key }, 'litecoin');
    await observe(test, 'litecoin', [transferTo(test, sold)]);
    const amounts = new Set<string>();
    const price = '1000';
    const make = () =>
      test.fetch('POST', '/v1/invoices', { key, body: { chain: 'litecoin', amount: price } });
    const first = await make();
    expect(first.json.amount).toBe('10');
    amounts.add(first.json.amount);
    for (let batch = 0; batch < 50; batch++)
      for (const reply of await Promise.all(Array.from({ length: 20 }, make))) {
        expect(reply.status, reply.text).toBe(200);
        amounts.add(reply.json.amount);
      }
    expect(amounts.size).toBe(1001);
    expect([...amounts].every((amount) => Number(amount) <= 10.1)).toBe(true);
    const cheap = () =>
      test.fetch('POST', '/v1/invoices', { key, body: { chain: 'litecoin', amount: '0.02' } });
    const answers = [];
    for (let count = 0; count < 202; count++) answers.push(await cheap());
    expect(answers.filter((reply) => reply.status === 200)).toHaveLength(201);
    expect(answers.at(-1)?.json).toMatchObject({ code: 'no_free_amount' });
    expect(answers.at(-1)?.status).toBe(409);
  }, 120_000);
});
