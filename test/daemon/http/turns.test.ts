// One address that asks for thousands of pages waits for itself: other addresses and callers with credentials do not.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Feed, Streamed } from '../../../daemon/http/exchange.ts';
import { openTurns } from '../../../daemon/http/turns.ts';
import type { Serving } from '../../../daemon/process/serve.ts';
import type { Refusal } from '../../../src/errors.ts';
import { type Reply, startApp, type TestApp } from '../../helpers/app.ts';
import { listen } from '../../helpers/browser.ts';
import { databasesOfRun } from '../../helpers/databases.ts';
import { create, fundedMerchant } from '../../helpers/payments.ts';
import type { TestMerchant } from '../../helpers/people.ts';
import { until } from '../../helpers/until.ts';
import { verifies } from '../../requirements.ts';

const FLOOD = 400;
const ATTACKER = '203.0.113.66';
const settings = { trust_proxy: true, 'limits.pages_per_address': '0' };
const from = (ip: string) => ({ 'x-forwarded-for': ip });

describe.each(databasesOfRun())('a flood of one address, on %s,', (database) => {
  let service: TestApp;
  let merchant: TestMerchant;
  let page: string;
  beforeAll(async () => {
    service = await startApp({ database, single: true, settings });
    merchant = await fundedMerchant(service);
    const offer = { title: 'Coffee', amount_usd: 4.5, currencies: ['TON'] };
    const { json } = await service.fetch('POST', '/api/v1/merchant/units', {
      token: merchant.token,
      body: offer,
    });
    page = `/v1/units/${json.id}/page`;
    await service.fetch('GET', page);
  });
  afterAll(() => service.stop());

  /** Starts it, and counts what of it is answered when `work` is. */
  async function during(work: () => Promise<Reply>): Promise<{ reply: Reply; before: number; all: Reply[] }> {
    let answered = 0;
    const flood = Array.from({ length: FLOOD }, async () => {
      const reply = await service.fetch('GET', page, { headers: from(ATTACKER) });
      answered++;
      return reply;
    });
    // All of it has come.
    await pause(0);
    const reply = await work();
    const before = answered;
    return { reply, before, all: await Promise.all(flood) };
  }

  test('does not keep a merchant waiting', async () => {
    verifies('keyed-first');
    const { reply, before, all } = await during(() =>
      service.fetch('POST', '/v1/invoices', { key: merchant.key, body: { chain: 'ton', amount: '5.00' } }),
    );
    expect(reply.status).toBe(200);
    expect(before).toBeLessThan(FLOOD / 4);
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200]));
  });

  test('does not keep another address waiting', async () => {
    verifies('addresses-in-turn');
    const { reply, before } = await during(() =>
      service.fetch('GET', page, { headers: from('198.51.100.7') }),
    );
    expect(reply.status).toBe(200);
    expect(before).toBeLessThan(FLOOD / 4);
  });

  test.each(['x-api-key', 'authorization'])(
    'does not keep a program waiting that calls tools with a good key in %s',
    async (header) => {
      verifies('keyed-first');
      const value = header === 'authorization' ? `Bearer ${merchant.key}` : merchant.key;
      const listed = () =>
        service.fetch('POST', '/mcp', {
          headers: {
            ...{ ...from('198.51.100.9'), [header]: value, accept: 'application/json, text/event-stream' },
            host: 'localhost',
          },
          body: {
            ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
            params: { name: 'listInvoices', arguments: {} },
          },
        });
      // The first shows that they are good, and loads what answers it.
      expect((await listed()).status).toBe(200);
      let answered = 0;
      const flood = Array.from({ length: FLOOD }, async (_, at) => {
        const headers = from(`192.0.${at >> 8}.${at & 255}`);
        await service.fetch('GET', page, { headers });
        answered++;
      });
      await pause(0);
      const reply = await listed();
      const before = answered;
      await Promise.all(flood);
      expect(reply.text).toContain('structuredContent');
      expect(before).toBeLessThan(FLOOD / 4);
    },
  );

  test('goes no further with credentials that are none', async () => {
    verifies('keyed-first');
    const wrong = { key: 'gw_wrong', headers: from(ATTACKER) };
    await service.fetch('GET', '/v1/invoices', wrong);
    let answered = 0;
    const flood = Array.from({ length: FLOOD }, async () => {
      const { status } = await service.fetch('GET', '/v1/invoices', wrong);
      answered++;
      return status;
    });
    await pause(0);
    const reply = await service.fetch('GET', '/v1/invoices', { key: merchant.key });
    expect(reply.status).toBe(200);
    expect(answered).toBeLessThan(FLOOD / 4);
    expect(new Set(await Promise.all(flood))).toEqual(new Set([401]));
  });

  test('does not have all of the database by what it writes', async () => {
    verifies('addresses-in-turn', 'keyed-first');
    const { id } = await create(service, merchant, 'ton');
    let under_way = 0;
    let most = 0;
    const { transaction } = service.app.db;
    const counted: typeof transaction = async (work) => {
      most = Math.max(most, ++under_way);
      return transaction.call(service.app.db, work).finally(() => under_way--) as ReturnType<typeof work>;
    };
    service.app.db.transaction = counted;
    const flood = Array.from({ length: 200 }, () =>
      service.fetch('POST', `/v1/invoices/${id}/cancel`, { headers: from(ATTACKER) }),
    );
    const replies = await Promise.all(flood);
    service.app.db.transaction = transaction;
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    // Four of them, and what the daemon itself does meanwhile.
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(20);
  });

  test('keeps no merchant behind the same address waiting, whatever credentials it shows', async () => {
    verifies('keyed-first');
    const sell = () =>
      service.fetch('POST', '/v1/invoices', {
        key: merchant.key,
        headers: from(ATTACKER),
        body: { chain: 'ton', amount: '5.00' },
      });
    expect((await sell()).status).toBe(200);
    await service.fetch('GET', '/v1/invoices', { key: 'gw_wrong', headers: from(ATTACKER) });
    const asked = await service.fetch('GET', '/api/v1/users/', {
      token: merchant.token,
      headers: from(ATTACKER),
    });
    expect(asked.json.code).toBe('not_superuser');
    const flood = Array.from({ length: 700 }, () => service.fetch('GET', page, { headers: from(ATTACKER) }));
    await pause(0);
    expect((await sell()).status).toBe(200);
    await Promise.all(flood);
  });

  test('is refused where too many of it wait, with the time that it takes; a browser is shown a page', async () => {
    verifies('addresses-in-turn', 'refused-as-page');
    const ask = (ip: string, accept: string) =>
      service.fetch('GET', page, { headers: { ...from(ip), accept, 'accept-language': 'de' } });
    const flood = Array.from({ length: 700 }, (_, at) => ask(ATTACKER, at % 2 ? 'text/html' : '*/*'));
    await pause(0);
    expect((await ask('198.51.100.8', 'text/html')).status).toBe(200);
    const answers = await Promise.all(flood);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThan(100);
    for (const { status, headers, text } of refused) {
      expect(status).toBe(429);
      expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60);
      if (!headers.get('content-type')?.startsWith('text/html')) expect(text).toContain('"rate_limited"');
      else expect(text).toContain('<html lang="de"');
    }
    const types = refused.map(({ headers }) => headers.get('content-type'));
    expect(new Set(types)).toEqual(new Set(['text/html; charset=utf-8', 'application/json']));
  });
});

