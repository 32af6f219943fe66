// A command that is interrupted takes back what it has begun before it ends; a second signal ends it at once.
import { CommandError } from '../process/failure.ts';

const SIGNALS = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 } as const;

/** Runs `work` with a signal that Ctrl-C, SIGTERM and SIGHUP abort. Throws CommandError where it ended because of one. */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const handlers = Object.entries(SIGNALS).map(([name, number]) => {
    const handler = () => controller.abort(number);
    process.once(name, handler);
    return () => process.off(name, handler);
  });
  try {
    return await work(controller.signal);
  } catch (error) {
    if (!controller.signal.aborted) throw error;
    throw new CommandError(
      'interrupted: nothing was changed, and nothing is left of what was begun',
      128 + controller.signal.reason,
    );
  } finally {
    for (const remove of handlers) remove();
  }
}
