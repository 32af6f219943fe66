// What goes out: data on stdout, messages on stderr; colours and JSON as requested.
import { readFileSync } from 'node:fs';
import { decodeText, withoutLineEnd } from '../../src/clean.ts';
import { cleanJson } from './text.ts';

export type ColorMode = 'auto' | 'always' | 'never';

/** False, all members, or the named ones. */
export type JsonMode = false | true | readonly string[];

/** What of data is rows, and which of their members a table has. */
export interface Shape {
  /** The member that holds the rows; found automatically where the reply has only one list. */
  list?: string;
  columns?: readonly string[];
}

/** Writes data in place of JSON. */
export interface Writer {
  write(data: unknown, shape?: Shape): string;
  /** Whether a list may come a page at a time. */
  by_page: boolean;
}

export interface Io {
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
  stdin: NodeJS.ReadStream;
  env: NodeJS.ProcessEnv;
  json: JsonMode;
  /** In place of JSON, where `--jq`, `--template` or `--csv` asks for it. */
  writer?: Writer | undefined;
  quiet: boolean;
  color: boolean;
  /** Whether a person may be asked: terminal on both sides, and not forbidden. */
  prompts: boolean;
  /** Whether a screen or a question has the terminal. */
  busy: boolean;
}

const FALLBACK_WIDTH = 80;
const COLORS = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;
export type Color = keyof typeof COLORS;

/** Our variables without the line ends that shells and files put behind a value; in place, for what is started by this reads them too. */
function trimmed(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  for (const [name, value] of Object.entries(env))
    if (name.startsWith('GW_') && value !== undefined) env[name] = withoutLineEnd(value);
  return env;
}

/** The process's own streams; nothing is asked of them before a command does. */
export const processIo = (): Io => ({
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
  env: trimmed(process.env),
  json: false,
  quiet: false,
  color: false,
  prompts: false,
  busy: false,
});

/** After no-color.org and its companions: a flag, then NO_COLOR, FORCE_COLOR, then what the stream is. */
export function wantsColor(mode: ColorMode, { env, stdout }: Pick<Io, 'env' | 'stdout'>): boolean {
  if (mode !== 'auto') return mode === 'always';
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0';
  return stdout.isTTY === true && env.TERM !== 'dumb';
}

export const paint = (io: Pick<Io, 'color'>, color: Color, text: string): string =>
  io.color ? `\u001b[${COLORS[color]}m${text}\u001b[0m` : text;

/** Text that a click opens, where the terminal knows links (OSC 8); others show the text. Nothing but a web address is one. */
export function linked(
  { color, stdout }: Pick<Io, 'color' | 'stdout'>,
  text: string,
  address: unknown,
): string {
  const isWeb = typeof address === 'string' && /^https?:/.test(address) && URL.canParse(address);
  if (!color || stdout.isTTY !== true || !isWeb) return text;
  return `\u001b]8;;${new URL(address).href}\u001b\\${text}\u001b]8;;\u001b\\`;
}

/** Cells of a line; COLUMNS wins, as users expect. A terminal without a size reports 0. */
export function terminalWidth({ env, stdout }: Pick<Io, 'env' | 'stdout'>): number {
  const wanted = Number(env.COLUMNS);
  return Number.isInteger(wanted) && wanted > 0 ? wanted : stdout.columns || FALLBACK_WIDTH;
}

/** Data, on stdout. */
export const print = (io: Io, text: string): void => {
  io.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
};

/** A message for the person at the terminal; nothing depends on it. */
export const say = (io: Io, text: string): void => {
  if (!io.quiet) io.stderr.write(`${text}\n`);
};

/** One JSON document, indented for a person; or what was asked for in place of it. */
export const printJson = (io: Io, value: unknown, shape?: Shape): void =>
  printData(io, value, io.stdout.isTTY ? 2 : undefined, shape);

/** One line of a stream of JSON documents. */
export const printJsonLine = (io: Io, value: unknown): void => printData(io, value, undefined);

function printData(io: Io, value: unknown, indent: number | undefined, shape?: Shape): void {
  if (io.writer) io.stdout.write(io.writer.write(value, shape));
  else print(io, cleanJson(JSON.stringify(value, null, indent)));
}

/** Most that is read from stdin: no body is larger. */
const MAX_STDIN_BYTES = 1_000_000;

/** All of a file, or of stdin where it is `-`, as text. Throws what the file system says, and UnreadableText. */
export const readText = async (path: string, io: Io): Promise<string> =>
  path === '-' ? readStdin(io) : decodeText(readFileSync(path));

/** All of stdin as text. Throws UnreadableText where it is none. */
export async function readStdin(io: Io): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of io.stdin) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > MAX_STDIN_BYTES) throw new RangeError(`more than ${MAX_STDIN_BYTES} bytes on stdin`);
    chunks.push(bytes);
  }
  return decodeText(Buffer.concat(chunks));
}
