// Whether the daemon answers and its database can be read, and whether its mail goes out.
import { sql } from 'kysely';
import type { system as list } from '../../src/api/system.ts';
import { Refusal } from '../../src/errors.ts';
import type { App } from '../context.ts';
import type { Handlers } from '../http/handler.ts';
import { testLetter } from '../mail/letters.ts';

/** How soon the operator may try again. */
const MAIL_RETRY_SECONDS = 10;

export const system: Handlers<typeof list> = {
  async getHealth(_, { app }) {
    await readDatabase(app);
    return { message: 'ok' };
  },

  async healthCheck(_, { app }) {
    await readDatabase(app);
    return true;
  },

  async testEmail({ query }, { app, log }) {
    try {
      await app.mail.send(testLetter(app.config.public_url, query.email_to));
    } catch (error) {
      log.warn({ err: error }, 'test mail not sent');
      throw new Refusal('mail_failed', {
        detail: `The mail server did not take the mail: ${(error as Error).message}`,
        retry_after: MAIL_RETRY_SECONDS,
      });
    }
    return { message: 'Test email sent' };
  },
};

const readDatabase = (app: App) => sql`select 1`.execute(app.db.query);
