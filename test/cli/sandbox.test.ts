// The sandbox of `gw dev`: its keys and `gw trigger` make payments on its chain, and the daemon reads, settles and posts.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { triggerKinds } from '../../cli/sandbox/kinds.ts';
import { openChain, openNode, type StoredChain } from '../../src/chains/sandbox.ts';
import { until } from '../helpers/until.ts';
import { verifies } from '../requirements.ts';
import { type Gw, makeGw, type Pty } from './helpers/gw.ts';

const NOWHERE = 'http://127.0.0.1:9';
/** A slow machine under load still starts within it. */
const START_MS = 60_000;

describe('gw dev without a terminal', () => {
  let gw: Gw;
  let dev: ReturnType<Gw['start']>;
  let ready: { url: string; api_key: string; webhook_secret: string; profile: string };
  const requests: { headers: IncomingHttpHeaders; body: string }[] = [];
  let status = 204;
  const shop = createServer(async (request, response) => {
    const parts = await request.toArray();
    requests.push({ headers: request.headers, body: Buffer.concat(parts).toString('utf8') });
    response.writeHead(status).end();
  });
  const trigger = async (...args: string[]) => (await gw(['trigger', ...args, '--json'])).json;
  const deliveries = () => dev.lines.slice(1).map((line) => JSON.parse(line).delivery);

  beforeAll(async () => {
    shop.listen(0, '127.0.0.1');
    await once(shop, 'listening');
    gw = makeGw(NOWHERE);
    dev = gw.start(['dev', `${(shop.address() as AddressInfo).port}/hook`, '--port', '0', '--json'], {
      env: { TMPDIR: gw.dir },
    });
    ready = JSON.parse(await until('the sandbox', async () => dev.lines[0], START_MS)).ready;
  });
  afterAll(async () => {
    dev.child.kill('SIGTERM');
    await dev.ended;
    shop.close();
    gw.remove();
  });

  it('is reached by its profile, and hands webhooks on with a signature that verifies', async () => {
    verifies('gw-dev', 'gw-trigger');
    const { invoice, events, txids } = await trigger('invoice.confirmed', '--amount-usd', '12.50');
    expect(invoice).toMatchObject({ status: 'confirmed', amount_match: 'exact', amount_usd: '12.5' });
    expect(invoice.txid).toBe(txids[0]);
    expect(events.at(-1).type).toBe('invoice.confirmed');
    const [request] = await until('the webhook', async () => (requests.length > 0 ? requests : undefined));
    const headers = request?.headers as Record<string, string>;
    const secret = ready.webhook_secret;
    expect(new Webhook(secret).verify(request?.body ?? '', headers)).toMatchObject({
      data: { invoice: { id: invoice.id } },
    });
    const listed = await gw([
      '--profile',
      ready.profile,
      '--url',
      ready.url,
      'invoice',
      'list',
      '--json',
      'id',
    ]);
    expect(listed.json).toEqual([{ id: invoice.id }]);
  });

  it('matches what is paid wrongly as everywhere', async () => {
    verifies('gw-dev', 'gw-trigger');
    const [over, under, nameless, twice] = await Promise.all([
      trigger('payment.over'),
      trigger('payment.under'),
      trigger('payment.unmatched'),
      trigger('payment.twice'),
    ]);
    expect(over.invoice).toMatchObject({ status: 'confirmed', amount_match: 'over', received_amount: '7.5' });
    expect(under.invoice).toMatchObject({ status: 'created', amount_match: 'under', received_amount: '2.5' });
    expect(nameless.invoice).toMatchObject({ status: 'created', amount_match: 'none' });
    expect(nameless.events.map(({ type }: { type: string }) => type)).toContain('payment.unmatched');
    expect(twice.txids).toHaveLength(2);
    expect(twice.events.at(-1).type).toBe('payment.late');
    // An invoice that exists, paid the rest.
    const rest = await trigger('payment.over', '--invoice-id', under.invoice.id);
    expect(rest.invoice).toMatchObject({ id: under.invoice.id, status: 'confirmed' });
  });

  it('records what happened as a file, which is posted again, with a new signature', async () => {
    verifies('gw-fixture');
    const dir = join(gw.dir, 'fixtures');
    const { recorded, txids } = await trigger('payment.twice', '--record', dir);
    expect(recorded).toBe(join(dir, 'payment.twice.json'));
    const text = readFileSync(recorded, 'utf8');
    expect(text).not.toContain(ready.api_key);
    const { requests: made, events, webhooks, ...rest } = JSON.parse(text);
    expect(made).toMatchObject([
      { method: 'POST', path: '/v1/invoices', status: 200, body: { amount: '5.00' } },
    ]);
    expect(rest).toMatchObject({ kind: 'payment.twice', txids, webhook_secret: ready.webhook_secret });
    expect(events.map(({ type }: { type: string }) => type)).toContain('payment.late');
    expect(webhooks).toMatchObject([{ answered: 204, headers: { 'content-type': 'application/json' } }]);
    const before = requests.length;
    const secret = (await gw(['listen', '--print-secret'])).stdout.trim();
    const replayed = await gw(['listen', `${(shop.address() as AddressInfo).port}`, '--replay', recorded]);
    expect(replayed.code).toBe(0);
    const posted = requests.slice(before);
    expect(posted).toHaveLength(events.length);
    for (const { headers, body } of posted)
      expect(() => new Webhook(secret).verify(body, headers as Record<string, string>)).not.toThrow();
    // The same bytes that the daemon posted.
    expect(posted.map(({ body }) => body)).toContain(webhooks[0].body);
    const none = await gw(['listen', '9', '--replay', recorded, '--events', 'payment.late']);
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('was not taken')]);
    const other = await gw(['listen', '9', '--replay', join(gw.dir, 'gw.json')]);
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('is no recording')]);
  });

  it('answers a webhook with 500 when asked to, and shows what the own server answers', async () => {
    verifies('gw-dev');
    const before = requests.length;
    const refused = await trigger('webhook.refused');
    const answer = await until('the refusal', async () =>
      deliveries().find(({ invoice_id }) => invoice_id === refused.invoice.id),
    );
    expect(answer.status).toBe(500);
    expect(requests.length).toBe(before);
    status = 418;
    const { invoice } = await trigger('invoice.confirmed');
    const own = await until('the webhook', async () =>
      deliveries().find(({ invoice_id }) => invoice_id === invoice.id),
    );
    expect(own).toMatchObject({ type: 'invoice.confirmed', status: 418, external_ref: invoice.external_ref });
  });

  it('says at once what came in place of what was wanted, with a code of its own and what to do', async () => {
    verifies('gw-trigger');
    const held = await gw(['trigger', 'invoice.confirmed', '--amount-usd', '60000', '--json']);
    expect(held).toMatchObject({
      code: 5,
      error: { error: { code: 'payment_held', missing_usd: expect.stringMatching(/^500/) } },
    });
    const { message, hint, invoice, txids } = held.error.error;
    expect(message).toMatch(/held: the prepaid limit does not cover \$60000\.00/);
    expect(txids).toHaveLength(1);
    // The command that it names helps: the refill is paid, and what was held is booked.
    const refill = /gw (--profile dev refill create .* --amount 500\S*), then gw trigger/.exec(hint)?.[1];
    const { json } = await gw([...(refill ?? '').split(' '), '--url', ready.url, '--json', 'id']);
    expect((await trigger('invoice.confirmed', '--invoice-id', json.id)).invoice.status).toBe('confirmed');
    const booked = ['--profile', 'dev', '--url', ready.url, 'invoice', 'wait', invoice.id];
    expect((await gw([...booked, '--json', 'status'])).json).toEqual({ status: 'confirmed' });
    const { invoice: cancelled } = await trigger('invoice.cancelled');
    const late = await gw(['trigger', 'payment.over', '--invoice-id', cancelled.id]);
    expect([late.code, late.stderr]).toEqual([
      6,
      expect.stringMatching(
        new RegExp(`late: the invoice is cancelled\n.*gw --profile dev explain ${cancelled.id.slice(-8)}`),
      ),
    ]);
    const never = await gw(['trigger', 'invoice.expired', '--invoice-id', cancelled.id, '--json']);
    expect(never).toMatchObject({ code: 6, error: { error: { code: 'invoice_cancelled' } } });
    expect((await trigger('payment.late', '--invoice-id', cancelled.id)).events.at(-1).type).toBe(
      'payment.late',
    );
  });

  it('lists what can be triggered, and refuses what cannot with the nearest', async () => {
    verifies('gw-trigger', 'gw-known-words');
    const listed = await trigger('--list');
    expect(listed.data.map(({ kind }: { kind: string }) => kind)).toEqual(Object.keys(triggerKinds));
    const wrong = await gw(['trigger', 'payment.lat']);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('did you mean payment.late?')]);
  });

  it('is not started twice, takes no profile of something else, and is triggered by no page', async () => {
    verifies('gw-dev');
    const second = await gw(['dev', '--port', '0', '--json']);
    expect([second.code, second.error.error.code]).toEqual([4, 'sandbox_running']);
    await gw(['config', 'set', 'url', 'https://pay.example.com', '--profile', 'live']);
    const other = await gw(['dev', '--port', '0', '--profile', 'live']);
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('the profile live is used for')]);
    const stored = JSON.parse(readFileSync(join(gw.dir, 'gw.json'), 'utf8')).profiles.dev.sandbox as string;
    const body = JSON.stringify({ kind: 'invoice.created' });
    const headers = { origin: 'https://evil.example' };
    expect((await fetch(stored, { method: 'POST', body, headers })).status).toBe(404);
    expect((await fetch(new URL('/trigger', stored), { method: 'POST', body })).status).toBe(404);
  });

  it('leaves nothing at its end', async () => {
    verifies('gw-dev');
    const left = () => readdirSync(gw.dir).filter((name) => name.startsWith('gw-dev-'));
    expect(left()).toHaveLength(1);
    dev.child.kill('SIGTERM');
    await dev.ended;
    expect(left()).toEqual([]);
    const gone = await gw(['trigger', 'invoice.created', '--json']);
    expect([gone.code, gone.error.error]).toEqual([
      69,
      expect.objectContaining({ code: 'no_sandbox', hint: expect.stringContaining('gw dev') }),
    ]);
    await expect(fetch(ready.url)).rejects.toThrow();
  });
});

