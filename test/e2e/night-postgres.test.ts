// The night of an operator whose deployment is on PostgreSQL.
import { test } from 'vitest';
import { databases } from '../helpers/database.ts';
import { verifies } from '../requirements.ts';
import { hasNight, spendNight } from './night.ts';

test.skipIf(!databases.includes('postgres') || !hasNight('postgres'))(
  'of each fault of a night there is one notice, by its name, with what to do, and one of its end',
  async () => {
    verifies('night');
    await spendNight('postgres');
  },
  900_000,
);
