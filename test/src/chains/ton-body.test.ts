// Bodies are read as the chain's own library reads them, without hashing their cells.
import { beginCell, type Cell } from '@ton/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cellIn, parseBody, readComment, readInternalTransfer } from '../../../src/chains/ton/body.ts';
import { verifies } from '../../requirements.ts';

const bits = fc.tuple(fc.uint8Array({ maxLength: 126 }), fc.integer({ min: 0, max: 7 }));
const tree = fc.letrec<{ cell: Cell }>((tie) => ({
  cell: fc
    .tuple(bits, fc.array(tie('cell'), { maxLength: 4, depthIdentifier: 'cell', size: '-1' }))
    .map(([[bytes, more], refs]) => {
      const builder = beginCell().storeBuffer(Buffer.from(bytes)).storeUint(more, more);
      for (const ref of refs) builder.storeRef(ref);
      return builder.endCell();
    }),
})).cell;

type Read = Pick<Cell, 'bits' | 'beginParse'>;
/** All bits of a tree, in its order. */
const bitsOf = (part: Read): string => {
  const slice = part.beginParse();
  const found = [slice.loadBits(slice.remainingBits).toString()];
  while (slice.remainingRefs > 0) found.push(bitsOf(slice.loadRef()));
  return `(${found.join(' ')})`;
};

test('any tree is the same, with and without an index and a checksum', () => {
  fc.assert(
    fc.property(tree, fc.boolean(), fc.boolean(), (cell, idx, crc32) => {
      const read = cellIn(cell.toBoc({ idx, crc32 }).toString('base64'));
      expect(bitsOf(read)).toBe(bitsOf(cell));
    }),
  );
});

test('a comment and a jetton transfer are read of them', () => {
  const comment = beginCell()
    .storeUint(0, 32)
    .storeStringTail(`order ${'x'.repeat(300)}`)
    .endCell();
  const body = parseBody(comment.toBoc().toString('base64'));
  expect(body && readComment(body.beginParse())).toBe(`order ${'x'.repeat(300)}`);
  const transfer = beginCell()
    .storeUint(0x178d4519, 32)
    .storeUint(7, 64)
    .storeCoins(1_500_000n)
    .storeAddress(null)
    .storeAddress(null)
    .storeCoins(1n)
    .storeBit(1)
    .storeRef(beginCell().storeUint(0, 32).storeStringTail('ABC23DEF45').endCell())
    .endCell();
  const read = parseBody(transfer.toBoc().toString('base64'));
  expect(read && readInternalTransfer(read)).toMatchObject({ amount_atomic: 1_500_000n, memo: 'ABC23DEF45' });
});

test('bytes that were changed give no body, or one that is read without an error', () => {
  fc.assert(
    fc.property(tree, fc.nat(), fc.nat(255), (cell, place, byte) => {
      const bytes = cell.toBoc({ crc32: false });
      bytes[place % bytes.length] = byte;
      const body = parseBody(bytes.toString('base64'));
      if (!body) return;
      expect(() => [readComment(body.beginParse()), readInternalTransfer(body)]).not.toThrow();
    }),
  );
});

test('a checksum that is wrong, a reference that leads back and a byte without its last bit give none', () => {
  const body = beginCell().storeUint(1, 9).storeRef(beginCell().storeUint(5, 3).endCell()).endCell();
  const right = body.toBoc({ idx: false, crc32: true });
  expect(parseBody(right.toString('base64'))).not.toBeNull();
  const changed = Buffer.from(right);
  changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
  expect(parseBody(changed.toString('base64'))).toBeNull();
  const plain = body.toBoc({ idx: false, crc32: false });
  // The root's only reference, after its two bytes of bits.
  const at = plain.length - 1 - 3;
  expect(plain[at]).toBe(1);
  const back = Buffer.from(plain);
  back[at] = 0;
  expect(parseBody(back.toString('base64'))).toBeNull();
  const open = Buffer.from(plain);
  open[open.length - 1] = 0;
  expect(parseBody(open.toString('base64'))).toBeNull();
});

/** Nearly as many cells as a message may have, each with all the references that it can have. */
function fullBody(): string {
  let level = Array.from({ length: 6_140 }, (_, leaf) => beginCell().storeUint(leaf, 32).endCell());
  while (level.length > 1) {
    const next: Cell[] = [];
    for (let from = 0; from < level.length; from += 4) {
      const builder = beginCell().storeUint(from, 32);
      for (const ref of level.slice(from, from + 4)) builder.storeRef(ref);
      next.push(builder.endCell());
    }
    level = next;
  }
  return (level[0] as Cell).toBoc({ idx: false }).toString('base64');
}

test('a body with as many cells as there may be costs a few milliseconds', () => {
  verifies('answers-held');
  const body = fullBody();
  parseBody(body);
  const before = process.cpuUsage();
  expect(parseBody(body)).not.toBeNull();
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(50);
  if (process.env.SHOW_COST) process.stderr.write(`body: ${(user + system) / 1000} ms\n`);
});
