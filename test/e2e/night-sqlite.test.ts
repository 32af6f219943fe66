// The night of an operator whose deployment is on SQLite.
import { test } from 'vitest';
import { databases } from '../helpers/database.ts';
import { verifies } from '../requirements.ts';
import { hasNight, spendNight } from './night.ts';

test.skipIf(!databases.includes('sqlite') || !hasNight('sqlite'))(
  'of each fault of a night there is one notice, by its name, with what to do, and one of its end',
  async () => {
    verifies('night');
    await spendNight('sqlite');
  },
  900_000,
);
