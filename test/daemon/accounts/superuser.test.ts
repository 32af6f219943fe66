// The first superuser: one, however many daemons make it at the same moment.
import { describe, expect, test } from 'vitest';
import { ensureSuperuser } from '../../../daemon/accounts/superuser.ts';
import { testClock } from '../../helpers/clock.ts';
import { databases, openDatabase } from '../../helpers/database.ts';
import { verifies } from '../../requirements.ts';

const STARTERS = 5;

describe.each(databases)('the first superuser on %s', (database) => {
  test('is made by one of those that make it at once, and only that one has a password to show', async () => {
    verifies('start-together', 'first-superuser');
    const fresh = await openDatabase(database);
    const clock = testClock();
    // A SQLite file has one daemon; in it the transactions of one handle meet.
    const handles = await Promise.all(
      Array.from({ length: STARTERS }, () => (database === 'sqlite' ? fresh.db : fresh.another())),
    );
    const made = await Promise.all(handles.map((db) => ensureSuperuser({ db, clock }, { admin: {} })));
    expect(made.filter((one) => one?.password)).toHaveLength(1);
    const rows = await fresh.db.query.selectFrom('users').select('email').execute();
    expect(rows).toEqual([{ email: 'admin@gatewayd.local' }]);
    expect(await ensureSuperuser({ db: fresh.db, clock }, { admin: {} })).toBeNull();
    await fresh.stop();
  });
});
