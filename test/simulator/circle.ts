// Finds those who wait for each other in a circle.

/** One circle among who waits for whom, in its order; empty where there is none. */
export function oneOf(waits: ReadonlyMap<number, readonly number[]>): number[] {
  const done = new Set<number>();
  const walk = (one: number, path: readonly number[]): number[] => {
    const at = path.indexOf(one);
    if (at >= 0) return path.slice(at);
    if (done.has(one)) return [];
    for (const next of waits.get(one) ?? []) {
      const circle = walk(next, [...path, one]);
      if (circle.length > 0) return circle;
    }
    done.add(one);
    return [];
  };
  for (const one of waits.keys()) {
    const circle = walk(one, []);
    if (circle.length > 0) return circle;
  }
  return [];
}
