// Whether the daemon answers and its database can be read, and whether its mail goes out.
import type { system as list } from '../../src/api/endpoints/system.ts';
import { Refusal } from '../../src/errors.ts';
import { languageOfRequest } from '../checkout/language.ts';
import { repeatable } from '../http/exchange.ts';
import type { Handlers } from '../http/handler.ts';
import { testEmail } from '../mail/templates.tsx';
import { assertHealthy, assertReady, isHealthyNow } from '../process/health.ts';

/** How soon the operator may try again. */
const MAIL_RETRY_SECONDS = 10;

export const system: Handlers<typeof list> = {
  async getHealth(_, { app }) {
    await assertHealthy(app);
    return repeatable({ message: 'ok' }, () => isHealthyNow(app));
  },

  async healthCheck(_, { app }) {
    await assertHealthy(app);
    return repeatable(true, () => isHealthyNow(app));
  },

  getLiveness: () => ({ message: 'ok' }),

  getReadiness: (_, { app }) => assertReady(app),

  async testEmail({ query }, { app, log, request }) {
    const lang = languageOfRequest(request.headers);
    try {
      await app.mail.send(testEmail({ base: app.config.public_url, to: query.email_to, lang }));
    } catch (error) {
      log.warn({ err: error }, 'test mail not sent');
      throw new Refusal('mail_failed', {
        detail: `The mail server did not accept the message: ${(error as Error).message}`,
        retry_after: MAIL_RETRY_SECONDS,
      });
    }
    return { message: 'Test email sent' };
  },
};
