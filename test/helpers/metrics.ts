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

/** Types whose metrics have series of several names. */
const FAMILIES = new Set(['histogram', 'summary']);

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
    if (!types.has(name) && !FAMILIES.has(types.get(base) ?? '')) throw new Error(`${name} has no type`);
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

/** What a name must not end with, since the unit of a metric is a base unit, and written out. */
const NO_BASE_UNIT =
  /_(milliseconds|microseconds|nanoseconds|minutes|hours|days|weeks|kilobytes|megabytes|gigabytes|kibibytes|mebibytes|gibibytes|bits|percent|ms|us|ns|s|sec|secs|kb|mb|gb|b)(_total)?$/;
const TYPE_IN_NAME = /_(counter|gauge|histogram|summary)(_|$)/;
/** Labels that a type has of its own: others that carry them mislead. */
const OWN_LABELS: Record<string, string> = { le: 'histogram', quantile: 'summary' };

/** What `promtool check metrics` finds: a sentence for each break of a convention. */
export function lintMetrics(text: string): string[] {
  const { types, series } = readMetrics(text);
  const helps = [...text.matchAll(/^# HELP (\S+) (.*)$/gm)].map(([, name = '', help = '']) => ({
    name,
    help,
  }));
  const found: string[] = [];
  const check = (holds: boolean, name: string, says: string) => holds || found.push(`${name} ${says}`);
  for (const [name, type] of types) {
    const of = helps.filter((help) => help.name === name);
    check(of.length === 1 && of[0]?.help.trim() !== '', name, `has ${of.length} help texts`);
    check(/^[a-z][a-z0-9_]*$/.test(name), name, 'is not written in snake_case without colons');
    check(!NO_BASE_UNIT.test(name), name, 'is not in a base unit');
    check(!TYPE_IN_NAME.test(name), name, 'has its type in its name');
    check(
      (type === 'counter') === name.endsWith('_total'),
      name,
      'must end with _total where it is a counter, and only there',
    );
    check(
      !/_(count|sum|bucket|info)$/.test(name) || name === 'gatewayd_info',
      name,
      'ends as a part of another type does',
    );
  }
  for (const { name } of helps) check(types.has(name), name, 'has a help text and no type');
  for (const { name, labels } of series) {
    const type = types.get(name) ?? types.get(name.replace(/_(bucket|sum|count)$/, '')) ?? '';
    for (const label of Object.keys(labels)) {
      check(/^[a-z][a-z0-9_]*$/.test(label) && !label.startsWith('__'), name, `has the label ${label}`);
      check(
        (OWN_LABELS[label] ?? type) === type,
        name,
        `is no ${OWN_LABELS[label]} and has the label ${label}`,
      );
    }
  }
  return [...new Set(found)];
}