describe('gw dev on a terminal', () => {
  it('shows invoices, events and answers, obeys its keys, and ends its daemon where it is killed', async () => {
    verifies('gw-dev', 'gw-dev-end');
    const gw = makeGw(NOWHERE);
    const dir = join(gw.dir, 'sandbox');
    const pty: Pty = gw.pty(['dev', '--port', '0', '--data-dir', dir, '--record', join(gw.dir, 'recorded')]);
    const begun = await pty.seeFrame((frame) => frame.includes('INVOICE') && frame.includes('EVENT'));
    // In 80 columns: where it is reached, and where its files are, whole.
    expect(begun).toMatch(/gw dev {2}http:\/\/127\.0\.0\.1:\d+ {2}profile dev {2}webhooks answered here/);
    expect(begun).toContain(`recorded in ${join(gw.dir, 'recorded')} `);
    pty.write('n');
    const made = await pty.seeFrame((frame) => /› \w{8} +5 USDC +created +dev-1 +expires in/.test(frame));
    const id = /› (\w{8})/.exec(made)?.[1];
    pty.write('5');
    await pty.seeFrame((frame) => frame.includes('the next webhook is answered with 500'));
    pty.write('o');
    // Of the marked invoice, and of no other.
    await pty.seeFrame(
      (frame) =>
        new RegExp(`› ${id} .* confirmed +dev-1 +7.5 over`).test(frame) &&
        new RegExp(`invoice.confirmed +${id} +500 +\\d+ ms`).test(frame),
    );
    pty.write('?');
    await pty.seeFrame((frame) => frame.includes('pay without the memo'));
    pty.write('?q');
    expect(await pty.ended).toBe(0);
    expect(JSON.parse(readFileSync(join(dir, 'sandbox.json'), 'utf8')).chain.payments).toHaveLength(1);
    expect(existsSync(join(dir, 'gatewayd', 'gatewayd.db'))).toBe(true);
    // Begun again where it was, and killed: its daemon ends too.
    const dev = gw.start(['dev', '--port', '0', '--data-dir', dir, '--json']);
    const { ready } = JSON.parse(await until('the sandbox', async () => dev.lines[0], START_MS));
    const listed = await gw(['--profile', 'dev', '--url', ready.url, 'invoice', 'list', '--json', 'status']);
    expect(listed.json).toEqual([{ status: 'confirmed' }]);
    dev.child.kill('SIGKILL');
    await until('the end of the daemon', () =>
      fetch(ready.url).then(
        () => undefined,
        () => true,
      ),
    );
    gw.remove();
  });
});

