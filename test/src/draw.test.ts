// Numbers drawn from random bytes: each once, all in time, each place as likely as another.
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shuffled } from '../../src/draw.ts';
import { verifies } from '../requirements.ts';

test('a draw has each number once, whatever the bytes are', () => {
  fc.assert(
    fc.property(fc.nat(300), fc.infiniteStream(fc.nat(255)), (count, bytes) => {
      const drawn = [...shuffled(count, (length) => Uint8Array.from({ length }, () => bytes.next().value))];
      expect(drawn.sort((a, b) => a - b)).toEqual([...Array(count).keys()]);
    }),
  );
});

test('it follows from the bytes alone, and every number stands in every place about as often', () => {
  verifies('amount-drawn');
  const fixed = () => Uint8Array.from([0, 0, 0, 0, 1, 4]);
  expect([...shuffled(100, fixed)]).toEqual([...shuffled(100, fixed)]);
  const COUNT = 10;
  const DRAWS = 20_000;
  const firsts = Array(COUNT).fill(0);
  const lasts = Array(COUNT).fill(0);
  for (let draw = 0; draw < DRAWS; draw++) {
    const drawn = [...shuffled(COUNT, randomBytes)];
    firsts[drawn[0] as number]++;
    lasts[drawn.at(-1) as number]++;
  }
  // Ten standard deviations.
  for (const times of [...firsts, ...lasts]) expect(Math.abs(times - DRAWS / COUNT)).toBeLessThan(425);
});

test('the first of a million costs no more than the first of ten', () => {
  let asked = 0;
  const counted = (length: number) => {
    asked += length;
    return randomBytes(length);
  };
  const draw = shuffled(1_000_000, counted);
  for (let at = 0; at < 16; at++) expect(draw.next().value).toBeLessThan(1_000_000);
  expect(asked).toBeLessThan(200);
});
