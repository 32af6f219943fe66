// Daemons that start at the same moment on one empty PostgreSQL database: what is made once is made once.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { signIn } from '../../helpers/people.ts';
import { createDatabase, hasPostgres, type TestDatabase } from '../../helpers/postgres.ts';
import { serviceAt } from '../../helpers/service.ts';
import { until } from '../../helpers/until.ts';
import { verifies } from '../../requirements.ts';
import { firstPassword, type Home, makeHome } from '../helpers/process.ts';

const STARTERS = 3;
/** What races does not race every time. */
const ROUNDS = 3;

describe.skipIf(!hasPostgres)('three first starts at once', () => {
  let homes: Home[];
  let database: TestDatabase;
  beforeEach(async () => {
    homes = Array.from({ length: STARTERS }, makeHome);
    database = await createDatabase();
  });
  afterEach(async () => {
    await Promise.all(homes.map((home) => home.remove()));
    await database.drop();
  });

  async function startAll(chosen: Home[], env: Record<string, string> = {}): Promise<void> {
    const daemons = await Promise.all(
      chosen.map((home) => home.start({ env: { GATEWAYD_DATABASE_URL: database.url, ...env } })),
    );
    const written = daemons.flatMap((daemon) => [
      ...daemon.stderr().matchAll(/"file":"([^"]+first-password)"/g),
    ]);
    expect(written).toHaveLength(1);
    const has = (home: Home) => existsSync(join(home.dir, 'gatewayd', 'first-password'));
    const [made] = chosen.filter(has);
    const { email, password } = firstPassword(made ?? expect.fail('no first password'));
    // Those that did not make it come first: the file is on another machine then.
    const others = daemons.filter((_, at) => !has(chosen[at] as Home));
    for (const { url } of [...others, ...daemons])
      expect((await signIn(serviceAt({ base_url: url }), email, password)).status).toBe(200);
    await until('the file is gone', async () => !chosen.some(has) || undefined);
    for (const daemon of daemons) daemon.signal('SIGTERM');
    for (const daemon of daemons) expect((await daemon.ended).code).toBe(0);
  }

  test.each(Array.from({ length: ROUNDS }, (_, round) => round))(
    'store one password, and it signs in at each of them (round %i)',
    async () => {
      verifies('start-together', 'first-superuser', 'first-password-file', 'migrations');
      await startAll(homes, { GATEWAYD_SECRET: 'a secret that all of them have' });
    },
  );

  test('in one data directory share the secret that is made there', async () => {
    verifies('start-together');
    const [home] = homes;
    if (!home) throw new Error('no home');
    await startAll(Array.from({ length: STARTERS }, () => home));
  });
});
