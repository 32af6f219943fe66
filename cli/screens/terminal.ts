// Taking the terminal for a screen, and giving it back on every way out.
import { render } from 'ink';
import { createElement, type ReactElement } from 'react';
import type { Context } from '../engine/command.ts';
import { withTerminal } from '../output/progress.ts';
import { Keys } from './hooks.ts';

const ENTER = '\u001b[?1049h\u001b[2J\u001b[H';
/** Shows the cursor and leaves the other screen. */
const LEAVE = '\u001b[?25h\u001b[?1049l';
const END_COLORS = '\u001b[0m';
/** Above the 20 frames that 50 ms from key to frame need. */
const MAX_FPS = 60;

/** Shows an element on the alternate screen until it exits; what it exits with. */
export async function runScreen({ io }: Context, element: ReactElement): Promise<unknown> {
  const { stdout } = io;
  let taken = true;
  const restore = () => {
    if (taken) stdout.write((io.color ? END_COLORS : '') + LEAVE);
    taken = false;
  };
  stdout.write(ENTER);
  // Signals, and what nothing caught, end in `exit`.
  process.once('exit', restore);
  try {
    const screen = render(createElement(Keys, null, element), {
      stdout,
      stdin: io.stdin,
      stderr: io.stderr,
      exitOnCtrlC: false,
      patchConsole: false,
      maxFps: MAX_FPS,
    });
    return await withTerminal(io, () => screen.waitUntilExit());
  } finally {
    restore();
    process.off('exit', restore);
  }
}
