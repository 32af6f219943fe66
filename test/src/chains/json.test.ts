// JSON that is read piece by piece is what JSON.parse makes of it, and refused where that refuses it.
import { expect, test } from 'vitest';
import { parseJson, readJson, TooMuchJson } from '../../../src/chains/json.ts';
import { verifies } from '../../requirements.ts';

/** Numbers from 0 to 1, the same in each run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

const TEXTS = ['', 'a', '[', '},{', '"', '\\', '\\"', 'ü🙂', '\n', 'x'.repeat(3_000)];
const NAMES = ['a', 'b', '5', '__proto__', '"', 'amount', ''];
const SPACES = ['', '', '', ' ', '\n\t'];

/** A text of JSON with so many characters or a few more, of which inner values are large themselves. */
function someJson(size: number, random: () => number, depth = 0): string {
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  if (size < 200) return pick(['1', '-0.5e3', 'true', 'null', '[]', '{ }', JSON.stringify(pick(TEXTS))]);
  const isList = random() < 0.5;
  const members: string[] = [];
  for (let length = 0; length < size; ) {
    const share = depth < 4 && random() < 0.2 ? size * random() : random() * 400;
    const value = someJson(Math.min(share, size - length), random, depth + 1);
    const name = isList ? '' : `${pick(SPACES)}${JSON.stringify(pick(NAMES))}${pick(SPACES)}:`;
    members.push(`${name}${pick(SPACES)}${value}${pick(SPACES)}`);
    length += (members.at(-1) as string).length;
  }
  return isList ? `[${members.join(',')}]` : `{${members.join(',')}}`;
}

const outcome = (read: () => unknown): string => {
  try {
    return JSON.stringify(read());
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return 'no JSON';
  }
};
/** Whether both read the same; by their members, not by the order of those. */
const same = (text: string): boolean => {
  const [one, other] = [outcome(() => parseJson(text)), outcome(() => JSON.parse(text))];
  if (one === other) return true;
  return one !== 'no JSON' && other !== 'no JSON' && sorted(one) === sorted(other);
};
const sorted = (text: string): string =>
  JSON.stringify(JSON.parse(text), (_, value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
      : value,
  );

test('is the same in pieces', () => {
  verifies('answers-bounded');
  const random = seeded(7);
  for (let round = 0; round < 40; round++)
    expect(same(someJson(50_000 + random() * 900_000, random)), `round ${round}`).toBe(true);
});

test('is refused in pieces where anything is wrong with it', () => {
  verifies('answers-bounded');
  const random = seeded(11);
  const STRUCTURE = /[[\]{},:"]/g;
  for (let round = 0; round < 120; round++) {
    const text = someJson(300_000, random);
    const places = [...text.matchAll(STRUCTURE)].map(({ index }) => index);
    const at = places[Math.floor(random() * places.length)] as number;
    const changed = [',', '', ']', '}', '[', ' ', '1', '"', ', ,'][Math.floor(random() * 9)] as string;
    const odd = text.slice(0, at) + changed + text.slice(at + Math.floor(random() * 2));
    expect(same(odd), `round ${round}: ${changed} at ${at} of ${text.length}`).toBe(true);
  }
});

const BIG = `[${Array(30_000).fill('"abcdefgh"').join(',')}]`;
test.each([
  `[${BIG},]`,
  `[,${BIG}]`,
  `[${BIG},,1]`,
  `[${BIG} 1]`,
  `[1 ${BIG}]`,
  `[1,${BIG}, ]`,
  `{"a":${BIG},}`,
  `{"a" ${BIG}}`,
  `{"a":1${BIG}}`,
  `{${BIG}}`,
  `[${BIG}}`,
  `${BIG} ${BIG}`,
  `${BIG},`,
  `[${' '.repeat(200_000)},1]`,
  `[1,${' '.repeat(200_000)}]`,
  `${BIG.slice(0, -1)},]`,
])('%#: what JSON.parse refuses is refused where it is large, too', (text) => {
  expect(() => JSON.parse(text)).toThrow(SyntaxError);
  expect(() => parseJson(text)).toThrow(SyntaxError);
});

test.each([
  `[${' '.repeat(200_000)}]`,
  `{"5":1,"b":2,"a":${BIG},"a":3,"__proto__":${BIG}, "c" : ${BIG} }`,
  ` [ ${BIG} , ${BIG},1] `,
  `"${'ab'.repeat(500_000)}"`,
])('%#: what it reads is read', (text) => {
  expect(parseJson(text)).toEqual(JSON.parse(text));
});

test('takes steps, each of which is short', () => {
  verifies('answers-held');
  const text = `{"rows":[${Array(200_000).fill('{"value":"0123456789abcdef"}').join(',')}]}`;
  let [steps, longest] = [0, 0];
  const work = readJson(text);
  for (let done = false; !done; steps++) {
    const before = process.cpuUsage();
    done = work.next().done ?? false;
    const { user, system } = process.cpuUsage(before);
    longest = Math.max(longest, (user + system) / 1000);
  }
  expect(steps).toBeGreaterThan(text.length / 200_000);
  expect(longest).toBeLessThan(50);
});

test('a large text with escapes is more than any answer has', () => {
  verifies('answers-bounded');
  for (const each of ['\\n', '\\"', '\\\\'])
    expect(() => parseJson(`{"a":"${each.repeat(100_000)}"}`)).toThrow(TooMuchJson);
});
