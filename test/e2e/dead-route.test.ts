// A daemon that cannot reach its provider gives what it reads to one that can, and the operator hears of the route and not of the chain.
import { hostname } from 'node:os';
import { expect, onTestFinished, test } from 'vitest';
import { json, serve } from '../helpers/local-server.ts';
import { hasPostgres } from '../helpers/postgres.ts';
import { until } from '../helpers/until.ts';
import { verifies } from '../requirements.ts';
import { wrongBooks } from './books.ts';
import { type Gate, openGate } from './gate.ts';
import { nanoOf } from './payer.ts';
import {
  call,
  createInvoice,
  credit,
  type Invoice,
  openShop,
  openStand,
  readInvoice,
  tonSettings,
} from './stand.ts';

/** What an operator may count on. */
const SENT_MS = 90_000;
/** A provider is left alone for up to a minute first; then its route counts as good again after some answers, a while apart. */
const BACK_MS = 240_000;
/** Longer than a daemon waits for one answer. */
const TOO_SLOW_MS = 30_000;

const faults: [string, (gate: Gate) => void, RegExp][] = [
  [
    'is not reached',
    (gate) => {
      gate.weather = 'down';
    },
    /not reach|socket|closed|reset/i,
  ],
  [
    'takes half a minute for an answer',
    (gate) => {
      gate.delay_ms = TOO_SLOW_MS;
    },
    /no complete answer in 20000 ms/,
  ],
];

test.skipIf(!hasPostgres).each(faults)(
  'where the provider of the daemon that reads %s, the other daemon reads, and operators are notified of the route once',
  async (_, spoil, says) => {
    verifies('dead-route-given-back', 'dead-route-notified', 'exactly-once');
    const notices = await serve((_request, response) => json(response, { ok: true }));
    const sent = (): { cause: string; text: string }[] =>
      notices.requests
        .flatMap(({ body }): { cause: string; text: string }[] => JSON.parse(body).data?.notices ?? [])
        // Providers of other blockchains may be out of reach where this runs.
        .filter(({ cause, text }) => /^(route|blockchain)_/.test(cause) && text.includes('TON'));
    const stand = await openStand('postgres', {
      GATEWAYD_DEMO: 'false',
      GATEWAYD_WEBHOOK_ALLOW_PRIVATE: 'true',
      GATEWAYD_NOTIFY: JSON.stringify([{ to: `${notices.url}/hook` }]),
    });
    onTestFinished(() => stand.close());
    const gates = [stand.gate, await openGate(stand.chain.url)];
    onTestFinished(() => (gates[1] as Gate).stop());
    const daemons = [await stand.start(), await stand.start(tonSettings((gates[1] as Gate).url))];
    const [url] = daemons.map((daemon) => daemon.url) as [string, string];
    const shop = await openShop(stand, url);
    await credit(url, shop, '1000');
    const confirm = async (limit_ms: number) => {
      const invoice: Invoice = await createInvoice(url, shop);
      await stand.payer.pay({ amount: nanoOf(invoice), memo: invoice.memo });
      await until(
        `invoice ${invoice.id} is confirmed`,
        async () => (await readInvoice(url, invoice.id)).status === 'confirmed' || undefined,
        limit_ms,
      );
      return invoice.id as string;
    };
    const readers = () => gates.findIndex(({ requests }) => requests.length > 0);
    const paid = [await confirm(SENT_MS)];
    const broken = gates[readers()] as Gate;
    const good = gates.find((gate) => gate !== broken) as Gate;
    /** Both at once, as a balancer would ask them. */
    const sights = async () => {
      const replies = await Promise.all(daemons.map((daemon) => call(daemon.url, 'GET', '/readyz')));
      return replies.map(({ json: { blockchains } }) => blockchains[0].status as string);
    };

    spoil(broken);
    paid.push(await confirm(SENT_MS));
    await until('operators are notified', async () => sent().length > 0 || undefined, SENT_MS);
    const [notice] = sent();
    expect(notice).toMatchObject({ cause: 'route_dead' });
    expect(notice?.text).toContain(hostname());
    expect(notice?.text).toContain(`127.0.0.1:${new URL(broken.url).port}`);
    expect(notice?.text).toContain('TON');
    expect(notice?.text).toMatch(says);
    expect(await sights()).toEqual(['ok', 'ok']);

    Object.assign(broken, { weather: 'fair', delay_ms: 0 });
    await until('its end is sent', async () => sent().length > 1 || undefined, BACK_MS);
    expect(sent().map(({ cause }) => cause)).toEqual(['route_dead', 'route_back']);

    // It is worth something again: the other one fails in turn.
    spoil(good);
    paid.push(await confirm(SENT_MS));
    const causes = sent().map(({ cause }) => cause);
    expect(causes.filter((cause) => cause.startsWith('blockchain_'))).toEqual([]);
    expect(await wrongBooks(stand)).toEqual([]);
    await until(
      'each payment is reported to the shop once',
      async () =>
        paid.every((id) => stand.receiver.hooks.some(({ invoice_id }) => invoice_id === id)) || undefined,
    );
    expect(stand.receiver.hooks.map(({ invoice_id }) => invoice_id).sort()).toEqual(paid.sort());
  },
  600_000,
);
