// Pages of the current second: rendered once for equal rows, and again once a row or the second has changed.
import { expect, test } from 'vitest';
import { openPageCache } from '../../../daemon/checkout/page-cache.ts';
import { testClock } from '../../helpers/clock.ts';

const row = (values: object = {}) => ({
  id: 'one',
  status: 'created',
  exits: { wallet: 'ton://' },
  ...values,
});

test('a row that was read again, with columns of JSON, is shown as it was rendered', async () => {
  const clock = testClock(1_800_000_000);
  const cached = openPageCache(clock);
  let rendered = 0;
  const show = (read: object) => cached('key', read, async () => ({ body: `page ${++rendered}` }));
  const first = await show(row());
  expect(String(first.body)).toBe('page 1');
  expect(await show(row())).toBe(first);
  expect(String((await show(row({ status: 'expired' }))).body)).toBe('page 2');
  expect(String((await show(row({ exits: { wallet: 'other://' } }))).body)).toBe('page 3');
  expect(String((await show(row({ exits: null }))).body)).toBe('page 4');
  clock.advance(1);
  expect(String((await show(row({ exits: null }))).body)).toBe('page 5');
});
