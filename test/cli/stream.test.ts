// What runs until it is stopped: watching, following and forwarding events.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { GwEvent } from '../../cli/journeys/parts/events.ts';
import { ApiError, createClient } from '../../src/api/client/client.ts';
import { type Home, makeHome } from '../daemon/helpers/process.ts';
import { serve } from '../helpers/local-server.ts';
import { wallets } from '../helpers/people.ts';
import { until } from '../helpers/until.ts';
import { verifies } from '../requirements.ts';
import { type Gw, makeGw } from './helpers/gw.ts';

let home: Home;
let gw: Gw;
let url: string;
const create = async (amount: string): Promise<string> =>
  (await gw(['invoice', 'create', '--chain', 'ton', '--amount', amount, '--json'])).json.id;

beforeAll(async () => {
  home = makeHome();
  url = (await home.start({ env: { GATEWAYD_WALLETS_TON: `0:${'22'.repeat(32)}` } })).url;
  gw = makeGw(url);
  await gw(['signup', '--email', 'streams@example.com', '--password', '-'], {
    stdin: 'correct horse battery',
  });
  await gw(['wallet', 'set', 'ton', wallets.ton ?? '']);
});
afterAll(async () => {
  gw.remove();
  await home.remove();
});

describe('gw invoice watch', () => {
  it('prints a line of JSON for each change and ends with the invoice', async () => {
    const id = await create('5');
    const watch = gw.start(['invoice', 'watch', id, '--interval', '200ms', '--json', 'status']);
    await until('the first line', async () => watch.lines[0]);
    await gw(['invoice', 'simulate', id]);
    expect(await watch.ended).toBe(0);
    expect(watch.lines.map((line) => JSON.parse(line).status)).toEqual(['created', 'confirmed']);
  });
});

describe('gw account update', () => {
  it('asks for the webhooks of refills, and no more', async () => {
    verifies('refill-events');
    const asked = await gw(['account', 'update', '--webhook-refills', '--json', 'webhook_refills']);
    expect([asked.code, asked.json]).toEqual([0, { webhook_refills: true }]);
    const ended = await gw(['account', 'update', '--no-webhook-refills', '--json', 'webhook_refills']);
    expect([ended.code, ended.json]).toEqual([0, { webhook_refills: false }]);
  });
});

describe('gw listen', () => {
  it('forwards events with a signature that verifies by a secret that stays the same', async () => {
    verifies('gw-listen', 'refill-events');
    const server = await serve((_, response) => response.writeHead(204).end());
    const first = (await gw(['listen', '--print-secret'])).stdout.trim();
    // As people write it: without the scheme.
    const receiver = `${server.url}/hook`.replace('http://127.0.0.1', 'localhost');
    const listen = gw.start(['listen', receiver, '--json']);
    await until('the connection', async () => listen.errors.find((line) => line.startsWith('forwarding')));
    // A refill is no sale: without being asked for it is not forwarded, as no webhook has it.
    const refill = (await gw(['refill', 'create', '--chain', 'ton', '--amount', '5', '--json'])).json.id;
    expect((await gw(['invoice', 'simulate', refill])).code).toBe(0);
    const id = await create('7');
    await gw(['invoice', 'simulate', id]);
    const line = await until('the event', async () => listen.lines[0]);
    expect(JSON.parse(line)).toMatchObject({
      event: { type: 'invoice.confirmed', data: { invoice: { id, kind: 'sale' } } },
      delivery: { status: 204, error: null, duration_ms: expect.any(Number) },
    });
    const [request] = server.requests;
    const headers = request?.headers as Record<string, string>;
    expect(new Webhook(first).verify(request?.body ?? '', headers)).toMatchObject({
      type: 'invoice.confirmed',
    });
    expect((await gw(['listen', '--print-secret'])).stdout.trim()).toBe(first);
    listen.child.kill('SIGINT');
    expect(await listen.ended).toBe(130);
  });

  it('says what the local server answered, and continues when it is down', async () => {
    const listen = gw.start(['listen', '--forward-to', 'http://127.0.0.1:9/', '--events', 'all', '--json']);
    await until('the connection', async () => listen.errors.find((line) => line.startsWith('forwarding')));
    await create('1');
    await create('2');
    await until('two events', async () => listen.lines[1]);
    for (const line of listen.lines) expect(JSON.parse(line).delivery).toMatchObject({ status: null });
    listen.child.kill('SIGTERM');
    expect(await listen.ended).toBe(143);
  });
});

