// Checks under load, on three daemons of one database: others that read, and a provider that is merely paced, refuse no one.
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startTonChain, type TonChain } from '../../chains/ton-chain.ts';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { type TestClock, testClock } from '../../helpers/clock.ts';
import { type LocalServer, serve } from '../../helpers/local-server.ts';
import { setWallet } from '../../helpers/people.ts';
import { hasPostgres } from '../../helpers/postgres.ts';
import { verifies } from '../../requirements.ts';

const DAEMONS = 3;
const CHECKS = 180;
const INVOICES = 15;
/** What the provider takes in a second of all that ask it, which is less than three daemons take for theirs. */
const CAP_PER_SECOND = 4;
const SETTLED_SECONDS = 600;
const CALLS_APART_MS = 20;

describe.skipIf(!hasPostgres)('180 checks on three daemons', () => {
  /** Counts what is asked of the chain's provider, and refuses more than it takes; or all of it. */
  async function pacedFront(chain: TonChain) {
    const sent: number[] = [];
    const front = { refused: 0, is_paced: false, is_down: false };
    const server: LocalServer = await serve(({ path, body }, response) => {
      const now = performance.now();
      while (sent[0] !== undefined && sent[0] < now - 1000) sent.shift();
      if (front.is_down) return void response.writeHead(502).end('down');
      if (front.is_paced && sent.length >= CAP_PER_SECOND) {
        front.refused++;
        return void response.writeHead(429, { 'retry-after': '20' }).end('{"error":"too many requests"}');
      }
      sent.push(now);
      const post = { method: 'POST', body, headers: { 'content-type': 'application/json' } };
      void fetch(`${new URL(chain.url).origin}${path}`, body === '' ? {} : post).then(async (answer) =>
        response
          .writeHead(answer.status, { 'content-type': 'application/json' })
          .end(Buffer.from(await answer.arrayBuffer())),
      );
    });
    return Object.assign(front, { url: `${server.url}${new URL(chain.url).pathname}` });
  }

  async function open() {
    const chain = await startTonChain({ clock: 'manual' });
    onTestFinished(() => chain.stop());
    const front = await pacedFront(chain);
    const [shop, payer] = [await chain.createWallet(), await chain.createWallet()];
    chain.advanceTime(SETTLED_SECONDS);
    const clock: TestClock = testClock(chain.now());
    const settings = {
      'blockchains.ton.url': front.url,
      'gateways.ton-usdt.enabled': false,
      'limits.key_per_second': '0',
    };
    const options = { single: true, start: true, database: 'postgres', clock, settings } as const;
    const first = await startApp(options);
    onTestFinished(() => first.stop());
    const { database_url } = first.app.config;
    const daemons: TestApp[] = [first];
    while (daemons.length < DAEMONS) {
      const daemon = await startApp({ ...options, database_url });
      onTestFinished(() => daemon.stop());
      daemons.push(daemon);
    }
    const [operator, merchant] = [await first.superuser(), await first.merchant()];
    await first.fetch('POST', `/api/v1/admin/merchants/${merchant.id}/credit`, {
      token: operator.token,
      body: { prepaid_usd: '1000' },
    });
    await setWallet(first.app, merchant.id, 'ton', shop.address);
    const invoices: { id: string; amount: string; memo: string }[] = [];
    while (invoices.length < INVOICES) {
      const body = { chain: 'ton', amount: '1' };
      invoices.push((await first.fetch('POST', '/v1/invoices', { key: merchant.key, body })).json);
    }
    const check = (at: number) =>
      (daemons[at % DAEMONS] as TestApp).fetch('POST', `/v1/invoices/${invoices[at % INVOICES]?.id}/check`, {
        key: merchant.key,
      });
    return { chain, clock, front, shop, payer, invoices, check };
  }

  test.each([false, true])(
    'answer what is known, where the provider refuses more: %s, and 503 once it is down',
    {
      timeout: 120_000,
    },
    async (is_paced) => {
      verifies('check-paced');
      const { chain, clock, front, shop, payer, invoices, check } = await open();
      const time = new AbortController();
      const passing = (async () => {
        while (!time.signal.aborted) {
          chain.advanceTime(1);
          clock.set(chain.now());
          await delay(1_000);
        }
      })();
      expect((await check(0)).status).toBe(200);
      front.is_paced = is_paced;
      const [paid] = invoices;
      await chain.sendTon({
        from: payer,
        to: shop,
        amount: BigInt(Math.round(Number(paid?.amount) * 1e9)),
        comment: paid?.memo,
      });
      const answers = await Promise.all(
        Array.from({ length: CHECKS }, async (_, at) => {
          await delay(at * CALLS_APART_MS);
          const { status, json } = await check(at);
          return `${status} ${json.code ?? json.status}`;
        }),
      );
      const odd = answers.filter((each) => !each.startsWith('200'));
      expect(front.refused > 0).toBe(is_paced);
      expect(odd).toEqual([]);
      if (!is_paced) expect(answers).toContain('200 confirmed');
      front.is_down = true;
      clock.advance(200);
      const last = async () => (await check(1)).json.code;
      await expect.poll(last, { timeout: 60_000, interval: 1_000 }).toBe('provider_unavailable');
      time.abort();
      await passing;
    },
  );
});
