// Figures in the text format of Prometheus: what is counted here, what is read when it is asked for, and how both are written.

/** Series of one metric: labels have few values each, and where that is wrong, memory and the scraper are not what pays for it. */
const MAX_SERIES = 2_000;

/** The values of a metric's labels, in their order. */
export type Labels = readonly string[];

export interface Counter {
  add(labels: Labels, by?: number): void;
}

export interface Histogram {
  /** Seconds; less than none, as two clocks may show, counts as none. */
  observe(labels: Labels, seconds: number): void;
}

export interface Sample {
  labels: Labels;
  value: number;
}

/** What a metric is: its name, what it says, and the names of its labels. */
export interface Described {
  name: string;
  help: string;
  labels?: readonly string[];
}

export interface Registry {
  counter(of: Described): Counter;
  /** `bounds`: of its buckets, seconds, rising. */
  histogram(of: Described & { bounds: readonly number[] }): Histogram;
  /** What was counted so far. */
  text(): string;
}

export function createRegistry(): Registry {
  const metrics: (() => string)[] = [];
  return {
    counter(of) {
      const values = createSeries(() => ({ count: 0 }));
      metrics.push(() =>
        written(
          'counter',
          of,
          [...values.all()].map(([labels, { count }]) => ({ labels, value: count })),
        ),
      );
      return {
        add(labels, by = 1) {
          const value = values.of(labels);
          if (value) value.count += by;
        },
      };
    },
    histogram(of) {
      const { bounds } = of;
      const values = createSeries(() => ({ counts: bounds.map(() => 0), count: 0, sum: 0 }));
      metrics.push(
        () =>
          head('histogram', of) + [...values.all()].map(([labels, one]) => series(of, labels, one)).join(''),
      );
      return {
        observe(labels, seconds) {
          const value = values.of(labels);
          if (!value) return;
          const at = bounds.findIndex((bound) => seconds <= bound);
          if (at >= 0) (value.counts as number[])[at] = (value.counts[at] ?? 0) + 1;
          value.count++;
          value.sum += Math.max(0, seconds);
        },
      };
    },
    text: () => metrics.map((text) => text()).join(''),
  };
}

/** The series of one metric by their labels; none for what would be too many. */
function createSeries<Value>(make: () => Value) {
  const known = new Map<string, [Labels, Value]>();
  return {
    of(labels: Labels): Value | undefined {
      const key = labels.join('\n');
      const found = known.get(key);
      if (found) return found[1];
      if (known.size >= MAX_SERIES) return undefined;
      const value = make();
      known.set(key, [labels, value]);
      return value;
    },
    all: () => known.values(),
  };
}

/** One metric as it is now. */
export function written(type: 'counter' | 'gauge', of: Described, samples: readonly Sample[]): string {
  const lines = samples.map(({ labels, value }) => line(of.name, of.labels ?? [], labels, value));
  return head(type, of) + lines.join('');
}

/** Quantiles of what was measured lately, with the sum and the count of all that was measured. */
export function summary(
  of: Described,
  { quantiles, sum, count }: { quantiles: readonly Sample[]; sum: number; count: number },
): string {
  const lines = quantiles.map(({ labels, value }) => line(of.name, ['quantile'], labels, value));
  return [
    head('summary', of),
    ...lines,
    line(`${of.name}_sum`, [], [], sum),
    line(`${of.name}_count`, [], [], count),
  ].join('');
}

const head = (type: string, { name, help }: Described): string =>
  `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${name} ${type}\n`;

/** The buckets of one histogram, each with all that is below it. */
function series(
  { name, labels: names = [], bounds }: Described & { bounds: readonly number[] },
  labels: Labels,
  { counts, count, sum }: { counts: readonly number[]; count: number; sum: number },
): string {
  let below = 0;
  const buckets = bounds.map((bound, at) => {
    below += counts[at] ?? 0;
    return line(`${name}_bucket`, [...names, 'le'], [...labels, String(bound)], below);
  });
  return [
    ...buckets,
    line(`${name}_bucket`, [...names, 'le'], [...labels, '+Inf'], count),
    line(`${name}_sum`, names, labels, sum),
    line(`${name}_count`, names, labels, count),
  ].join('');
}

function line(name: string, names: readonly string[], labels: Labels, value: number): string {
  const pairs = names.map((label, at) => `${label}="${escaped(labels[at] ?? '')}"`);
  return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${shown(value)}\n`;
}

/** Infinity has a name of its own in this format. */
const shown = (value: number): string => String(value).replace('Infinity', value > 0 ? '+Inf' : 'Inf');

const escaped = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
