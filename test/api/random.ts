// Numbers and choices that one seed decides, and the values that break programs.

export interface Random {
  /** At least 0, less than 1. */
  next(): number;
  /** At least 0, less than `most`. */
  below(most: number): number;
  chance(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
}

/** mulberry32, started from any text. */
export function seeded(seed: string): Random {
  let state = 2_166_136_261;
  for (const character of seed) state = Math.imul(state ^ (character.codePointAt(0) ?? 0), 16_777_619);
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (most: number) => Math.floor(next() * most);
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: (list) => {
      if (list.length === 0) throw new RangeError('nothing to pick from');
      return list[below(list.length)] as (typeof list)[number];
    },
  };
}

/** JSON text that no value stands for: a number beyond doubles, a token that is no JSON. */
export class Verbatim {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

const LONG = 3_000;
const VERY_LONG = 60_000;
const DEEP = 20_000;

export const hostileTexts: readonly string[] = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  'a\udfffb',
  '\u202egnp.exe',
  '\ufeff',
  '\r\nset-cookie: a=b',
  '\u0001\u001f\u007f\u0085',
  '٣٤٥',
  '１２３',
  '1e3',
  '1E400',
  '-0',
  '0x10',
  '1_000',
  '+5',
  '.',
  '-.',
  '00.',
  '1'.repeat(400),
  `0.${'0'.repeat(400)}1`,
  '9'.repeat(10),
  '0.0000000000000000001',
  'NaN',
  'Infinity',
  'null',
  'undefined',
  'true',
  '[object Object]',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  "' or 1=1 --",
  '"; drop table users; --',
  '%',
  '_',
  '%s%n',
  '$'.concat('{jndi:ldap://x}'),
  '{{7*7}}',
  '{invoice_id}',
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '../../../../etc/passwd',
  '..%2f..%2f',
  'file:///etc/passwd',
  'http://169.254.169.254/latest/meta-data',
  'http://user:pass@127.0.0.1:1/',
  'javascript:alert(1)',
  'http://[::1]:99999/',
  'a@b',
  'a@b.c',
  `${'a'.repeat(64)}@${'b'.repeat(60)}.example`,
  'ada@gmail.com',
  '12345678',
  '00000000-0000-0000-0000-000000000000',
  '{00000000-0000-4000-8000-000000000000}',
  'urn:uuid:00000000-0000-4000-8000-000000000000',
  '00000000-0000-4000-8000-00000000000g',
  '2026-02-30',
  '0000-01-01',
  '9999-12-31',
  '٢٠٢٦-٠١-٠١',
  'TON',
  'Ton-USDT ',
  'ton\0',
  'İ',
  'ß',
  '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}',
  'e\u0301'.repeat(60),
  'z\u0335\u0321'.repeat(300),
  'a'.repeat(LONG),
  '\u{1f4b0}'.repeat(LONG),
];

export const rareTexts: readonly string[] = ['a'.repeat(VERY_LONG), '\\"'.repeat(VERY_LONG / 2)];

export const hostileValues: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  1,
  -1,
  0.5,
  1e-7,
  5e-324,
  1e21,
  1.7976931348623157e308,
  2 ** 31,
  2 ** 53,
  -(2 ** 63),
  4_294_967_296,
  new Verbatim('1e400'),
  new Verbatim('-1e400'),
  new Verbatim('1E-400'),
  new Verbatim('1e3'),
  new Verbatim(`1${'0'.repeat(500)}`),
  new Verbatim(`0.${'0'.repeat(500)}1`),
  new Verbatim('-0.0'),
  [],
  {},
  [[]],
  [null],
  ['a', 'a'],
  { length: 1 },
  { 0: 'a' },
  { toString: 1 },
  { toJSON: 'x', valueOf: null },
  { $gt: '' },
  new Verbatim('{"then":1}'),
  new Verbatim('{"__proto__":{"is_superuser":true}}'),
  new Verbatim('{"constructor":{"prototype":{"is_superuser":true}}}'),
  Array.from({ length: 101 }, () => 'ton'),
  Array.from({ length: 2_000 }, (_, each) => each),
];

/** Bodies as a whole. */
export const hostileBodies: readonly string[] = [
  '',
  ' ',
  '{',
  '}',
  '{]',
  '{"a":}',
  '{"a":1,}',
  "{'a':1}",
  '{a:1}',
  '[1,2',
  '"',
  '"\\u12"',
  '"\\ud800"',
  '"\n"',
  'nul',
  'NaN',
  '-',
  '01',
  '1 2',
  '\ufeff{}',
  '{}{}',
  '// {}',
  'null',
  '[]',
  '0',
  '"text"',
  'true',
  '[{}]',
  '<xml/>',
  'a=b&c=d',
  '%',
  '[['.repeat(DEEP),
  `${'['.repeat(DEEP)}${']'.repeat(DEEP)}`,
  `${'{"a":'.repeat(DEEP)}1${'}'.repeat(DEEP)}`,
];

/** Bytes that are no UTF-8, or begin like another encoding. */
export const hostileBytes: readonly Uint8Array[] = [
  Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d),
  Uint8Array.of(0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00),
  Uint8Array.of(0xc0, 0x80),
  Uint8Array.of(0xed, 0xa0, 0x80),
  Uint8Array.of(0xf8, 0x88, 0x80, 0x80, 0x80),
  Uint8Array.of(0x1f, 0x8b, 0x08, 0x00),
  new Uint8Array(256 * 1024 + 1).fill(0x20),
];

/** JSON text of a value, with `Verbatim` as it stands. */
export function writeJson(value: unknown): string {
  if (value instanceof Verbatim) return value.text;
  if (Array.isArray(value)) return `[${value.map(writeJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  return writeMembers(Object.entries(value));
}

/** An object whose names may repeat. */
export const writeMembers = (members: readonly (readonly [string, unknown])[]): string =>
  `{${members.map(([name, member]) => `${JSON.stringify(name)}:${writeJson(member)}`).join(',')}}`;
