// Live status: every viewer hears of every change, of this daemon and of others, for the price of one poll.
import { afterEach, describe, expect, test } from 'vitest';
import { apply } from '../../../daemon/settle/settle.ts';
import type { Refusal } from '../../../src/errors.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import { invoiceRow, observe, transferTo } from '../../helpers/payments.ts';
import { verifies } from '../../requirements.ts';
import { createInvoice } from './states.ts';

const VIEWERS = 200;
const TWO_POLLS_MS = 600;

const running: TestApp[] = [];
afterEach(async () => {
  for (const world of running.splice(0).reverse()) await world.stop();
});

interface Message {
  event: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read what the wire carries
  data: any;
}

/** Follows an invoice; `next` waits for the next message. */
async function follow(world: TestApp, id: string) {
  const gone = new AbortController();
  const follower = { ip: '127.0.0.1', closing: gone.signal };
  const { body, headers } = await world.app.checkout.follow(id, follower);
  const reader = body.stream().getReader();
  let rest = '';
  async function next(): Promise<Message> {
    for (;;) {
      const end = rest.indexOf('\n\n');
      if (end >= 0) {
        const lines = rest.slice(0, end).split('\n');
        rest = rest.slice(end + 2);
        const of = (name: string) =>
          lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
        return { event: of('event') ?? '', data: JSON.parse(of('data') ?? 'null') };
      }
      const { value, done } = await reader.read();
      if (done) throw new Error('the stream ended');
      rest += Buffer.from(value).toString();
    }
  }
  return { next, headers, leave: () => gone.abort(), closed: reader.closed, cancel: () => reader.cancel() };
}

async function open(
  database: (typeof databases)[number],
): Promise<{ world: TestApp; merchant: TestMerchant }> {
  const world = await startApp({ database });
  running.push(world);
  return { world, merchant: await world.merchant() };
}

const settle = (world: TestApp, id: string) =>
  apply(world.app, id, { fact: { kind: 'simulate' }, actor: 'merchant' });

