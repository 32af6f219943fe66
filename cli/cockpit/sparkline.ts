// A line of small bars, one for each value.

const BARS = '▁▂▃▄▅▆▇█';
const NOTHING = '·';

/** A value of zero is a dot; any other has a bar, the highest the whole height. */
export function sparkline(values: readonly number[]): string {
  const highest = Math.max(0, ...values);
  return values
    .map((value) =>
      value <= 0
        ? NOTHING
        : (BARS[Math.min(BARS.length - 1, Math.ceil((value / highest) * BARS.length) - 1)] ?? NOTHING),
    )
    .join('');
}
