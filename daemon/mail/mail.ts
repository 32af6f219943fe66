// Sends mail through the configured server; without one, writes it to the outbox in the data directory.
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import { rest } from '../process/rest.ts';
import type { Config } from '../settings/config.ts';

const CONNECT_TIMEOUT_MS = 10_000;
const GREETING_TIMEOUT_MS = 10_000;
const SOCKET_TIMEOUT_MS = 30_000;
/** More at once wait: a mail server is not to be flooded by those who ask for recoveries. */
const MAX_CONNECTIONS = 2;
const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;

/** One mail; both bodies say the same. */
export interface Email {
  to: string;
  subject: string;
  text: string;
  html: string;
}

export interface Mail {
  /** Resolves once the server has taken it, or the file is written. Rejects with what went wrong. */
  send(email: Email): Promise<void>;
  close(): void;
}

export interface MailOptions {
  config: Pick<Config, 'smtp_url' | 'mail_from' | 'data_dir' | 'public_url'>;
  log: Logger;
  clock: Clock;
}

export function openMail({ config, log, clock }: MailOptions): Mail {
  const from = config.mail_from ?? `gatewayd <no-reply@${new URL(config.public_url).hostname}>`;
  const messageOf = ({ to, ...email }: Email) => ({
    from,
    // One address, not a text to be parsed for several.
    to: { name: '', address: to },
    date: new Date(clock.ms()),
    ...email,
  });
  // Nothing in a mail may make the mailer read files or fetch addresses.
  const closed = { disableFileAccess: true, disableUrlAccess: true };
  if (config.smtp_url === undefined) {
    const transport = later(({ createTransport }) =>
      createTransport({ streamTransport: true, buffer: true, newline: 'unix', ...closed }),
    );
    return {
      async send(email) {
        const { message } = await (await transport.opened()).sendMail(messageOf(email));
        const file = writeOutbox(config.data_dir, clock, message as Buffer);
        log.info({ file, subject: email.subject }, 'no mail server is configured: the mail is in a file');
      },
      close: transport.close,
    };
  }
  const url = config.smtp_url;
  const transport = later(({ createTransport }) =>
    createTransport({
      url,
      pool: true,
      maxConnections: MAX_CONNECTIONS,
      connectionTimeout: CONNECT_TIMEOUT_MS,
      greetingTimeout: GREETING_TIMEOUT_MS,
      socketTimeout: SOCKET_TIMEOUT_MS,
      ...closed,
    }),
  );
  return {
    async send(email) {
      await (await transport.opened()).sendMail(messageOf(email));
      log.info({ subject: email.subject }, 'mail sent');
    },
    close: transport.close,
  };
}

/** Opened for the first mail: the library is much to load, and most starts send none. */
function later<Transport extends { close(): void }>(
  open: (library: typeof import('nodemailer')) => Transport,
) {
  let opening: Promise<Transport> | undefined;
  return {
    opened(): Promise<Transport> {
      opening ??= rest.nodemailer().then(open);
      return opening;
    },
    close: () =>
      void opening?.then(
        (transport) => transport.close(),
        () => {},
      ),
  };
}

/** For this user only: a recovery mail is as good as a password. */
function writeOutbox(data_dir: string, clock: Clock, message: Buffer): string {
  const directory = join(data_dir, 'outbox');
  if (mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE }) !== undefined)
    chmodSync(directory, DIRECTORY_MODE);
  const time = new Date(clock.ms()).toISOString().replace(/[:.]/g, '-');
  const file = join(directory, `${time}-${randomUUID().slice(0, 8)}.eml`);
  writeFileSync(file, message, { mode: FILE_MODE, flag: 'wx' });
  return file;
}
