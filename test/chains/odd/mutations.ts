// Every way to spoil one JSON answer: each value in it dropped, or put in place of by something of another kind.

export interface Mutation {
  /** Where and what, for messages: `last.seqno := -1`. */
  name: string;
  /** Changes a copy of the answer; returns it as it is where it has no such place. */
  apply(answer: unknown): unknown;
}

type Path = (string | number)[];

const DROPPED = Symbol('dropped');
const HUGE = 2 ** 52;
const substitutes: readonly unknown[] = [
  DROPPED,
  null,
  true,
  '',
  'x',
  'a\u0000b',
  [],
  {},
  -1,
  0,
  1.5,
  1e21,
  HUGE,
  { toString: 1 },
  [null],
];

/** All mutations of an answer of this shape, in a fixed order. */
export function mutationsOf(answer: unknown): Mutation[] {
  const found: Mutation[] = [];
  for (const path of pathsOf(answer)) {
    const value = at(answer, path);
    const others = [...substitutes, ...retyped(value), ...reordered(value)];
    for (const other of others) {
      if (path.length === 0 && other === DROPPED) continue;
      found.push({
        name: `${path.join('.') || 'answer'} := ${other === DROPPED ? 'dropped' : JSON.stringify(other).slice(0, 60)}`,
        apply: (given) => replaced(given, path, other),
      });
    }
  }
  return found;
}

/** A number as text and a text as number. */
const retyped = (value: unknown): unknown[] =>
  typeof value === 'number'
    ? [String(value)]
    : typeof value === 'string' && /^\d+$/.test(value)
      ? [Number(value)]
      : [];

const reordered = (value: unknown): unknown[] =>
  Array.isArray(value) && value.length > 0
    ? [[...value, ...value], value.slice(1), value.toReversed(), [...value, null]]
    : [];

function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return [path];
  return [
    path,
    ...Object.entries(value).flatMap(([key, each]) =>
      pathsOf(each, [...path, Array.isArray(value) ? Number(key) : key]),
    ),
  ];
}

const at = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((inner, key) => (inner as Record<string, unknown> | null)?.[key], value);

function replaced(answer: unknown, path: Path, other: unknown): unknown {
  const last = path.at(-1);
  if (last === undefined) return other;
  const parent = at(answer, path.slice(0, -1));
  if (typeof parent !== 'object' || parent === null || !(last in parent)) return answer;
  if (other === DROPPED) delete (parent as Record<string, unknown>)[last];
  else (parent as Record<string, unknown>)[last] = structuredClone(other);
  return answer;
}
