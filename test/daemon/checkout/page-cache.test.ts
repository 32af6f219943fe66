// Pages of the current second: rendered once for a row that stays as it is, and again once it or the second has changed.
import { expect, test } from 'vitest';
import { openPageCache } from '../../../daemon/checkout/page-cache.ts';
import { type CheckoutRow, checkoutStateOf } from '../../../data/views/checkout.ts';
import { testClock } from '../../helpers/clock.ts';

const created = { id: 'one', status: 'created', confirmations: 0, exits: { wallet: 'ton://' } };

function openShop() {
  const clock = testClock(1_800_000_000);
  const asked = { row: 0, state: 0, rendered: 0 };
  const stored = { row: created as unknown as CheckoutRow | undefined };
  const cache = openPageCache<{ body: string }>(clock, {
    // Each reading makes an object of its own, with columns of JSON.
    async row() {
      asked.row++;
      return stored.row && structuredClone(stored.row);
    },
    async state() {
      asked.state++;
      return stored.row && { state: checkoutStateOf(stored.row) };
    },
    isSame: (_, state) => () => stored.row !== undefined && checkoutStateOf(stored.row) === state,
  });
  const show = async () => {
    const row = await cache.row('one');
    return row && cache.page('key', row, async () => ({ body: `page ${++asked.rendered}` }));
  };
  const change = (values: object) => {
    stored.row = { ...stored.row, ...values } as CheckoutRow;
  };
  return { clock, asked, stored, show, change };
}

test('within a second only the state is asked for, and the page is rendered once', async () => {
  const { asked, show } = openShop();
  const first = await show();
  expect(String(first?.body)).toBe('page 1');
  expect(await show()).toBe(first);
  expect(await show()).toBe(first);
  expect(asked).toEqual({ row: 1, state: 2, rendered: 1 });
});

test.each([
  { status: 'expired' },
  { confirmations: 1 },
  { received_atomic: '5' },
  { payment_status: 'detected' },
  { payment_received: '5' },
  { payment_txid: 'ab' },
  { merchant_name: 'Ada Lovelace' },
  { unit_title: 'Tea' },
])('a change is shown at once: %o', async (values) => {
  const { asked, show, change } = openShop();
  await show();
  change(values);
  expect(String((await show())?.body)).toBe('page 2');
  expect(asked.row).toBe(2);
});

test('the next second renders again, of a row that is read whole', async () => {
  const { clock, asked, show } = openShop();
  await show();
  clock.advance(1);
  expect(String((await show())?.body)).toBe('page 2');
  expect(asked).toEqual({ row: 2, state: 0, rendered: 2 });
});

test('an invoice that is gone has no page', async () => {
  const { stored, show } = openShop();
  await show();
  stored.row = undefined;
  expect(await show()).toBeUndefined();
});
