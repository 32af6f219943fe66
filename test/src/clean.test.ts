// Characters that no one sees: dropped from what names something, and left in passwords.
import { beginCell } from '@ton/core';
import { expect, test } from 'vitest';
import { hashPassword, verifyPassword } from '../../daemon/accounts/passwords.ts';
import { leavesOf, readLayer } from '../../daemon/settings/layers.ts';
import { settingsSchema } from '../../daemon/settings/schema.ts';
import { findBlockchain } from '../../src/chains/gateways.ts';
import { readComment } from '../../src/chains/ton/body.ts';
import { findTxid } from '../../src/claim.ts';
import { cleanText, decodeText, spellingsOf, UnreadableText, withoutLineEnd } from '../../src/clean.ts';
import { MEMO_ALPHABET } from '../../src/memo.ts';
import { verifies } from '../requirements.ts';

/** Byte-order mark, zero-width space and joiners, soft hyphen, marks of direction, a tag, a line end, a bell. */
const UNSEEN = [
  '\uFEFF',
  '\u200B',
  '\u200C',
  '\u200D',
  '\u00AD',
  '\u202E',
  '\u2066',
  '\u{E0041}',
  '\r\n',
  '\u0007',
];
const within = (text: string, unseen: string) =>
  `${unseen} ${text.slice(0, 3)}${unseen}${text.slice(3)}${unseen}\n`;

test.each(UNSEEN)('%j is dropped wherever it stands', (unseen) => {
  verifies('clean-pasted');
  expect(cleanText(within('ABC23DEF45', unseen))).toBe('ABC23DEF45');
  const comment = beginCell().storeUint(0, 32).storeStringTail(within('ABC23DEF45', unseen)).endCell();
  expect(readComment(comment.beginParse())).toBe('ABC23DEF45');
  const txid = 'ab'.repeat(32);
  expect(findTxid(within(txid, unseen), (id) => id)).toBe(txid);
  const { family } = findBlockchain('base') ?? {};
  expect(family?.normalizeTxid(within(`0x${txid}`, unseen))).toBe(`0x${txid}`);
});

test.each([
  ['ton', '0QAREREREREREREREREREREREREREREREREREREREREREQBc'],
  ['solana', 'HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk'],
  ['bitcoin', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx'],
  ['base', `0x${'12'.repeat(20)}`],
])('an address of %s is the same with them', (blockchain, address) => {
  verifies('clean-pasted');
  const { family } = findBlockchain(blockchain) ?? {};
  for (const unseen of UNSEEN)
    expect(family?.normalizeAddress(within(address, unseen), 'testnet')).toEqual(
      family?.normalizeAddress(address, 'testnet'),
    );
});

test('no memo has any of them', () => {
  expect(cleanText(MEMO_ALPHABET)).toBe(MEMO_ALPHABET);
});

test('settings are read without them, but for what is a password or a key of ours', () => {
  verifies('clean-pasted');
  const leaves = leavesOf(settingsSchema);
  const errors: string[] = [];
  const env = { GATEWAYD_HOST: '\uFEFF127.0.0.1\r', GATEWAYD_ADMIN_PASSWORD: 'zero\u200Bwidth' };
  expect(readLayer(leaves, { kind: 'env', env }, errors).value).toEqual({
    host: '127.0.0.1',
    admin: { password: 'zero\u200Bwidth' },
  });
  const text = decodeText(
    Buffer.from(`\uFEFF${JSON.stringify({ host: '127.0.0.1\u200B', secret: 'a\u200Bb' })}`),
  );
  const file = readLayer(leaves, { kind: 'file', name: 'x.json', text }, errors);
  expect(file.value).toEqual({ host: '127.0.0.1', secret: 'a\u200Bb' });
  expect(errors).toEqual([]);
  expect(decodeText(Buffer.from('\uFEFF{}'))).toBe('{}');
});

test('a password is the same from every keyboard, loses nothing, and one hashed before still fits', async () => {
  verifies('clean-password');
  const [composed, typed] = ['caf\u00E9 \u200Dpass', 'cafe\u0301 \u200Dpass'];
  expect([spellingsOf(composed), spellingsOf(typed)]).toEqual([[composed], [composed, typed]]);
  const hash = await hashPassword(typed);
  for (const each of [composed, typed]) expect(await verifyPassword(hash, each)).toBe(true);
  expect(await verifyPassword(hash, 'caf\u00E9 pass')).toBe(false);
  const { hash: raw } = await import('@node-rs/argon2');
  const before = await raw(typed, { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
  expect(await verifyPassword(before, typed)).toBe(true);
  expect(await verifyPassword(null, typed)).toBe(false);
});

test.each([
  ['little-endian with its mark', Buffer.from('\uFEFF{"a":1}', 'utf16le')],
  ['big-endian with its mark', Buffer.from('\uFEFF{"a":1}', 'utf16le').swap16()],
  ['little-endian', Buffer.from('{"a":1}', 'utf16le')],
  ['big-endian', Buffer.from('{"a":1}', 'utf16le').swap16()],
])('UTF-16 is refused by its name: %s', (_, bytes) => {
  verifies('clean-bytes');
  expect(() => decodeText(bytes)).toThrow(new UnreadableText('is in UTF-16; save it as UTF-8', true));
});

test('what is no text is refused, and text stays as it is', () => {
  expect(() => decodeText(Buffer.from([0x7b, 0xc3, 0x28]))).toThrow('is not in UTF-8');
  for (const text of ['', '{', ' \n{"é":"\u{1F600}\uFEFF"}\r\n'])
    expect(decodeText(Buffer.from(text))).toBe(text);
});

test.each(['\n', '\r', '\r\n', '\n\n'])(
  'a line end behind a password or a secret is no part of it: %j',
  (end) => {
    verifies('clean-line-ends');
    expect(withoutLineEnd(` two  words ${end}`)).toBe(' two  words ');
    expect(withoutLineEnd(`one${end}two${end}`)).toBe(`one${end}two`);
  },
);
