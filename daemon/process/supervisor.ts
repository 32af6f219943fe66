// Says to systemd, where it started the daemon and asked for it, when the daemon is ready, alive and stopping.
import { spawn } from 'node:child_process';
import type { Logger } from 'pino';

/** Comes with systemd: Node.js itself cannot write to a socket of datagrams. */
const PROGRAM = 'systemd-notify';
/** So often within the time that systemd waits for a sign of life. */
const SIGNS_PER_WAIT = 2;
const MICROSECONDS_PER_MS = 1_000;

export interface Supervisor {
  /** To be called once, when requests are answered; signs of life follow where systemd waits for them. */
  ready(): void;
  stopping(): void;
}

/** Without NOTIFY_SOCKET in the environment, which systemd sets, nothing is done. What fails is logged, once. */
export function openSupervisor(environment: NodeJS.ProcessEnv, log: Logger): Supervisor {
  const { NOTIFY_SOCKET, WATCHDOG_PID, WATCHDOG_USEC } = environment;
  let warned = false;
  const say = (...words: string[]) => {
    if (!NOTIFY_SOCKET) return;
    spawn(PROGRAM, words, { stdio: 'ignore' }).on('error', (error) => {
      if (!warned) log.warn({ err: error }, `systemd is not notified: ${PROGRAM} cannot be run`);
      warned = true;
    });
  };
  const isWatched = !WATCHDOG_PID || WATCHDOG_PID === String(process.pid);
  const wait_ms = isWatched ? Number(WATCHDOG_USEC ?? 0) / MICROSECONDS_PER_MS : 0;
  return {
    ready() {
      say('READY=1');
      if (wait_ms > 0) setInterval(() => say('WATCHDOG=1'), wait_ms / SIGNS_PER_WAIT).unref();
    },
    stopping: () => say('STOPPING=1'),
  };
}
