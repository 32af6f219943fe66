// Logging: JSON lines on stderr, readable lines on a terminal; no secret and no control character gets through.
import { type Logger, type LoggerOptions, pino } from 'pino';
import { codeOf, isBusy, isUnusable } from '../../data/db/failures.ts';

/** Where lines go in a test. */
export interface LogSink {
  write(line: string): unknown;
}

export interface LogOptions {
  level: 'silent' | 'error' | 'warn' | 'info' | 'debug';
  /** Readable lines in place of JSON. */
  pretty?: boolean;
  sink?: LogSink;
  /** Configured secrets: wherever they turn up in a line, they are masked; more may be added to the list. */
  secrets?: readonly (string | undefined)[];
}

/** What every text that is masked holds; most lines hold none of it. */
const SUSPECT = /gw_|eyJ|whsec_|key|token|secret|bearer|:\/\/|password|authorization|cookie|hash/i;
const MASK = '(hidden)';
/** A shorter secret would mask ordinary words. */
const MIN_MASKED_LENGTH = 8;
/** Values under these names are masked, however deep. */
const SECRET_NAMES =
  'password|new_password|current_password|api_key|apiKey|token|access_token|id_token|bot_token|secret|webhook_secret|authorization|x-api-key|cookie|hash';
const SECRET_FIELD = new RegExp(`("(?:${SECRET_NAMES})":)"(?:[^"\\\\]|\\\\.)*"`, 'gi');
/** Merchant and platform keys, tokens, webhook secrets, keys in a query, passwords in a URL. */
const SECRET_TEXT: readonly [RegExp, string][] = [
  [/\bgw_[\x21\x23-\x5b\x5d-\x7e]{8,}/g, `gw_${MASK}`],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, MASK],
  [/\bwhsec_[\w+/=-]+/g, MASK],
  [/([?&](?:api_?key|token|key|secret)=)[^&\s"]+/gi, `$1${MASK}`],
  [/(\bbearer\s+)[\w.~+/-]+=*/gi, `$1${MASK}`],
  [/(\b[a-z][a-z0-9+.-]*:\/\/[^\s/@:"]*):[^\s/@"]*@/gi, `$1:${MASK}@`],
];
/** Controls that JSON leaves alone, and characters that turn the direction of text. */
const UNSEEN = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
/** What all that asks the database would say while it is away stands in the log so often, with how many lines were left out. */
const AGAIN_MS = 60_000;
const SERVICE_UNAVAILABLE = 503;
const CLOCK_START = 11;
const CLOCK_END = 19;

/** The daemon's logger; to stderr unless a sink is given. Warnings and errors are written at once. */
export function createLog({ level, pretty = false, sink, secrets = [] }: LogOptions): Logger {
  const write = sink ? (line: string) => void sink.write(line) : inBatches(process.stderr);
  const clean = (line: string) =>
    escaped(
      secrets.reduce<string>(
        (text, secret) =>
          (secret?.length ?? 0) < MIN_MASKED_LENGTH ? text : text.replaceAll(inJson(secret as string), MASK),
        mask(line),
      ),
    );
  return pino(
    {
      level,
      base: null,
      timestamp,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { logMethod: withoutRepeats() },
    },
    { write: (line: string) => write(pretty ? readable(clean(line)) : clean(line), isUrgent(line)) },
  );
}

interface Foldable {
  err?: unknown;
  status?: number;
  [field: string]: unknown;
}

/** Passes lines on, of a failing database and of requests that are refused with 503 one of each kind a minute, and one stack. */
function withoutRepeats(): NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']> {
  const kinds = new Map<string, { at_ms: number; left_out: number }>();
  /** How many were left out before this one; null where it is left out itself. */
  const turn = (kind: string): number | null => {
    const now_ms = performance.now();
    const known = kinds.get(kind);
    if (known && now_ms - known.at_ms < AGAIN_MS) {
      known.left_out++;
      return null;
    }
    kinds.set(kind, { at_ms: now_ms, left_out: 0 });
    return known?.left_out ?? 0;
  };
  return function (line, write) {
    const [fields, message] = line as unknown as [Foldable | string, string?];
    if (typeof fields === 'string' || !repeats(fields)) return write.apply(this, line);
    const left_out = turn(`${message} ${codeOf(fields.err ?? {})}`);
    if (left_out === null) return;
    const { err, ...rest } = fields;
    if (err) Object.assign(rest, turn('stack') === null ? { reason: (err as Error).message } : { err });
    if (left_out > 0) rest.left_out = left_out;
    write.apply(this, [rest, message] as never);
  };
}

const repeats = ({ err, status }: Foldable): boolean =>
  err instanceof Error ? isBusy(err) || isUnusable(err) : status === SERVICE_UNAVAILABLE;

let stamped_at = 0;
let stamp = '';

/** The time in ISO 8601; many lines are written within one millisecond. */
function timestamp(): string {
  const now = Date.now();
  if (now !== stamped_at) {
    stamped_at = now;
    stamp = `,"time":"${new Date(now).toISOString()}"`;
  }
  return stamp;
}

const isUrgent = (line: string): boolean => !/^\{"level":"(?:info|debug)"/.test(line);

/** Lines of one turn of the event loop go out in one write; what may be the last before an end goes out at once. */
function inBatches(stream: NodeJS.WriteStream): (line: string, urgent: boolean) => void {
  let lines = '';
  const flush = () => {
    const text = lines;
    lines = '';
    if (text !== '') stream.write(text);
  };
  process.on('exit', flush);
  return (line, urgent) => {
    if (lines === '' && !urgent) setImmediate(flush);
    lines += line;
    if (urgent) flush();
  };
}

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

function mask(line: string): string {
  if (!SUSPECT.test(line)) return line;
  const masked = line.replace(SECRET_FIELD, `$1"${MASK}"`);
  return SECRET_TEXT.reduce((text, [pattern, by]) => text.replace(pattern, by), masked);
}

const escaped = (text: string): string =>
  text.replace(UNSEEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** `12:00:01 info  request endpoint=health status=200`; values stay as JSON where they are no plain words. */
function readable(line: string): string {
  const { time, level, msg, err, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const fields = Object.entries(rest).map(([name, value]) => `${name}=${plain(value)}`);
  const failure = err as { message?: unknown; stack?: unknown } | undefined;
  if (failure)
    fields.push(`error=${plain(level === 'error' ? (failure.stack ?? failure.message) : failure.message)}`);
  const clock = String(time).slice(CLOCK_START, CLOCK_END);
  return `${[clock, String(level).padEnd(5), plain(msg ?? '', true), ...fields].join(' ')}\n`;
}

function plain(value: unknown, words = false): string {
  if (typeof value === 'string' && (words ? /^[\x20-\x7e]*$/ : /^[\x21\x23-\x7e]+$/).test(value))
    return value;
  return escaped(JSON.stringify(value) ?? 'undefined');
}
