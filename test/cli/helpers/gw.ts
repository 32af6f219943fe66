// The built `gw` as a process of its own, with profiles that go with the test; on a pseudo-terminal where one is asked for.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { execa } from 'execa';
import { screenOf } from '../../pictures/terminal.ts';

export const GW = fileURLToPath(new URL('../../../bin/gw.js', import.meta.url));
/** A slow machine under load still answers within it. */
const LIMIT_MS = 40_000;

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
  /** stdout as one JSON document. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read what the wire carries
  json: any;
  /** stderr's error object. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read what the wire carries
  error: any;
}

export interface Options {
  stdin?: string;
  env?: Record<string, string>;
}

export interface Pty {
  /** Everything the terminal was sent until now. */
  output(): string;
  write(keys: string): void;
  /** Waits until the terminal was sent something that matches. */
  see(pattern: RegExp): Promise<string>;
  /** Waits until the terminal is sent anything more. */
  sent(): Promise<void>;
  /** What a screen shows now, without colours. */
  frame(): string;
  /** Waits until a whole frame of a screen is as wanted. */
  seeFrame(wanted: (frame: string) => boolean): Promise<string>;
  /** Exit code. */
  ended: Promise<number>;
  /** Sends a signal to gw itself. */
  kill(signal: NodeJS.Signals): void;
}

/** Where Ink begins a frame: behind the lines of the last one, or on the cleared screen. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: what the terminal obeys is looked for
const FRAME = /\u001b\[(?:G|H|2K\u001b\[1A)/g;
/** The last line of a screen. */
const FOOTER = /q quit|esc back|esc leave|█/;

const lastFrame = (output: string): string =>
  stripVTControlCharacters(output.split(FRAME).at(-1) ?? '').replaceAll('\r', '');

/** Where the cockpit clears the screen, and where a frame of it is whole: it sends what has changed only. */
const CLEARED = '\u001b[?2026h\u001b[2J';
const WHOLE = '\u001b[?2026l';

/** What a terminal of that size shows of the cockpit, by the last whole frame. */
function cockpitFrame(output: string, columns: number, rows: number): string {
  const whole = output.slice(0, output.lastIndexOf(WHOLE));
  const cells = screenOf(whole.slice(Math.max(0, whole.lastIndexOf(CLEARED))), columns, rows);
  return cells
    .map((row) =>
      row
        .map(({ text }) => text)
        .join('')
        .trimEnd(),
    )
    .join('\n');
}

export interface Gw {
  dir: string;
  (args: string[], options?: Options): Promise<Ran>;
  /** Runs it on a terminal of that size. */
  pty(args: string[], options?: Options & { columns?: number; rows?: number }): Pty;
  /** A process that keeps running, with its output by line. */
  start(
    args: string[],
    options?: Options,
  ): { lines: string[]; errors: string[]; child: ChildProcess; ended: Promise<number> };
  remove(): void;
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** `gw` with profiles of its own, talking to `url`. */
export function makeGw(url: string): Gw {
  const dir = mkdtempSync(join(tmpdir(), 'gw-test-'));
  const running = new Set<ChildProcess>();
  const environment = (env: Record<string, string> = {}) => ({
    PATH: process.env.PATH ?? '',
    HOME: dir,
    TERM: 'xterm-256color',
    GW_CONFIG_DIR: dir,
    GW_URL: url,
    ...env,
  });
  const run = async (args: string[], { stdin, env }: Options = {}): Promise<Ran> => {
    const ran = await execa(process.execPath, [GW, ...args], {
      env: environment(env),
      extendEnv: false,
      reject: false,
      timeout: LIMIT_MS,
      input: stdin ?? '',
      stripFinalNewline: false,
    });
    const { stdout, stderr } = ran;
    return { code: ran.exitCode ?? -1, stdout, stderr, json: parse(stdout), error: parse(stderr.trim()) };
  };
  const track = (child: ChildProcess): Promise<number> => {
    running.add(child);
    return new Promise((resolve) => {
      child.on('close', (code, signal) => {
        running.delete(child);
        resolve(code ?? (signal ? -1 : 0));
      });
    });
  };
  return Object.assign(run, {
    dir,
    pty(
      args: string[],
      { env, columns = 80, rows = 24 }: Options & { columns?: number; rows?: number } = {},
    ): Pty {
      const quoted = [process.execPath, GW, ...args]
        .map((word) => `'${word.replaceAll("'", `'\\''`)}'`)
        .join(' ');
      const command = `stty cols ${columns} rows ${rows}; exec ${quoted}`;
      const child = spawn('script', ['-qefc', command, '/dev/null'], { env: environment(env) });
      const ended = track(child);
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
      child.stdin.on('error', () => {});
      const until = (isSeen: () => boolean, what: () => string) =>
        new Promise<string>((resolve, reject) => {
          const fail = (why: string) => reject(new Error(`${why}: ${what()}`));
          const timer = setTimeout(() => fail('too late'), LIMIT_MS);
          const check = () => {
            if (!isSeen()) return false;
            clearTimeout(timer);
            child.stdout.off('data', check);
            resolve(output);
            return true;
          };
          if (check()) return;
          child.stdout.on('data', check);
          void ended.then(() => check() || fail('ended'));
        });
      const frame = () =>
        output.includes(CLEARED) ? cockpitFrame(output, columns, rows) : lastFrame(output);
      return {
        output: () => output,
        frame,
        seeFrame: async (wanted) => {
          await until(
            () => FOOTER.test(frame()) && wanted(frame()),
            () => `no such frame, but\n${frame()}`,
          );
          return frame();
        },
        sent: () => new Promise((resolve) => child.stdout.once('data', () => resolve())),
        write: (keys) => void child.stdin.write(keys),
        ended,
        kill: (signal) => {
          // The first child of `script` is what runs on its terminal.
          const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8');
          process.kill(Number(children.trim().split(' ')[0]), signal);
        },
        see: (pattern) =>
          until(
            () => pattern.test(output),
            () => `no ${pattern} in ${JSON.stringify(output.slice(-3000))}`,
          ),
      };
    },
    start(args: string[], { env }: Options = {}) {
      const child = spawn(process.execPath, [GW, ...args], {
        env: environment(env),
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const collect = (stream: NodeJS.ReadableStream): string[] => {
        const lines: string[] = [];
        let rest = '';
        stream.setEncoding('utf8').on('data', (text: string) => {
          const parts = (rest + text).split('\n');
          rest = parts.pop() ?? '';
          lines.push(...parts);
        });
        return lines;
      };
      return { lines: collect(child.stdout), errors: collect(child.stderr), child, ended: track(child) };
    },
    remove() {
      for (const child of running) child.kill('SIGKILL');
      rmSync(dir, { recursive: true, force: true });
    },
  });
}

/** The lines that a terminal is left with, without colours: what was waited for is gone. */
export const linesLeft = (output: string): string[] =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what the terminal obeys is looked for
  stripVTControlCharacters(output.replaceAll(/waiting for [^\n…]* …\r\u001b\[K/g, ''))
    .replaceAll('\r', '')
    .split('\n');

/** What of the output a terminal obeys rather than shows, but for colours, cursor, screen and links that gw itself sends. */
export const foreignControls = (output: string): string[] =>
  output
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    .replaceAll(/\u001b\]8;;(https?:\/\/[!-~]+)?\u001b\\/g, '')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    .match(/\u001b\]|\u009d|\u009b|\u0007|[\u202a-\u202e\u2066-\u2069\u200b\u200e\u200f]/g) ?? [];
