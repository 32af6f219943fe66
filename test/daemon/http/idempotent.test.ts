// The same request with the same Idempotency-Key creates once, on both databases.
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { routesOf } from '../../../daemon/http/handler.ts';
import { createHttp, type Http } from '../../../daemon/http/mount.ts';
import { issueAccessToken } from '../../../daemon/http/tokens.ts';
import type { RunningApp } from '../../../daemon/process/app.ts';
import { endpoint } from '../../../src/api/describe/endpoint.ts';
import { text } from '../../../src/api/describe/fields.ts';
import { Refusal } from '../../../src/errors.ts';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { databases, type NewDatabase, newDatabase } from '../../helpers/database.ts';
import { account } from '../../helpers/people.ts';
import { verifies } from '../../requirements.ts';

const create = endpoint({
  id: 'create',
  method: 'POST',
  path: '/things',
  auth: 'jwt',
  tag: 'system',
  effect: 'write',
  summary: 'Test',
  description: '',
  body: z.object({ name: text({ min: 2 }) }),
  response: z.object({ number: z.number() }),
  idempotent: true,
});

describe.each(databases)('%s', (dialect) => {
  let database: NewDatabase;
  let service: TestApp;
  let app: RunningApp;
  let http: Http;
  let made = 0;
  let gate: Promise<void> | undefined;
  let outcome: 'made' | 'refused' | 'broken';
  let token: string;
  const handlers = routesOf([create], {
    create: async () => {
      await gate;
      if (outcome === 'refused') throw new Refusal('no_rate');
      if (outcome === 'broken') throw new Error('broken');
      return { number: ++made };
    },
  });
  const openAnother = () => startApp({ database_url: database.url });
  beforeAll(async () => {
    database = await newDatabase(dialect);
    service = await openAnother();
    app = service.app;
    http = createHttp(app, handlers);
  });
  beforeEach(async () => {
    made = 0;
    gate = undefined;
    outcome = 'made';
    token = await issueAccessToken(app, await account(app));
  });
  afterAll(async () => {
    await service.stop();
    await database.remove();
  });

  const send = async (key: string | undefined, name = 'thing', as = token, to = http) => {
    const response = await to.h3.request('/things', {
      method: 'POST',
      body: JSON.stringify({ name }),
      headers: { authorization: `Bearer ${as}`, ...(key === undefined ? {} : { 'idempotency-key': key }) },
    });
    const body = (await response.json()) as { number?: number; code?: string; detail?: unknown };
    return { status: response.status, replayed: response.headers.get('idempotency-replayed'), ...body };
  };

  const retryAfter = async (to: Http, key: string) => {
    const response = await to.h3.request('/things', {
      method: 'POST',
      body: JSON.stringify({ name: 'thing' }),
      headers: { authorization: `Bearer ${token}`, 'idempotency-key': key },
    });
    return [response.status, response.headers.get('retry-after')];
  };

  /** Requests that hold a key and have no answer yet. */
  const claims = async () => {
    const open = app.db.query.selectFrom('idempotency').select('key').where('status', 'is', null);
    return (await open.execute()).length;
  };

  test('the first answer comes again, and nothing is created again', async () => {
    verifies('idempotency-replay');
    expect(await send('k')).toEqual({ status: 200, replayed: null, number: 1 });
    expect(await send('k')).toEqual({ status: 200, replayed: 'true', number: 1 });
    expect(made).toBe(1);
  });

  test('without a key, each request creates', async () => {
    expect((await send(undefined)).number).toBe(1);
    expect((await send(undefined)).number).toBe(2);
  });

  test('another body under the same key is 422', async () => {
    verifies('idempotency-mismatch');
    await send('k');
    expect(await send('k', 'other')).toMatchObject({ status: 422, code: 'idempotency_mismatch' });
  });

  test('a key belongs to its caller', async () => {
    await send('k');
    const other = await issueAccessToken(app, await account(app));
    expect(await send('k', 'thing', other)).toMatchObject({ replayed: null, number: 2 });
  });

  test('of many at once one creates, and the others are asked to come back', async () => {
    verifies('idempotency-in-progress');
    let open = () => {};
    gate = new Promise((resolve) => {
      open = resolve;
    });
    const statuses: number[] = [];
    const all = Array.from({ length: 6 }, async () => {
      const { status } = await send('k');
      statuses.push(status);
    });
    await expect.poll(() => statuses, { timeout: 30_000 }).toEqual([409, 409, 409, 409, 409]);
    open();
    await Promise.all(all);
    expect(statuses.at(-1)).toBe(200);
    expect(made).toBe(1);
  });

  test.each(['refused', 'broken'] as const)('a request that was %s frees its key', async (how) => {
    outcome = how;
    expect((await send('k')).status).toBeGreaterThanOrEqual(500);
    outcome = 'made';
    expect(await send('k')).toMatchObject({ status: 200, replayed: null, number: 1 });
  });

  test('invalid input leaves the key unused', async () => {
    expect((await send('k', 'x')).status).toBe(422);
    expect(await send('k')).toMatchObject({ status: 200, number: 1 });
  });

  test('a claim whose process died is free again after a minute, for the same request only', async () => {
    gate = new Promise(() => {});
    void send('k');
    // A second request that came first would wait for ever itself.
    await expect.poll(() => claims()).toBe(1);
    expect((await send('k')).status).toBe(409);
    gate = undefined;
    service.clock.advance(61);
    expect(await send('k', 'other')).toMatchObject({ status: 422 });
    expect(await send('k')).toMatchObject({ status: 200, number: 1 });
  });

  test('a claim of another daemon is free as soon as that one is gone, and says when', async () => {
    verifies('idempotency-after-kill', 'idempotency-in-progress');
    gate = new Promise(() => {});
    void send('k');
    await expect.poll(() => claims()).toBe(1);
    // This one works on it, and answers soon.
    expect(await retryAfter(http, 'k')).toEqual([409, '1']);
    gate = undefined;
    const next = await openAnother();
    onTestFinished(() => next.stop());
    next.clock.set(service.clock.now());
    const other = createHttp(next.app, handlers);
    if (dialect === 'postgres') {
      // The other may live as long as its last sign of life counts; a sign of life prolongs that.
      expect(await retryAfter(other, 'k')).toEqual([409, '9']);
      service.clock.advance(4);
      await app.instance.alive();
      next.clock.advance(5);
      expect(await retryAfter(other, 'k')).toEqual([409, '8']);
      next.clock.advance(7.999);
      expect(await retryAfter(other, 'k')).toEqual([409, '1']);
      next.clock.advance(0.002);
    }
    expect(await send('k', 'other', token, other)).toMatchObject({ status: 422 });
    expect(await send('k', 'thing', token, other)).toMatchObject({ status: 200, number: 1 });
    expect(await send('k')).toMatchObject({ status: 200, replayed: 'true', number: 1 });
  });

  test('a daemon that ends says so', async () => {
    verifies('idempotency-after-kill');
    const next = await openAnother();
    await next.app.instance.alive();
    const leases = () =>
      app.db.query.selectFrom('leases').select('name').where('holder', '=', next.app.instance.id);
    expect(await leases().execute()).toHaveLength(dialect === 'postgres' ? 1 : 0);
    await next.app.instance.stop();
    expect(await leases().execute()).toEqual([]);
    await next.stop();
  });

  test('an answer is forgotten after 24 hours', async () => {
    verifies('idempotency-replay');
    await send('k');
    service.clock.advance(24 * 3600);
    expect(await send('k')).toMatchObject({ number: 1, replayed: 'true' });
    service.clock.advance(1);
    expect(await send('k', 'other')).toMatchObject({ number: 2, replayed: null });
  });

  test('a key that is empty or endless is refused as input', async () => {
    expect((await send('')).detail).toMatchObject([
      { loc: ['header', 'idempotency-key'], type: 'string_too_short' },
    ]);
    expect((await send('k'.repeat(256))).detail).toMatchObject([
      { type: 'string_too_long', ctx: { max_length: 255 } },
    ]);
    expect((await send('k'.repeat(255))).status).toBe(200);
  });
});
