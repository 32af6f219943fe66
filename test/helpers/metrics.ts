// Reads the text format of Prometheus, strictly: what a scraper would refuse throws.

export interface Series {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export interface Scraped {
  /** Type of each metric, by its name. */
  types: Map<string, string>;
  series: Series[];
  /** The value of the one series of this name whose labels include these; undefined where there is none. */
  value(name: string, labels?: Record<string, string>): number | undefined;
}

const LINE =
  /^([a-zA-Z_:][\w:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (-?[\d.]+(?:e[+-]?\d+)?|NaN|[+-]Inf)$/;
const PAIR = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

export function readMetrics(text: string): Scraped {
  const types = new Map<string, string>();
  const series: Series[] = [];
  const seen = new Set<string>();
  if (!text.endsWith('\n')) throw new Error('the last line is not ended');
  for (const line of text.slice(0, -1).split('\n')) {
    const [, kind, about = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (kind === 'TYPE') {
      if (types.has(about)) throw new Error(`${about} has two types`);
      types.set(about, rest);
    }
    if (kind) continue;
    const [whole, name = '', labels = '', value = ''] = LINE.exec(line) ?? [];
    if (whole === undefined) throw new Error(`no line of metrics: ${line}`);
    const key = `${name}{${labels}}`;
    if (seen.has(key)) throw new Error(`twice: ${key}`);
    seen.add(key);
    const base = name.replace(/_(bucket|sum|count)$/, '');
    if (!types.has(name) && types.get(base) !== 'histogram') throw new Error(`${name} has no type`);
    series.push({
      name,
      labels: Object.fromEntries(
        [...labels.matchAll(PAIR)].map(([, label = '', text = '']) => [label, text]),
      ),
      value: Number(value.replace('Inf', 'Infinity')),
    });
  }
  return {
    types,
    series,
    value: (name, labels = {}) =>
      series.find(
        (one) =>
          one.name === name && Object.entries(labels).every(([label, text]) => one.labels[label] === text),
      )?.value,
  };
}