describe('turns', () => {
  const open = (elapsed_ms = () => performance.now()) => openTurns({ elapsed_ms, isExempt: () => false });

  test('are given to the addresses one after the other', async () => {
    const turns = open();
    const order: string[] = [];
    const one = async (ip: string) => {
      const leave = await turns.take(ip);
      order.push(ip.at(-1) ?? '');
      await pause(1);
      leave();
    };
    const asked = ['10.0.0.1', '10.0.0.1', '10.0.0.1', '10.0.0.1', '10.0.0.2', '10.0.0.2', '10.0.0.3'];
    await Promise.all(asked.map(one));
    expect(order.join('')).toBe('1123121');
  });

  test('let few begin at once, and one alone while calls with credentials are under way', async () => {
    const turns = open();
    const begun: (() => void)[] = [];
    const done = turns.goFirst();
    for (let at = 0; at < 10; at++) void (async () => begun.push(await turns.take('10.0.0.1')))();
    await pause(10);
    expect(begun).toHaveLength(1);
    done();
    await pause(10);
    expect(begun).toHaveLength(4);
    for (const leave of begun.splice(0)) leave();
    await pause(10);
    expect(begun).toHaveLength(4);
  });

  test('say truly how long it takes until all that waits has had its turn', async () => {
    const clock = { ms: 0 };
    const turns = open(() => clock.ms);
    const leave = await turns.take('10.0.0.1');
    let wait_seconds: number | undefined;
    const waiting: Promise<() => void>[] = [];
    const fill = () => {
      try {
        for (;;) waiting.push(Promise.resolve(turns.take('10.0.0.1')));
      } catch (error) {
        wait_seconds = (error as Refusal).retry_after;
      }
    };
    fill();
    leave();
    for (let at = 0; at < 200; at++) {
      (await waiting[at])?.();
      clock.ms += 30;
      await pause(0);
    }
    // Two hundred places are free, and each turn takes 30 ms.
    fill();
    expect(wait_seconds).toBe(15);
  });

  test('are refused to the one who fills the queue, and not to others', async () => {
    const turns = open();
    const refused = (ip: string) => {
      try {
        void turns.take(ip);
        return false;
      } catch {
        return true;
      }
    };
    await turns.take('10.0.0.1');
    let of_one = 0;
    while (!refused('10.0.0.1') && of_one < 10_000) of_one++;
    expect(of_one).toBe(500);
    // An IPv6 network has one share, whichever of its addresses is used.
    let of_network = 0;
    while (!refused(`2001:db8::${of_network.toString(16)}`) && of_network < 10_000) of_network++;
    expect(of_network).toBe(500);
    let all = 1_000;
    for (let network = 3; all < 20_000 && network < 60; network++)
      while (!refused(`10.0.${network}.1`)) all++;
    expect(all).toBeLessThan(6_000);
    expect(refused('10.9.9.9')).toBe(false);
  });
});