describe('the chain of the sandbox', () => {
  const wallet = 'HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk';
  const order = { account: wallet, owner: wallet, mint: null, amount: 7n, memo: 'm' };

  it('leaves out by a fork what is not final, for good, and nothing else', () => {
    verifies('gw-dev');
    let now = 1_800_000_000_000;
    let stored: StoredChain | undefined;
    const options = { now: () => now, random: (bytes: number) => randomBytes(bytes) };
    const save = (all: StoredChain) => {
      stored = all;
    };
    const chain = openChain({ ...options, stored, save });
    const node = openNode(chain, new Set());
    const ask = (method: string, params: unknown[]) =>
      (node({ id: 1, method, params }) as { result: { value: never } }).result.value as never[];
    chain.stall();
    const txid = chain.pay(order);
    now += 60_000;
    expect(ask('getSignatureStatuses', [[txid]])).toMatchObject([{ confirmationStatus: 'confirmed' }]);
    const { blockhash, slot } = chain.find(txid) ?? { blockhash: '', slot: 0 };
    expect(chain.leaveOut(txid)).toBe(true);
    chain.release();
    expect(ask('getSignatureStatuses', [[txid]])).toEqual([null]);
    expect(ask('getMultipleAccounts', [[wallet], {}])).toEqual([null]);
    expect(chain.final().slot).toBeGreaterThan(slot + 300);
    expect(ask('isBlockhashValid', [blockhash, { commitment: 'finalized' }])).toBe(false);
    // What is final stays, also over a restart.
    const lasting = chain.pay(order);
    now += 60_000;
    expect(chain.leaveOut(lasting)).toBe(false);
    const again = openChain({ ...options, save, stored: JSON.parse(JSON.stringify(stored)) });
    expect(again.find(lasting)).toMatchObject({ amount: 7n, memo: 'm' });
    expect(again.final().slot).toBe(chain.final().slot);
  });
});
