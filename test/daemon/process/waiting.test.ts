// A start while PostgreSQL is away waits for it; a start that PostgreSQL refuses says what to do, at once.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { openLine } from '../../helpers/line.ts';
import { createDatabase, hasPostgres } from '../../helpers/postgres.ts';
import { verifies } from '../../requirements.ts';
import { type Home, makeHome } from '../helpers/process.ts';

const EXIT_CONFIG = 78;
const EXIT_LATER = 75;
/** Longer than two lines are apart. */
const AWAY_MS = 7_000;
/** A process that starts and ends on a slow machine. */
const AT_ONCE_MS = 8_000;

let home: Home;
beforeEach(() => {
  home = makeHome();
});
afterEach(() => home.remove());

const started = async (database_url: string, wait_seconds: number, exit_code = EXIT_LATER) => {
  const began = Date.now();
  const env = {
    GATEWAYD_DATABASE_URL: database_url,
    GATEWAYD_WAIT_FOR_DATABASE_SECONDS: String(wait_seconds),
  };
  const { code, stdout, stderr } = await home.run(['start', '--port', '0'], { env });
  expect({ code, stdout }).toEqual({ code: exit_code, stdout: '' });
  expect(stderr).not.toMatch(/\n\s+at /);
  return { stderr, ms: Date.now() - began };
};
const linesOf = (stderr: string) =>
  stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => msg === 'waiting for PostgreSQL');

/** A server that answers each start of a session with this SQLSTATE. */
async function refusing(code: string, message: string): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`);
      const head = Buffer.alloc(5);
      head.write('E');
      head.writeInt32BE(fields.length + 4, 1);
      socket.end(Buffer.concat([head, fields]));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `postgres://me:pass@127.0.0.1:${(server.address() as AddressInfo).port}/books`;
}

/** A port where no one listens. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

describe('a start while PostgreSQL is away', () => {
  test.skipIf(!hasPostgres)('waits with a line each 5 s, and continues once it is there', async () => {
    verifies('start-waits');
    const database = await createDatabase();
    const line = await openLine(database.url);
    onTestFinished(async () => {
      await line.close();
      await database.drop();
    });
    line.refusing = true;
    const starting = home.start({ env: { GATEWAYD_DATABASE_URL: line.url } });
    await delay(AWAY_MS);
    line.refusing = false;
    const daemon = await starting;
    expect((await fetch(`${daemon.url}/health`)).status).toBe(200);
    const lines = linesOf(daemon.stderr());
    expect(lines.length).toBeGreaterThanOrEqual(1);
    expect(lines.length).toBeLessThanOrEqual(2);
    expect(lines[0]).toMatchObject({
      seconds_left: 60,
      reason: expect.stringContaining('cannot be reached'),
    });
    daemon.signal('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
  });

  test.each([
    ['refuses connections', async () => `postgres://me@127.0.0.1:${await closedPort()}/books`],
    ['has no name yet', async () => 'postgres://me@gatewayd-test.invalid/books'],
    ['is starting up', () => refusing('57P03', 'the database system is starting up')],
    ['has no connection left', () => refusing('53300', 'sorry, too many clients already')],
  ])('ends with 75 when its time is over: one that %s', async (_, url) => {
    verifies('start-waits');
    const { stderr, ms } = await started(await url(), 2);
    expect(ms).toBeGreaterThanOrEqual(2_000);
    expect(linesOf(stderr)).toHaveLength(1);
    expect(stderr).toMatch(/gatewayd: PostgreSQL cannot be reached \(.+\); check database_url; waited 2 s/);
  });

  test('ends at once where it is not to wait', async () => {
    verifies('start-waits');
    const { stderr } = await started(`postgres://me@127.0.0.1:${await closedPort()}/books`, 0);
    expect(linesOf(stderr)).toEqual([]);
    expect(stderr).toContain('PostgreSQL cannot be reached');
  });
});

test.each([
  ['migrate'],
  ['verify'],
  ['backup', 'new.backup'],
  ['admin', 'create', '--email', 'me@example.com'],
])('gatewayd %s ends with 75 where PostgreSQL is away', async (...args) => {
  verifies('start-waits');
  const env = { GATEWAYD_DATABASE_URL: `postgres://me@127.0.0.1:${await closedPort()}/books` };
  const { code, stderr } = await home.run(args, { env });
  expect({ code, stderr }).toEqual({
    code: EXIT_LATER,
    stderr: expect.stringMatching(/^gatewayd: PostgreSQL cannot be reached \(.+\); check database_url\n$/),
  });
});

describe('a start that PostgreSQL refuses ends at once', () => {
  test.each([
    ['28P01', 'password authentication failed for user "me"', 'set the right user and password'],
    ['28000', 'no pg_hba.conf entry for host', 'let this user in'],
    ['42501', 'permission denied for database "books"', 'grant this user CONNECT'],
  ])('with what to do: %s', async (code, message, remedy) => {
    verifies('start-waits', 'exit-78');
    const { stderr, ms } = await started(await refusing(code, message), 60, EXIT_CONFIG);
    expect(ms).toBeLessThan(AT_ONCE_MS);
    expect(linesOf(stderr)).toEqual([]);
    expect(stderr).toContain(`PostgreSQL refuses (${message}); ${remedy}`);
  });

  test.skipIf(!hasPostgres)('where the database is missing', async () => {
    verifies('start-waits', 'exit-78');
    const database = await createDatabase();
    await database.drop();
    const { stderr, ms } = await started(database.url, 60, EXIT_CONFIG);
    expect(ms).toBeLessThan(AT_ONCE_MS);
    expect(stderr).toMatch(/does not exist\); create it \(createdb\), or set the right name/);
  });
});