describe.each(databases)('live status on %s', (database) => {
  test('the status comes at once and at every change, also of confirmations, which make no event', async () => {
    const { world, merchant } = await open(database);
    const id = await createInvoice({ test: world, merchant });
    const viewer = await follow(world, id);
    expect(viewer.headers).toMatchObject({ 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
    const first = await viewer.next();
    expect(first).toMatchObject({
      event: 'status',
      data: {
        invoice_id: id,
        status: 'created',
        payment_status: null,
        received_amount: null,
        min_confirmations: 32,
      },
    });
    const transfer = transferTo(world, await invoiceRow(world, id), { confirmations: 3 });
    await observe(world, 'solana', [transfer]);
    expect((await viewer.next()).data).toMatchObject({ payment_status: 'confirming', confirmations: 3 });
    await observe(world, 'solana', [{ ...transfer, confirmations: 9 }]);
    expect((await viewer.next()).data).toMatchObject({ payment_status: 'confirming', confirmations: 9 });
    viewer.leave();
    await viewer.closed;
  });

  test(`${VIEWERS} viewers hear of a settlement for a handful of statements`, async () => {
    const { world, merchant } = await open(database);
    const ids = await Promise.all([1, 2, 3, 4].map(() => createInvoice({ test: world, merchant })));
    const viewers = [];
    for (let index = 0; index < VIEWERS; index++) viewers.push(await follow(world, ids[index % 4] ?? ''));
    for (const viewer of viewers) await viewer.next();
    const counted = countStatements(world);
    await settle(world, ids[0] ?? '');
    const settled = counted();
    const heard = await Promise.all(viewers.filter((_, index) => index % 4 === 0).map((one) => one.next()));
    for (const { data } of heard) expect(data).toMatchObject({ invoice_id: ids[0], status: 'confirmed' });
    expect(counted() - settled).toBeLessThan(20);
    for (const viewer of viewers) viewer.leave();
    await Promise.all(viewers.map((viewer) => viewer.closed));
  });

  test('a change made by another daemon is heard as well', async () => {
    const { world, merchant } = await open(database);
    const other = await startApp({ database, database_url: world.app.config.database_url });
    running.push(other);
    const id = await createInvoice({ test: world, merchant });
    const viewer = await follow(other, id);
    await viewer.next();
    await settle(world, id);
    expect((await viewer.next()).data).toMatchObject({ status: 'confirmed' });
    viewer.leave();
  });
});

test('when the last viewer has gone, the database is left alone', async () => {
  const { world, merchant } = await open('sqlite');
  const id = await createInvoice({ test: world, merchant });
  const cancelled = await follow(world, id);
  const left = await follow(world, id);
  await cancelled.cancel();
  left.leave();
  await left.next();
  await left.closed;
  const count = countStatements(world);
  await new Promise((resolve) => setTimeout(resolve, TWO_POLLS_MS));
  expect(count()).toBe(0);
});

describe('one address', () => {
  const SHARE = 5;
  const ask = (world: TestApp, id: string, ip: string) =>
    world.app.checkout.follow(id, { ip, closing: new AbortController().signal });
  const codeOf = async (stream: Promise<unknown>) => {
    try {
      await stream;
      return 'open';
    } catch (error) {
      return (error as Refusal).code;
    }
  };

  async function shop(share = SHARE) {
    const world = await startApp({ settings: { 'limits.streams_per_address': String(share) } });
    running.push(world);
    const merchant = await world.merchant();
    return { world, ids: await Promise.all([1, 2, 3].map(() => createInvoice({ test: world, merchant }))) };
  }

  test('has its share of streams, an IPv6 one by its /64; others have theirs, and what is closed counts no more', async () => {
    verifies('streams-shared');
    const { world, ids } = await shop();
    const [id = ''] = ids;
    const of = (at: number) => `2001:db8:1:2::${at}`;
    const streams = [];
    for (let at = 1; at <= SHARE; at++) streams.push(await ask(world, ids[at % 3] ?? '', of(at)));
    expect(await codeOf(ask(world, id, of(99)))).toBe('rate_limited');
    expect(await codeOf(ask(world, id, '2001:db8:1:3::1'))).toBe('open');
    expect(await codeOf(ask(world, id, '203.0.113.1'))).toBe('open');
    // One that was opened and read, and one that never was.
    const reader = streams[0]?.body.stream().getReader();
    await reader?.read();
    expect(await codeOf(ask(world, id, of(99)))).toBe('rate_limited');
    await reader?.cancel();
    streams[1]?.body.cancel();
    streams[1]?.body.cancel();
    for (const code of ['open', 'open', 'rate_limited'])
      expect(await codeOf(ask(world, id, of(99)))).toBe(code);
  });

  test('of one invoice has ten, so that it takes no place from its buyer', async () => {
    verifies('streams-shared');
    const { world, ids } = await shop(2 * 10);
    const [id = '', other = ''] = ids;
    for (let at = 0; at < 10; at++) await ask(world, id, `2001:db8:1:2::${at}`);
    expect(await codeOf(ask(world, id, '2001:db8:1:2::99'))).toBe('rate_limited');
    expect(await codeOf(ask(world, id, '203.0.113.1'))).toBe('open');
    expect(await codeOf(ask(world, other, '2001:db8:1:2::99'))).toBe('open');
  });

  test('of one invoice no more than a hundred, from wherever they are opened', async () => {
    verifies('streams-shared');
    const { world, ids } = await shop();
    const [id = '', other = ''] = ids;
    for (let at = 0; at < 100; at++) await ask(world, id, `203.0.${at}.1`);
    expect(await codeOf(ask(world, id, '198.51.100.1'))).toBe('too_many_streams');
    expect(await codeOf(ask(world, other, '198.51.100.1'))).toBe('open');
    // What was refused has taken no place of the address.
    for (let at = 0; at < 10; at++) await codeOf(ask(world, id, '198.51.100.2'));
    expect(await codeOf(ask(world, other, '198.51.100.2'))).toBe('open');
  });
});

test('a reader that leaves much unread is cut off, and its place is free again', async () => {
  const { world, merchant } = await open('sqlite');
  const id = await createInvoice({ test: world, merchant });
  const { body } = await world.app.checkout.follow(id, {
    ip: '203.0.113.1',
    closing: new AbortController().signal,
  });
  let ended = 0;
  let written = 0;
  body.open({
    write(piece) {
      written += piece.byteLength;
      return false;
    },
    end: () => {
      ended++;
    },
  });
  expect([written > 0, ended]).toEqual([true, 1]);
});

test('an invoice that does not exist is refused', async () => {
  const { world } = await open('sqlite');
  const reply = await world.fetch('GET', '/v1/pay/00000000-0000-4000-8000-000000000000/events');
  expect([reply.status, reply.json.code]).toEqual([404, 'invoice_not_found']);
});

/** How many statements the app's database has run since. */
function countStatements({ app }: TestApp): () => number {
  let count = 0;
  const executor = app.db.query.getExecutor();
  const run = executor.executeQuery.bind(executor);
  executor.executeQuery = (...parameters) => {
    count++;
    return run(...parameters);
  };
  return () => count;
}
