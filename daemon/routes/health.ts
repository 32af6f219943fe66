// Whether the daemon answers and its database can be read.
import { sql } from 'kysely';
import type { getHealth, healthCheck } from '../../src/api/system.ts';
import type { App } from '../context.ts';
import type { Handlers } from '../http/handler.ts';

export const health: Handlers<readonly [typeof getHealth, typeof healthCheck]> = {
  async getHealth(_, { app }) {
    await readDatabase(app);
    return { message: 'ok' };
  },
  async healthCheck(_, { app }) {
    await readDatabase(app);
    return true;
  },
};

const readDatabase = (app: App) => sql`select 1`.execute(app.db.query);
