// The bounded memory of a process: what is used stays, what is not goes first.
import { expect, test } from 'vitest';
import { openCache } from '../../daemon/cache.ts';

test('what was unused for longest is forgotten first, and never more than is needed', () => {
  const cache = openCache<number>(2);
  cache.set('a', 1);
  cache.set('b', 2);
  expect(cache.get('a')).toBe(1);
  cache.set('c', 3);
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([1, undefined, 3]);
  cache.set('a', 4);
  cache.set('d', 5);
  expect([cache.get('a'), cache.get('c'), cache.get('d')]).toEqual([4, undefined, 5]);
});
