// Data in another form than JSON: what a jq expression makes of it, a line after a template, or CSV.
import { GwError, usage } from '../engine/errors.ts';
import { csvLine } from './csv.ts';
import type { Io, Shape, Writer } from './io.ts';
import { cleanJson, cleanLines } from './text.ts';
import { isRow, memberOf } from './value.ts';
import { rowsOf } from './view.ts';

/** Lines as the terminal may have them; a program gets them as they are. */
const shown = ({ stdout }: Io, text: string): string =>
  stdout.isTTY === true ? text.split('\t').map(cleanLines).join('\t') : text;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Nothing else runs meanwhile, so that a signal has to end the process without a listener's help. */
function interruptible<T>(work: () => T): T {
  const held = SIGNALS.map((signal) => ({ signal, listeners: process.rawListeners(signal) }));
  for (const { signal } of held) process.removeAllListeners(signal);
  try {
    return work();
  } finally {
    for (const { signal, listeners } of held)
      for (const listener of listeners) process.on(signal, listener as NodeJS.SignalsListener);
  }
}

/** The exit code of jq for an expression that is none. */
const COMPILE = 3;

/**
 * Writes what the expression makes of the data: text as it is, anything else as JSON. It is jq itself, compiled for this
 * purpose; it reads neither files nor the environment. Throws for an expression that is none before anything is asked.
 * `is_done`: whether the command has changed something by the time that its reply is read.
 */
export async function jqWriter(io: Io, expression: string, is_done: boolean): Promise<Writer> {
  const { loadJq } = await import('jq-wasm/inline');
  const jq = await loadJq();
  const run = (input: string) => {
    try {
      return interruptible(() => jq.raw(input, expression, ['--compact-output']));
    } catch (error) {
      throw new GwError('general', `jq failed: ${(error as Error).message}`);
    }
  };
  // Without input it is only compiled.
  const { exitCode, stderr } = run('');
  if (exitCode === COMPILE)
    throw usage(`--jq: ${faultOf(stderr)}`, "in quotes, such as --jq '.data[].id'; see jqlang.org/manual");
  return {
    by_page: false,
    write(data) {
      const { stdout, stderr, exitCode } = run(JSON.stringify(data));
      if (exitCode !== 0)
        throw usage(
          `${is_done ? 'the command was carried out, but ' : ''}--jq cannot read the reply: ${faultOf(stderr)}`,
          is_done
            ? 'do not repeat the command for its output: get what it changed'
            : 'the same command with --json shows what the expression reads',
        );
      // Of `debug` and `stderr`.
      if (stderr !== '') io.stderr.write(`${cleanLines(stderr)}\n`);
      return stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => `${line.startsWith('"') ? shown(io, JSON.parse(line)) : asJson(io, line)}\n`)
        .join('');
    },
  };
}

/** What went wrong, without what is around it: `jq: error (at /dev/stdin:0): …`, and the count of faults. */
const faultOf = (stderr: string): string =>
  cleanLines(stderr)
    .replace(/^jq: error( \(at [^)]*\))?:? /, '')
    .replace(/\s*jq: \d+ compile errors?$/, '')
    .replace(/ at <top-level>, line \d+, column \d+:/, ' in')
    .split('\n')
    .filter((line) => !/^\s*\^*\s*$/.test(line))
    .map((line) => line.trim())
    .join(' ');

const asJson = ({ stdout }: Io, line: string): string =>
  cleanJson(stdout.isTTY === true ? JSON.stringify(JSON.parse(line), null, 2) : line);

const PLACEHOLDER = /\{\{(.*?)\}\}/g;
const PATH = /^\s*\.(|\w+(?:\.\w+)*)\s*$/;
const ESCAPES: Record<string, string> = { n: '\n', t: '\t', '\\': '\\' };

/**
 * Writes a line for each row, or for the reply where it is one thing: `{{.id}} {{.amount}}`. `known`: the members of the
 * reply and of its rows, where they are known.
 */
export function templateWriter(io: Io, template: string, known: ReadonlySet<string>): Writer {
  const paths = [...template.matchAll(PLACEHOLDER)].map(([, inside = '']) => {
    const path = PATH.exec(inside)?.[1];
    if (path !== undefined) return path;
    const isControl = /^\s*-?\s*(range|end|if|else|with)\b/.test(inside);
    throw usage(
      `--template takes {{.member}} and {{.member.inner}}, not {{${inside}}}`,
      isControl
        ? 'a list needs none: each row is written as a line; for more there is --jq'
        : 'for more there is --jq',
    );
  });
  if (/\{\{/.test(template.replaceAll(PLACEHOLDER, '')))
    throw usage('--template has {{ without }}', "such as --template '{{.id}} {{.amount}}'");
  const names = [...new Set(paths.flatMap((path) => path.split('.')[0] || []))];
  const unknown = names.filter((name) => known.size > 0 && !known.has(name));
  if (unknown.length > 0)
    throw usage(`unknown member ${unknown.join(', ')}`, `--template takes: ${[...known].join(', ')}`);
  // What stands between the placeholders, one more than of these.
  const between = template.split(/\{\{.*?\}\}/).map(unescaped);
  const lineOf = (thing: unknown): string => {
    const text = between
      .map((literal, index) => literal + (index < paths.length ? textOf(at(thing, paths[index] ?? '')) : ''))
      .join('');
    return shown(io, text.endsWith('\n') ? text : `${text}\n`);
  };
  return {
    by_page: false,
    write(data, { list } = {}) {
      const ofReply = isRow(data) && names.length > 0 && names.every((name) => Object.hasOwn(data, name));
      return ((ofReply ? undefined : rowsOf(data, list)) ?? [data]).map(lineOf).join('');
    },
  };
}

const unescaped = (text: string): string =>
  text.replace(/\\([nt\\])/g, (_, letter: string) => ESCAPES[letter] ?? '');

const at = (thing: unknown, path: string): unknown => (path === '' ? thing : memberOf(thing, path));

const textOf = (value: unknown): string =>
  value === null || value === undefined
    ? ''
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value);

/** Writes a line for each row, below one with the names of the columns: those of the table, or all members. */
export function csvWriter(io: Io): Writer {
  let columns: readonly string[] | undefined;
  return {
    by_page: true,
    write(data, shape: Shape = {}) {
      const rows = rowsOf(data, shape.list) ?? [data];
      const isFirst = columns === undefined;
      columns ??= shape.columns ?? namesOf(rows);
      if (columns === undefined) return '';
      const names = columns;
      const lines = rows.map((row) => csvLine(names.map((name) => csvValue(name, row))));
      return shown(io, (isFirst ? [csvLine(names), ...lines] : lines).join(''));
    },
  };
}

/** The members of the first row; undefined where there is none. What is no object has one column. */
const namesOf = ([first]: readonly unknown[]): readonly string[] | undefined =>
  first === undefined ? undefined : isRow(first) ? Object.keys(first) : ['value'];

/** Times as spreadsheets read them; amounts are text already. */
function csvValue(name: string, row: unknown): unknown {
  const value = isRow(row) ? memberOf(row, name) : row;
  if (typeof value === 'number' && name.endsWith('_at')) return new Date(value * 1000).toISOString();
  const isList = Array.isArray(value) && value.every((one) => typeof one !== 'object');
  return isList ? value.join(', ') : value;
}
