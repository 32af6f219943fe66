// Notices in a running daemon that `secret` is rotated, and reports to the command that does it what is known here.
import type { Logger } from 'pino';
import type { Db } from '../../data/db/open.ts';
import { createCauses } from './causes.ts';
import { followSecret } from './data-dir.ts';
import type { Instance } from './instance.ts';
import type { Runtime } from './runtime.ts';
import type { Secrets } from './secrets.ts';

/** How often the stored secret is read, and the database while there are two. */
const WATCH_MS = 1_000;
/** At least so often the database is read: a rotation does not wait for a daemon that it has not seen for some time. */
const ASK_MS = 10_000;

export interface SecretWatchOptions {
  db: Db;
  secrets: Secrets;
  instance: Pick<Instance, 'report'>;
  log: Logger;
  runtime: Pick<Runtime, 'after' | 'elapsed_ms'>;
}

export interface SecretWatch {
  start(): void;
  stop(): Promise<void>;
}

export function openSecretWatch({ db, secrets, instance, log, runtime }: SecretWatchOptions): SecretWatch {
  const causes = createCauses(log, runtime);
  let callOff = () => {};
  let watching: Promise<void> = Promise.resolve();
  let is_stopped = false;
  let reported = '';
  /** Also where the database was away when it was to be asked. */
  let is_due = true;
  let asked_ms = runtime.elapsed_ms();

  const watch = async () => {
    const now_ms = runtime.elapsed_ms();
    is_due = secrets.reload() || is_due || secrets.known().length > 1 || now_ms - asked_ms >= ASK_MS;
    if (!is_due) return;
    asked_ms = now_ms;
    if (!(await followSecret(db.query, secrets)))
      throw new Error('the database belongs to a secret that is not known here');
    const known = secrets.known().join(' ');
    if (known !== reported) {
      await instance.report();
      if (reported !== '') log.info({ known: secrets.known().length }, 'the secret is rotated');
    }
    reported = known;
    is_due = false;
    causes.over('secret', {}, 'the rotation of the secret is followed again');
  };
  const again = () => {
    if (is_stopped) return;
    callOff = runtime.after(WATCH_MS, () => {
      watching = watch()
        .catch((error: unknown) =>
          causes.failed('secret', 'error', { err: error }, 'the rotation of the secret cannot be followed'),
        )
        .finally(again);
    });
  };
  return {
    start: again,
    async stop() {
      is_stopped = true;
      callOff();
      await watching;
    },
  };
}
