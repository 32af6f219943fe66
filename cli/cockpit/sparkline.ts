// A line of small bars, one for each value.

const BARS = '▁▂▃▄▅▆▇█';
const NOTHING = '·';

/** A value of zero is a dot; any other has a bar, the highest the whole height. */
export function sparkline(values: readonly bigint[]): string {
  const highest = values.toSorted((one, other) => (one < other ? -1 : 1)).at(-1) ?? 0n;
  return values
    .map((value) =>
      value <= 0n ? NOTHING : (BARS[Number((value * BigInt(BARS.length) - 1n) / highest)] ?? NOTHING),
    )
    .join('');
}
