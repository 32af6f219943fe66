// Ids: of version 7, in the order of their making whatever the clock does, never twice.
import { afterEach, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { newId } from '../../data/db/ids.ts';

/** More than a counter of 12 bits holds, so that some must borrow from the next millisecond. */
const MANY = 10_000;

afterEach(() => vi.useRealTimers());

test('ids rise within one millisecond, and when the clock is set back', () => {
  const began = Date.now();
  vi.useFakeTimers({ now: began, toFake: ['Date'] });
  const ids = Array.from({ length: MANY }, newId);
  vi.setSystemTime(began - 60_000);
  ids.push(newId());
  vi.setSystemTime(began + 60_000);
  ids.push(newId());
  expect([...ids].sort()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(z.uuidv7().safeParse(id).success, id).toBe(true);
  const time = Number.parseInt((ids.at(-1) ?? '').replace('-', '').slice(0, 12), 16);
  expect(time).toBe(began + 60_000);
});

test('the part that is random differs in every id', () => {
  const tails = Array.from({ length: MANY }, () => newId().slice(19));
  expect(new Set(tails).size).toBe(MANY);
});
