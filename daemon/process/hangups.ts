// SIGHUP: a service is asked to read its settings again; what ran in a terminal ends when that is closed.
import { isatty } from 'node:tty';
import { coalesce } from '../loop.ts';

const STANDARD_STREAMS = [0, 1, 2];

export interface Hangups {
  /** From now on; one that came before is a reload now. Reloads never run at once. */
  listen(handlers: { onReload(): Promise<void>; onTerminalGone(): unknown }): void;
  /** The process ends. */
  ignore(): void;
}

/** To be called early: without a handler the signal ends the process. */
export function openHangups(): Hangups {
  const terminals = STANDARD_STREAMS.filter((stream) => isatty(stream));
  /** Nothing is known of a stream that is gone. */
  const isGone = () => terminals.some((stream) => !isatty(stream));
  let came = false;
  let act = (): unknown => {
    came = true;
    return undefined;
  };
  process.on('SIGHUP', () => void act());
  return {
    listen({ onReload, onTerminalGone }) {
      const reload = coalesce(onReload);
      act = () => (isGone() ? onTerminalGone() : reload());
      if (came) void act();
    },
    ignore() {
      act = () => undefined;
    },
  };
}
