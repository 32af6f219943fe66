// A provider that is cut off while daemons serve: page, gateways, readiness and new invoices say so at each of them, and all is back with it.
import { describe, expect, it, onTestFinished } from 'vitest';
import { databases } from '../helpers/database.ts';
import { until } from '../helpers/until.ts';
import { verifies } from '../requirements.ts';
import { wrongBooks } from './books.ts';
import { nanoOf } from './payer.ts';
import { call, createInvoice, credit, kill, openShop, openStand, readInvoice } from './stand.ts';

/** What an operator may count on with the default time; here it is shorter. */
const CHANGED_MS = 90_000;
const BLIND_AFTER_SECONDS = '5';

describe.each(databases)('a provider that is cut off, on %s', (database) => {
  it('is reported by every daemon, before and after a start, and all is back once it is', async () => {
    verifies(
      'blind-chain',
      'blind-shown',
      'blind-refused',
      'blind-start',
      'readiness',
      'expire-not-while-blind',
    );
    const stand = await openStand(database, {
      GATEWAYD_DEMO: 'false',
      GATEWAYD_WEBHOOK_ALLOW_PRIVATE: 'true',
      GATEWAYD_BLIND_AFTER_SECONDS: BLIND_AFTER_SECONDS,
    });
    onTestFinished(() => stand.close());
    const daemons = [await stand.start()];
    // Of two daemons of a database one reads the chain.
    if (database === 'postgres') daemons.push(await stand.start());
    const [first, last] = [daemons[0], daemons.at(-1)] as [(typeof daemons)[0], (typeof daemons)[0]];
    const seen = async (url: string, id: string) => {
      const { data } = (await call(url, 'GET', '/v1/gateways')).json;
      const ready = await call(url, 'GET', '/readyz');
      const page = await call(url, 'GET', `/pay/${id}?lang=en`);
      const ton = (all: { blockchain: string }[]) => all.find(({ blockchain }) => blockchain === 'ton');
      return {
        gateway: (ton(data) as unknown as { available: boolean }).available,
        readiness: [ready.status, (ton(ready.json.blockchains) as unknown as { status: string }).status],
        page: !page.text.includes('We can’t see the TON network right now'),
      };
    };
    const sees = { gateway: true, readiness: [200, 'ok'], page: true };
    const blind = { gateway: false, readiness: [200, 'blind'], page: false };
    const untilAll = (state: string, id: string, expected: typeof sees) =>
      until(
        `all daemons ${state}`,
        async () => {
          const answers = await Promise.all(daemons.map(({ url }) => seen(url, id)));
          return answers.every((one) => JSON.stringify(one) === JSON.stringify(expected)) || undefined;
        },
        CHANGED_MS,
      );
    const shop = await openShop(stand, first.url);
    await credit(first.url, shop, '10');
    const invoice = await createInvoice(first.url, shop);
    await untilAll('see TON', invoice.id, sees);

    stand.gate.weather = 'down';
    await untilAll('are blind', invoice.id, blind);
    for (const { url } of daemons) {
      const refused = await call(url, 'POST', '/v1/invoices', { shop, body: { chain: 'ton', amount: '1' } });
      expect([refused.status, refused.json.code]).toEqual([503, 'provider_unavailable']);
    }
    // It failed many times: who reads, and who was to read in its place, has one line each.
    const lines = daemons.map((daemon) => daemon.stderr().match(/"provider_down".*"ton"/g)?.length ?? 0);
    expect(Math.max(...lines)).toBe(1);
    await stand.payer.pay({ amount: nanoOf(invoice), memo: invoice.memo });
    await kill(last);
    daemons.pop();
    const again = await stand.start();
    daemons.push(again);
    expect(again.stdout()).toMatch(/^gatewayd ready on \S+ \(testnet; cannot read .*\bton\b.*\)\n$/);
    expect((await seen(again.url, invoice.id)).gateway).toBe(false);
    const [alive] = daemons as [(typeof daemons)[0]];

    stand.gate.weather = 'fair';
    await until(
      'what was paid meanwhile is confirmed',
      async () => (await readInvoice(alive.url, invoice.id)).status === 'confirmed' || undefined,
      CHANGED_MS,
    );
    const next = await until(
      'all daemons take new ones',
      async () => {
        const made = await Promise.all(
          daemons.map(({ url }) =>
            call(url, 'POST', '/v1/invoices', { shop, body: { chain: 'ton', amount: '1' } }),
          ),
        );
        return made.every(({ status }) => status < 300) ? made[0] : undefined;
      },
      CHANGED_MS,
    );
    await untilAll('see TON again', next.json.id, sees);
    expect(await wrongBooks(stand)).toEqual([]);
  }, 300_000);
});
