// A daemon reduced to its webhooks, as a process of its own, for the tests that kill it. Argument: the database URL.
import pino from 'pino';
import { openWebhooks } from '../../../daemon/webhooks/queue.ts';
import { openDb } from '../../../data/db/open.ts';

const db = await openDb(process.argv[2] ?? '');
openWebhooks({
  db,
  log: pino({ level: 'silent' }),
  clock: { ms: () => Date.now() },
  config: { webhook_allow_private: true, public_url: 'http://127.0.0.1:4020' },
  secretsOf: async () => [],
});
