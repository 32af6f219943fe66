// The terminal while the cockpit has it: keys in, frames out, and the terminal given back on every way out.
import { emitKeypressEvents } from 'node:readline';
import type { Io } from '../output/io.ts';
import { withTerminal } from '../output/progress.ts';
import { clean } from '../output/text.ts';
import { type Line, Painter } from './paint.ts';

/** Another screen, without cursor and without wrapping lines; what is pasted comes as such. */
const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[?2004h';
const LEAVE = '\u001b[?2004l\u001b[?7h\u001b[?25h\u001b[?1049l';
const END_COLORS = '\u001b[0m';
const FALLBACK = { columns: 80, rows: 24 };
const MAX_PASTED = 10_000;

export interface Key {
  /** `return`, `escape`, `up`, …; the letter with ctrl; `paste`. */
  name: string;
  ctrl: boolean;
  /** What it writes; empty for keys that write nothing. */
  text: string;
}

export interface Size {
  columns: number;
  rows: number;
}

interface Pressed {
  name?: string | undefined;
  ctrl?: boolean;
  meta?: boolean;
}

export interface Session {
  /** Asks for a frame; several requests before it is made are one. */
  changed(): void;
  /** Sends something that is not shown, such as what is copied. */
  send(sequence: string): void;
  /** Ends with an error, or well. */
  end(error?: Error): void;
}

export interface Program {
  frame(size: Size): readonly Line[];
  key(key: Key): void;
}

/** Runs until `end`; what was ended with is thrown. */
export async function runSession(io: Io, open: (session: Session) => Program): Promise<void> {
  const { stdin, stdout } = io;
  const painter = new Painter(io);
  let isDue = false;
  let isOver = false;
  let finish: (error?: Error) => void = () => {};
  const ended = new Promise<void>((resolve, reject) => {
    finish = (error) => (error ? reject(error) : resolve());
  });
  const size = (): Size => ({
    columns: stdout.columns || FALLBACK.columns,
    rows: stdout.rows || FALLBACK.rows,
  });
  const paint = () => {
    isDue = false;
    if (isOver) return;
    // A slow line is sent the latest frame once it has taken the one before.
    if (stdout.writableNeedDrain) return void stdout.once('drain', changed);
    painter.paint(program.frame(size()), size().columns);
  };
  function changed(): void {
    if (isDue || isOver) return;
    isDue = true;
    queueMicrotask(paint);
  }
  let pasted: string | undefined;
  const press = (text: string | undefined, { name = '', ctrl = false, meta = false }: Pressed) => {
    // None of what is pasted is a key: it may be anything.
    if (name === 'paste-start') pasted = '';
    else if (name === 'paste-end') {
      program.key({ name: 'paste', ctrl: false, text: clean(pasted ?? '') });
      pasted = undefined;
      changed();
    } else if (pasted !== undefined) pasted = (pasted + (text ?? '')).slice(0, MAX_PASTED);
    else pressed(text, { name, ctrl, meta });
  };
  const pressed = (text: string | undefined, { name = '', ctrl = false, meta = false }: Pressed) => {
    const isText = !ctrl && !meta && name !== 'return' && name !== 'enter' && name !== 'tab';
    program.key({
      name: name === 'enter' ? 'return' : name,
      ctrl,
      text: isText && text !== undefined && !text.startsWith('\u001b') ? clean(text) : '',
    });
    changed();
  };
  const restore = () => {
    if (!isOver) stdout.write((io.color ? END_COLORS : '') + LEAVE);
    isOver = true;
  };
  const program = open({
    changed,
    send: (sequence) => void stdout.write(sequence),
    end: (error) => finish(error),
  });
  stdout.write(ENTER);
  process.once('exit', restore);
  const before = stdin.isRaw;
  emitKeypressEvents(stdin);
  stdin.setRawMode(true);
  stdin.on('keypress', press).resume();
  // A terminal that is gone: nothing can be read or shown any more.
  const gone = () => finish();
  stdin.once('end', gone);
  stdout.on('resize', changed);
  try {
    changed();
    await withTerminal(io, () => ended);
  } finally {
    restore();
    process.off('exit', restore);
    stdout.off('resize', changed);
    stdin.off('keypress', press).off('end', gone).setRawMode(before).pause();
  }
}
