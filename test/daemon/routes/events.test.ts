// Events: listed from any position, followed as they happen, sent again on request; on both databases.
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { eventStream } from '../../../daemon/events/feed.ts';
import { createHttp } from '../../../daemon/http/mount.ts';
import { routes } from '../../../daemon/routes/routes.ts';
import { updateUser } from '../../../data/users.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import { serve } from '../../helpers/local-server.ts';
import { verifies } from '../../requirements.ts';

interface EventJson {
  id: string;
  type: string;
}

describe.each(databases)('events on %s', (database) => {
  let service: TestApp;
  beforeAll(async () => {
    service = await startApp({ database });
  });
  afterAll(() => service.stop());

  const list = (who: TestMerchant, query = '') =>
    service.fetch('GET', `/api/v1/merchant/events${query}`, { token: who.token });
  /** The list once it holds `count` events: on PostgreSQL they wait for whatever transaction is open on the server. */
  const listed = (who: TestMerchant, count: number, query = '') =>
    vi.waitFor(
      async () => {
        const { json } = await list(who, query);
        if (json.data.length < count) throw new Error(`${json.data.length} of ${count} events`);
        return json;
      },
      { timeout: 10_000, interval: 20 },
    );
  const create = async (who: TestMerchant): Promise<string> => {
    const body = { chain: 'ton', amount: '8' };
    return (await service.fetch('POST', '/v1/invoices', { key: who.key, body })).json.id;
  };
  const simulate = (who: TestMerchant, id: string) =>
    service.fetch('POST', `/v1/invoices/${id}/simulate`, { key: who.key });
  const typesOf = (events: EventJson[]) => events.map(({ type }) => type);

  test('are listed oldest first, in pages that pass nothing over', async () => {
    verifies('events-cursor');
    const who = await service.merchant();
    expect((await list(who)).json).toEqual({ data: [], has_more: false, next: null });
    const id = await create(who);
    await simulate(who, id);
    await listed(who, 1, '?type=invoice.confirmed');
    const all = (await list(who)).json;
    expect(typesOf(all.data)).toContain('invoice.created');
    expect(typesOf(all.data)).toContain('invoice.confirmed');
    expect(all.data[0]).toMatchObject({
      id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
      type: 'invoice.created',
      timestamp: new Date(service.clock.ms()).toISOString(),
      data: { invoice: { id, status: 'created' }, payment: null },
      deliveries: [],
    });
    const paged: EventJson[] = [];
    let after = '';
    for (let page = 0; page < all.data.length; page++) {
      const { json } = await list(who, `?limit=1${after}`);
      paged.push(...json.data);
      expect(json.has_more).toBe(page < all.data.length - 1);
      after = `&after=${json.next}`;
    }
    expect(paged).toEqual(all.data);
    const end = (await list(who, `?limit=1${after}`)).json;
    expect(end).toEqual({ data: [], has_more: false, next: all.data.at(-1).id });
    const confirmed = (await list(who, '?type=invoice.confirmed')).json;
    expect(typesOf(confirmed.data)).toEqual(['invoice.confirmed']);
  });

  test('are listed newest first where that is asked for, in pages that pass nothing over', async () => {
    verifies('events-newest');
    const who = await service.merchant();
    expect((await list(who, '?order=newest')).json).toEqual({ data: [], has_more: false, next: null });
    for (let made = 0; made < 3; made++) await create(who);
    const oldest = (await listed(who, 3)).data;
    const paged: EventJson[] = [];
    let after = '';
    for (let page = 0; page < oldest.length; page++) {
      const { json } = await list(who, `?order=newest&limit=1${after}`);
      paged.push(...json.data);
      expect(json.has_more).toBe(page < oldest.length - 1);
      after = `&after=${json.next}`;
    }
    expect(paged).toEqual(oldest.toReversed());
    const confirmed = await list(who, '?order=newest&type=invoice.confirmed');
    expect(confirmed.json.data).toEqual([]);
  });

  test('of another merchant are neither listed nor a position nor sent again', async () => {
    const [one, other] = [await service.merchant(), await service.merchant()];
    await create(one);
    const [event] = (await listed(one, 1)).data;
    expect((await list(other)).json.data).toEqual([]);
    for (const id of [event.id, 'evt_nothing']) {
      expect(await list(other, `?after=${id}`)).toMatchObject({
        status: 404,
        json: { code: 'event_not_found' },
      });
      const path = `/api/v1/merchant/events/${id}/resend`;
      const resent = await service.fetch('POST', path, { token: other.token });
      expect([resent.status, resent.json.code]).toEqual([404, 'event_not_found']);
    }
  });

  test('are sent again under the same id, and say how it went', async () => {
    verifies('events-resend');
    const who = await service.merchant();
    const receiver = await serve((_, response) => response.end('thanks'));
    await create(who);
    const [event] = (await listed(who, 1)).data;
    const resend = () =>
      service.fetch('POST', `/api/v1/merchant/events/${event.id}/resend`, { token: who.token });
    const nowhere = await resend();
    expect([nowhere.status, nowhere.json.code]).toEqual([400, 'bad_request']);
    await service.fetch('PATCH', '/api/v1/merchant/account', {
      token: who.token,
      body: { webhook_url: `${receiver.url}/hook` },
    });
    const sent = await resend();
    expect(sent.json).toMatchObject({
      id: event.id,
      type: 'invoice.created',
      deliveries: [{ kind: 'manual', status: 'delivered', http_status: 200, url: `${receiver.url}/hook` }],
    });
    expect(receiver.requests[0]?.headers['webhook-id']).toBe(event.id);
    expect(JSON.parse(receiver.requests[0]?.body ?? '')).toEqual({
      type: event.type,
      timestamp: event.timestamp,
      api_version: event.api_version,
      data: event.data,
    });
    // An operator sends those of any account, to the same address.
    const operator = await service.superuser();
    const path = `/api/v1/merchant/events/${event.id}/resend`;
    const by_operator = await service.fetch('POST', path, { token: operator.token });
    expect(by_operator.json.deliveries.at(-1)).toMatchObject({ status: 'delivered' });
    expect(receiver.requests.map(({ headers }) => headers['webhook-id'])).toEqual([event.id, event.id]);
    // In the order they were made, also within one second.
    const attempts: unknown[] = by_operator.json.deliveries;
    for (let more = 0; more < 5; more++) {
      const { deliveries } = (await resend()).json;
      expect(deliveries.slice(0, -1)).toEqual(attempts);
      attempts.push(deliveries.at(-1));
    }
  });

  describe('as a stream', () => {
    /** Opens a stream; `next` answers the next event, heartbeats and pauses passed over. */
    async function follow(who: TestMerchant, query = '', headers: Record<string, string> = {}) {
      const gone = new AbortController();
      const { h3 } = createHttp(service.app, routes);
      const response = await h3.fetch(
        new Request(`http://127.0.0.1:4020/api/v1/merchant/events${query}`, {
          headers: { authorization: `Bearer ${who.token}`, accept: 'text/event-stream', ...headers },
          signal: gone.signal,
        }),
      );
      const decoder = new TextDecoder();
      const reader = response.body?.getReader();
      onTestFinished(() => gone.abort());
      let text = '';
      const next = async (): Promise<EventJson | null> => {
        for (;;) {
          const message = /^id: (.+)\nevent: (.+)\ndata: (.+)\n\n/m.exec(text);
          if (message) {
            text = text.slice(message.index + message[0].length);
            const [, id = '', type = '', data = ''] = message;
            expect(JSON.parse(data)).toMatchObject({ id, type, data: expect.any(Object) });
            return { id, type };
          }
          const chunk = await reader?.read();
          if (!chunk || chunk.done) return null;
          text += decoder.decode(chunk.value, { stream: true });
        }
      };
      return { response, next, end: () => gone.abort(), beginning: () => text };
    }

    test('begins with the next event and sends each as it happens', async () => {
      verifies('events-stream');
      const who = await service.merchant();
      await create(who);
      await listed(who, 1);
      const stream = await follow(who);
      expect(stream.response.headers.get('content-type')).toBe('text/event-stream');
      expect(stream.response.headers.get('x-accel-buffering')).toBe('no');
      const id = await create(who);
      const created = await stream.next();
      expect(created?.type).toBe('invoice.created');
      await simulate(who, id);
      const later = [await stream.next()];
      while (later.at(-1)?.type !== 'invoice.confirmed') later.push(await stream.next());
      const { json } = await list(who, `?after=${created?.id}`);
      expect(later.map((event) => event?.id)).toEqual(json.data.map((event: EventJson) => event.id));
    });

    test('continues after Last-Event-ID or after', async () => {
      verifies('events-stream');
      const who = await service.merchant();
      await create(who);
      await create(who);
      const [first, second] = (await listed(who, 2)).data;
      const resumed = await follow(who, '', { 'last-event-id': first.id });
      expect((await resumed.next())?.id).toBe(second.id);
      const after = await follow(who, `?after=${first.id}`);
      expect((await after.next())?.id).toBe(second.id);
    });

    test('sends only the kind that is asked for', async () => {
      const who = await service.merchant();
      const stream = await follow(who, '?type=invoice.confirmed');
      await simulate(who, await create(who));
      expect((await stream.next())?.type).toBe('invoice.confirmed');
    });

    test('is refused for a position that is not there, and beyond twenty of one merchant', async () => {
      const who = await service.merchant();
      const lost = await follow(who, '?after=evt_nothing');
      expect(lost.response.status).toBe(404);
      const open = await Promise.all(Array.from({ length: 20 }, () => follow(who)));
      expect(open.map(({ response }) => response.status)).toEqual(Array(20).fill(200));
      const refused = await follow(who);
      expect([refused.response.status, refused.response.headers.get('retry-after')]).toEqual([503, '10']);
      const [first] = open;
      first?.end();
      expect(await first?.next()).toBeNull();
      expect((await follow(who)).response.status).toBe(200);
    });

    test('keeps a silent connection alive, and ends when its token does', async () => {
      const who = await service.merchant();
      const request = { headers: new Headers(), signal: new AbortController().signal };
      const pace = { poll_ms: 10, net_ms: 10, heartbeat_ms: 20 };
      const { body } = await eventStream(service.app, who.user, { limit: 50 }, request, pace);
      const reader = body.getReader();
      const read = async () => new TextDecoder().decode((await reader.read()).value);
      expect(await read()).toBe('retry: 2000\n\n');
      expect(await read()).toBe(': still here\n\n');
      await updateUser(service.app.db.query, who.id, { token_version: 2 });
      for (let reads = 0; reads < 5; reads++) if ((await reader.read()).done) return;
      throw new Error('the stream continues');
    });

    test('ends when its token does, also where there is always something to send', async () => {
      verifies('credentials-end');
      const who = await service.merchant();
      const request = { headers: new Headers(), signal: new AbortController().signal };
      const pace = { poll_ms: 1, net_ms: 1, heartbeat_ms: 300 };
      const { body } = await eventStream(service.app, who.user, { limit: 50 }, request, pace);
      const reader = body.getReader();
      await updateUser(service.app.db.query, who.id, { token_version: 2 });
      for (let sent = 0; sent < 200; sent++) {
        await create(who);
        if ((await reader.read()).done) return;
      }
      throw new Error('the stream continues');
    });
  });
});
