// The password of the first superuser where no terminal shows it: a file of this machine until it has signed in, for a log is stored
// for long, and others read it.
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Db, Executor } from '../../data/db/open.ts';
import { changeMeta, FIRST_PASSWORD, findMeta } from '../../data/meta.ts';
import { repeat } from '../loop.ts';
import type { Runtime } from '../process/runtime.ts';
import type { Config } from '../settings/config.ts';

const FILE = 'first-password';
const FILE_MODE = 0o600;
/** In place of the address, once it has signed in. */
const USED = '';
/** How often the daemon that has the file asks whether it was of use at another one. */
const ASK_MS = 5_000;

export interface FirstPassword {
  /** Writes the file, in the transaction that makes the superuser. */
  store(tx: Executor, superuser: { email: string; password: string | null }): Promise<void>;
  /** Takes over what the database says; to be called before requests are answered. */
  resume(): Promise<void>;
  /** To be called when someone has signed in with a password. Never rejects. */
  signedIn(email: string | null): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

export interface FirstPasswordOptions {
  config: Pick<Config, 'data_dir'>;
  db: Pick<Db, 'query'>;
  log: Logger;
  runtime: Pick<Runtime, 'sleep'>;
}

/** The path of the file in a data directory. */
export const firstPasswordFile = ({ data_dir }: Pick<Config, 'data_dir'>): string => join(data_dir, FILE);

export function openFirstPassword({ config, db, log, runtime }: FirstPasswordOptions): FirstPassword {
  const file = firstPasswordFile(config);
  const ended = new AbortController();
  let running: Promise<void> = Promise.resolve();
  /** Whose sign-in is awaited, here or at another daemon. */
  let awaited: string | undefined;

  const ask = async (): Promise<void> => {
    awaited = (await findMeta(db.query, FIRST_PASSWORD)) || undefined;
    if (awaited !== undefined || !existsSync(file)) return;
    rmSync(file, { force: true });
    log.info({ file }, 'the first password was of use, and its file is removed');
  };

  return {
    async store(tx, { email, password }) {
      // What an attempt that was not committed has left opens nothing.
      rmSync(file, { force: true });
      writeFileSync(file, `superuser ${email}\npassword  ${password}\n`, {
        mode: FILE_MODE,
        flag: 'wx',
        flush: true,
      });
      await changeMeta(tx, FIRST_PASSWORD, email);
    },
    resume: ask,
    async signedIn(email) {
      if (awaited === undefined || email !== awaited) return;
      try {
        await changeMeta(db.query, FIRST_PASSWORD, USED);
        await ask();
      } catch (error) {
        log.warn({ err: error, file }, 'the file of the first password could not be removed');
      }
    },
    start() {
      running = repeat(
        async () => {
          // On another machine there is none to remove: what a sign-in there needs is known.
          if (awaited === undefined || !existsSync(file)) ended.abort();
          else await ask();
          return ASK_MS;
        },
        {
          runtime,
          signal: ended.signal,
          onError(error) {
            log.debug({ err: error }, 'whether the first password was of use is not known');
            return ASK_MS;
          },
        },
      );
    },
    async stop() {
      ended.abort();
      await running;
    },
  };
}

/** A password that replaces the first one leaves nothing to wait for. */
export async function endFirstPassword(tx: Executor, email: string): Promise<void> {
  if ((await findMeta(tx, FIRST_PASSWORD)) === email) await changeMeta(tx, FIRST_PASSWORD, USED);
}
