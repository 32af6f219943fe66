// Memos: ten characters that no one misreads, drawn without bias.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MEMO_LENGTH, makeMemo } from '../../src/memo.ts';
import { verifies } from '../requirements.ts';

/** The characters that all single bytes give. */
const drawn = Array.from({ length: 256 }, (_, byte) => makeMemo(Uint8Array.of(byte), 1));

test('a memo has ten characters of which none is mistaken for another', () => {
  verifies('memo-form');
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 40, maxLength: 64 }), (random) => {
      const memo = makeMemo(random);
      if (memo !== null) expect(memo).toMatch(/^[2-9A-HJKMNP-TV-Z]{10}$/);
    }),
  );
  expect(MEMO_LENGTH).toBe(10);
});

test('every character is drawn from equally many bytes', () => {
  const counts = new Map<string, number>();
  for (const one of drawn) if (one !== null) counts.set(one, (counts.get(one) ?? 0) + 1);
  expect(new Set(counts.values()).size).toBe(1);
  expect(counts.size).toBe(30);
});

test('bytes that would favour a character are passed over, and too few of the others give no memo', () => {
  const refused = drawn.flatMap((one, byte) => (one === null ? [byte] : []));
  expect(refused.length).toBeLessThan(30);
  const good = Array.from({ length: 10 }, (_, at) => at);
  const mixed = good.flatMap((byte) => [...refused, byte]);
  expect(makeMemo(Uint8Array.from(mixed))).toBe(makeMemo(Uint8Array.from(good)));
  expect(makeMemo(Uint8Array.from(good.slice(1)))).toBeNull();
  expect(makeMemo(Uint8Array.from([...refused, ...good.slice(1)]))).toBeNull();
});