describe('gw listen across a lost connection', () => {
  it('loses no event, also where it is lost before the first one', async () => {
    verifies('gw-listen-gapless');
    const proxy = await openProxy(url);
    const shop = makeGw(proxy.url);
    onTestFinished(async () => {
      shop.remove();
      await proxy.close();
    });
    await shop(['signup', '--email', 'gapless@example.com', '--password', '-'], {
      stdin: 'correct horse battery',
    });
    await shop(['wallet', 'set', 'ton', wallets.ton ?? '']);
    const { json } = await shop(['account', 'get', '--json', 'api_key']);
    const createBehind = async (reference: string): Promise<string> => {
      const made = ['invoice', 'create', '--chain', 'ton', '--amount', '5', '--external-ref', reference];
      const env = { GW_API_KEY: json.api_key, GW_URL: url };
      return (await gw([...made, '--json', 'id'], { env })).json.id;
    };
    // There is no event at all yet; then there are some, and the connection goes before the next one.
    const expected: string[] = [];
    for (const round of ['none', 'some']) {
      const listen = shop.start(['listen', '--json']);
      await until('the connection', async () => listen.errors.find((line) => line.startsWith('listening')));
      proxy.cut();
      const ids = [await createBehind(`${round}-1`), await createBehind(`${round}-2`)];
      expected.push(...ids);
      const cut_at = Date.now();
      proxy.open();
      const third = await createBehind(`${round}-3`);
      expected.push(third);
      await until('three events', async () => listen.lines[2]);
      expect(Date.now() - cut_at).toBeLessThan(15_000);
      const seen = listen.lines.map((line) => JSON.parse(line).event.data.invoice.id);
      expect(seen).toEqual([...ids, third]);
      listen.child.kill('SIGINT');
      await listen.ended;
    }
    const { json: all } = await shop(['event', 'list', '--json']);
    expect(all.data.map((event: GwEvent) => event.data.invoice?.id)).toEqual(expected);
  });

  it('prints order and invoice of each event', async () => {
    verifies('gw-listen');
    const listen = gw.start(['listen']);
    await until('the connection', async () => listen.errors.find((line) => line.startsWith('listening')));
    const made = [
      'invoice',
      'create',
      '--chain',
      'ton',
      '--amount',
      '5',
      '--external-ref',
      'order-77',
      '--json',
    ];
    const { id } = (await gw(made)).json;
    const line = await until('the event', async () => listen.lines[0]);
    expect(line).toMatch(new RegExp(`invoice\\.created  order-77  invoice ${id.slice(-8)}  \\S+ TON  evt_`));
    listen.child.kill('SIGINT');
    await listen.ended;
  });
});

/** A way to the daemon that can be cut. */
async function openProxy(target: string) {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) return void near.destroy();
    const far = connect(Number(port), hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {});
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    open: () => {
      isCut = false;
    },
    async close() {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}

describe('gw event', () => {
  it('follows what happens, and sends one again to the webhook address', async () => {
    const server = await serve((_, response) => response.writeHead(200).end());
    await gw(['account', 'update', '--webhook-url', `${server.url}/hooks`]);
    const follow = gw.start(['event', 'list', '--follow', '--type', 'invoice.confirmed', '--json']);
    await until('the connection', async () => follow.errors.find((line) => line.startsWith('following')));
    const id = await create('3');
    await gw(['invoice', 'simulate', id]);
    const event = JSON.parse(await until('the event', async () => follow.lines[0]));
    expect(event.data.invoice.id).toBe(id);
    await until('the webhook', async () => server.requests[0]);
    const again = await gw(['event', 'resend', event.id, '--json']);
    expect(again.json.deliveries.at(-1)).toMatchObject({ kind: 'manual', http_status: 200 });
    expect(server.requests.map(({ headers }) => headers['webhook-id'])).toEqual([event.id, event.id]);
    follow.child.kill('SIGINT');
    await follow.ended;
  });
});

describe('the typed client', () => {
  it('has a method for each endpoint, with credentials where they are asked for', async () => {
    const { json } = await gw(['account', 'get', '--json', 'api_key']);
    const client = createClient({ base_url: url, api_key: json.api_key, fetch });
    const invoice = await client.createInvoice(
      { body: { chain: 'ton', amount: 12.5 } },
      { idempotency_key: 'once' },
    );
    const again = await client.createInvoice(
      { body: { chain: 'ton', amount: 12.5 } },
      { idempotency_key: 'once' },
    );
    expect(again.id).toBe(invoice.id);
    expect((await client.listInvoices({ query: { limit: 1 } })).data[0]?.id).toBe(invoice.id);
    expect((await client.payQrPng({ params: { invoice_id: invoice.id } })).slice(1, 4)).toEqual(
      new Uint8Array([80, 78, 71]),
    );
    expect(await client.payQrSvg({ params: { invoice_id: invoice.id } })).toMatch(/^<svg/);
  });

  it('throws the refusal with its code, status and request id', async () => {
    const client = createClient({ base_url: url, fetch });
    const refusal = await client
      .createInvoice({ body: { chain: 'ton', amount: '1' } })
      .catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ApiError);
    expect(refusal).toMatchObject({ status: 401, code: 'invalid_api_key', request_id: expect.any(String) });
  });
});