describe('requests that one connection sends at once', () => {
  let service: TestApp;
  let serving: Serving;
  let path: string;
  beforeAll(async () => {
    service = await startApp({ single: true, settings });
    serving = await listen(service);
    const merchant = await fundedMerchant(service);
    const { id } = await create(service, merchant, 'ton');
    path = `/v1/public/invoices/${id}?n=`;
  });
  afterAll(async () => {
    await serving.stop();
    await service.stop();
  });

  async function open(): Promise<Socket> {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(serving.url).port) });
    await once(socket, 'connect');
    socket.on('error', () => {});
    return socket;
  }
  const request = (at: number, pad = '') =>
    `GET ${path}${at} HTTP/1.1\r\nhost: localhost\r\nx-request-id: r${at}\r\nx-pad: ${pad}\r\n\r\n`;

  test('are answered a few at a time, in their order, and the rest is not read', async () => {
    verifies('connection-few');
    const { public_invoices } = service.app;
    let under_way = 0;
    let most = 0;
    let open_gate = () => {};
    const gate = new Promise<void>((resolve) => {
      open_gate = resolve;
    });
    service.app.public_invoices = {
      async get(id) {
        most = Math.max(most, ++under_way);
        await gate;
        under_way--;
        return public_invoices.get(id);
      },
    };
    const socket = await open();
    let received = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      received += text;
    });
    let written = false;
    const pad = 'x'.repeat(8_000);
    socket.write(Array.from({ length: 4_000 }, (_, at) => request(at, pad)).join(''), () => {
      written = true;
    });
    const another = await open();
    another.write(request(-1));
    await pause(500);
    expect(most).toBeLessThanOrEqual(4);
    expect(under_way).toBeGreaterThan(1);
    // Megabytes wait at the sender, not here.
    expect(written).toBe(false);
    open_gate();
    const ids = () => [...received.matchAll(/x-request-id: r(\d+)/g)].map(([, id]) => Number(id));
    for (let turn = 0; turn < 100 && ids().length < 2_000; turn++) await pause(100);
    const answered = ids();
    expect(answered.length).toBeGreaterThanOrEqual(2_000);
    expect(answered).toEqual(answered.map((_, at) => at));
    expect(most).toBeLessThanOrEqual(8);
    socket.destroy();
    another.destroy();
    service.app.public_invoices = public_invoices;
  }, 60_000);

  test('are all answered, also where the answers are not read for a while, and the others are answered meanwhile', async () => {
    verifies('connection-few');
    const socket = await open();
    let received = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      received += text;
    });
    socket.pause();
    const asked = 8_000;
    socket.write(Array.from({ length: asked }, (_, at) => request(at)).join(''));
    await pause(2_000);
    const other = await fetch(`${serving.url}${path}0`);
    expect(other.status).toBe(200);
    expect(received).toBe('');
    socket.resume();
    const answered = () => received.match(/HTTP\/1.1 200/g)?.length ?? 0;
    for (let turn = 0; turn < 400 && answered() < asked; turn++) await pause(50);
    expect(answered()).toBe(asked);
    socket.destroy();
  }, 60_000);

  test('are all answered, also where the connection goes away in between', async () => {
    const gone = await open();
    gone.write(Array.from({ length: 500 }, (_, at) => request(at)).join(''));
    await pause(5);
    gone.destroy();
    const socket = await open();
    let received = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      received += text;
    });
    socket.write(Array.from({ length: 100 }, (_, at) => request(at)).join(''));
    for (let turn = 0; turn < 100 && !received.includes('x-request-id: r99'); turn++) await pause(50);
    expect(received.match(/HTTP\/1.1 200/g)).toHaveLength(100);
    socket.destroy();
  });

  test('hold only so many of one address, whose other connections are closed; others are heard', async () => {
    verifies('connection-few', 'floods');
    const { public_invoices } = service.app;
    let open_gate = () => {};
    const gate = new Promise<void>((resolve) => {
      open_gate = resolve;
    });
    service.app.public_invoices = { get: (id) => gate.then(() => public_invoices.get(id)) };
    const from = (ip: string, at: number) =>
      request(at).replace('x-pad: ', `x-forwarded-for: ${ip}\r\nx-pad: `);
    let closed = 0;
    const sockets: Socket[] = [];
    for (let each = 0; each < 20; each++) {
      const socket = await open();
      socket.resume().once('close', () => closed++);
      socket.write(Array.from({ length: 500 }, (_, at) => from(ATTACKER, at)).join(''));
      sockets.push(socket);
    }
    await until('the others are closed', async () => closed > 0 || undefined);
    await pause(200);
    expect(closed).toBeGreaterThanOrEqual(9);
    expect(closed).toBeLessThanOrEqual(11);
    open_gate();
    service.app.public_invoices = public_invoices;
    const other = await open();
    other.write(Array.from({ length: 100 }, (_, at) => from('198.51.100.9', at)).join(''));
    let received = '';
    other.setEncoding('utf8').on('data', (text: string) => {
      received += text;
    });
    await until('another is answered', async () => received.includes('x-request-id: r99') || undefined);
    for (const socket of [...sockets, other]) socket.destroy();
    // What has gone has made room.
    const again = await open();
    again.write(Array.from({ length: 500 }, (_, at) => from(ATTACKER, at)).join(''));
    await once(again, 'data');
    again.destroy();
  });

  test('give back what they hold when the connection ends, also where their turn never came', async () => {
    verifies('streams-shared');
    const { checkout } = service.app;
    let streams = 0;
    const follow: typeof checkout.follow = async (id, follower) => {
      const { body } = await checkout.follow(id, follower);
      streams++;
      const counted = new Feed(
        (sink) => {
          const leave = body.open(sink);
          return () => {
            streams--;
            leave();
          };
        },
        () => {
          streams--;
          body.cancel();
        },
      );
      return new Streamed(counted);
    };
    service.app.checkout = { ...checkout, follow };
    const socket = await open();
    const stream = path.replace('/v1/public/invoices/', '/v1/pay/').replace('?n=', '/events');
    socket.write(`GET ${stream} HTTP/1.1\r\nhost: localhost\r\n\r\n`.repeat(4));
    await until('all are open', async () => streams === 4 || undefined);
    socket.destroy();
    await until('none is open', async () => streams === 0 || undefined);
    service.app.checkout = checkout;
  });
});
