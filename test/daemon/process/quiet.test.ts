// While PostgreSQL is away the log has a line for each cause, not for each try.
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openLine } from '../../helpers/line.ts';
import { createDatabase, hasPostgres } from '../../helpers/postgres.ts';
import { verifies } from '../../requirements.ts';
import { makeHome } from '../helpers/process.ts';

/** The connection that listens is tried again over a dozen times meanwhile. */
const AWAY_MS = 12_000;
const PAUSE_MS = 200;
/** Of lines of one kind, and of stacks. */
const MOST = 3;

test.skipIf(!hasPostgres)(
  'a database that is away is one line for each cause, all of them JSON',
  async () => {
    verifies('log-causes');
    const database = await createDatabase();
    const line = await openLine(database.url);
    const home = makeHome();
    onTestFinished(async () => {
      await home.remove();
      await line.close();
      await database.drop();
    });
    const daemon = await home.start({ env: { GATEWAYD_DATABASE_URL: line.url } });
    const before = daemon.stderr().length;
    line.refusing = true;
    line.cut();
    const end = Date.now() + AWAY_MS;
    let refused = 0;
    while (Date.now() < end) {
      const answer = await fetch(`${daemon.url}/health`);
      const { detail } = (await answer.json()) as { detail?: string };
      if (answer.status === 503) refused++;
      if (answer.status === 503) expect(detail).toBe('The database cannot be reached at the moment');
      await delay(PAUSE_MS);
    }
    expect(refused).toBeGreaterThan(MOST);
    const lines = daemon.stderr().slice(before).trim().split('\n');
    const entries = lines.map((text) => JSON.parse(text) as { msg: string; err?: { stack?: string } });
    const kinds = new Map<string, number>();
    for (const { msg } of entries) kinds.set(msg, (kinds.get(msg) ?? 0) + 1);
    expect([...kinds].filter(([, count]) => count > MOST)).toEqual([]);
    expect(kinds.get('the database cannot be reached')).toBe(1);
    expect(entries.filter(({ err }) => err?.stack)).toHaveLength(1);
  },
);
