// One suite for every gateway: a real payment on a real chain, from POST /v1/invoices to the signed webhook.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Composed } from '../../src/chains/family.ts';
import { findBlockchain } from '../../src/chains/gateways.ts';
import { startApp, type TestApp, type TestMerchant } from '../helpers/app.ts';
import { systemClock } from '../helpers/clock.ts';
import type { Database } from '../helpers/database.ts';
import { fundedMerchant } from '../helpers/payments.ts';
import { setWallet } from '../helpers/people.ts';
import { until } from '../helpers/until.ts';
import { verifies } from '../requirements.ts';

/** A chain that buyers pay on. Amounts in atomic units. */
export interface PayingChain {
  /** Settings that point the daemon at it. */
  settings: Record<string, string>;
  /** The merchant's receive address, as a merchant would type it. */
  wallet: string;
  pay(payment: Payment): Promise<string>;
  /** Where wallets sign what the server makes: the buyer's account, and its wallet that signs and sends it. */
  wallet_of_buyer?: { account: string; sign(composed: Composed, chain: string): Promise<string> };
  /** Makes what was sent final. */
  settle(): Promise<void>;
  stop(): Promise<void>;
}

export interface Payment {
  chain: string;
  amount: bigint;
  memo: string | null;
}

interface Hook {
  headers: Record<string, string>;
  body: string;
}

async function startReceiver() {
  const hooks: Hook[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    hooks.push({ headers: request.headers as Record<string, string>, body });
    response.end('ok');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}/hook`, hooks, close: () => server.close() };
}

/** Every gateway of one blockchain, on one database each so that both are paid on. */
export function gatewaySuite(
  blockchain: string,
  chains: Record<string, Database>,
  start: () => Promise<PayingChain>,
): void {
  describe(`a merchant is paid on ${blockchain}`, () => {
    let chain: PayingChain;
    const apps = new Map<Database, { test: TestApp; merchant: TestMerchant; secret: string }>();
    let receiver: Awaited<ReturnType<typeof startReceiver>>;

    beforeAll(async () => {
      receiver = await startReceiver();
      chain = await start();
      for (const database of new Set(Object.values(chains))) {
        const settings = { webhook_allow_private: true, ...chain.settings };
        const test = await startApp({ database, settings, clock: systemClock, start: true });
        const merchant = await fundedMerchant(test);
        await setWallet(test.app, merchant.id, blockchain, chain.wallet);
        const account = await test.fetch('PATCH', '/api/v1/merchant/account', {
          token: merchant.token,
          body: { webhook_url: receiver.url },
        });
        expect(account.status, account.text).toBe(200);
        apps.set(database, { test, merchant, secret: account.json.webhook_secret });
      }
    }, 120_000);

    afterAll(async () => {
      for (const { test } of apps.values()) await test.stop();
      receiver?.close();
      await chain?.stop();
    });

    const given = (name: string) => {
      const found = apps.get(chains[name] as Database);
      if (!found) throw new Error(`no app for ${name}`);
      return found;
    };

    const create = async (name: string, amount: string) => {
      const { test, merchant } = given(name);
      const reply = await test.fetch('POST', '/v1/invoices', {
        key: merchant.key,
        body: { chain: name, amount },
      });
      expect(reply.status, reply.text).toBe(200);
      const gateway = test.app.gateways.find((one) => one.chain === name);
      const atomic = toAtomic(reply.json.amount, gateway?.decimals ?? 0);
      return { invoice: reply.json, atomic, memo: reply.json.memo as string | null };
    };

    const read = async (name: string, id: string) =>
      (await given(name).test.fetch('GET', `/v1/public/invoices/${id}`)).json;

    /** Pays with what the server makes for the buyer's wallet; null where wallets of this chain take none. */
    const payComposed = async (name: string, id: string) => {
      const body = { account: chain.wallet_of_buyer?.account ?? chain.wallet };
      const path = `/v1/invoices/${id}/transaction`;
      const { status, json, text } = await given(name).test.fetch('POST', path, { body });
      expect(status, text).toBe(chain.wallet_of_buyer ? 200 : 400);
      return chain.wallet_of_buyer ? chain.wallet_of_buyer.sign(json, name) : null;
    };

    const untilStatus = (name: string, id: string, status: string) =>
      until(`${name} invoice is ${status}`, async () => {
        const invoice = await read(name, id);
        return invoice.status === status ? invoice : undefined;
      });

    describe.each(Object.keys(chains))('through %s', (name) => {
      it('confirms with the txid, the exact amount, one income, one fee and one valid webhook', async () => {
        verifies('compose-pays');
        const { test, merchant, secret } = given(name);
        const { invoice, atomic, memo } = await create(name, '12.5');
        const txid =
          (await payComposed(name, invoice.id)) ?? (await chain.pay({ chain: name, amount: atomic, memo }));
        await chain.settle();
        const confirmed = await untilStatus(name, invoice.id, 'confirmed');
        expect(confirmed).toMatchObject({ txid, received_amount: invoice.amount, amount_match: 'exact' });
        expect(confirmed.paid_at).toBeGreaterThanOrEqual(invoice.created_at);
        const income = await test.fetch('GET', '/api/v1/merchant/income?limit=200', {
          token: merchant.token,
        });
        const records = income.json.data.filter(
          (row: { invoice_id: string }) => row.invoice_id === invoice.id,
        );
        expect(records).toHaveLength(1);
        expect(records[0]).toMatchObject({ txid, amount: invoice.amount, fee_charged: '0.125', chain: name });
        const fees = await test.app.db.query
          .selectFrom('ledger')
          .selectAll()
          .where('invoice_id', '=', invoice.id)
          .execute();
        expect(fees.map((row) => [row.kind, row.amount_micros])).toEqual([['fee', 125_000n]]);
        const hooks = () => receiver.hooks.filter((hook) => hook.body.includes(invoice.id));
        await until(`the webhook of ${name}`, async () => hooks()[0]);
        const [hook] = hooks() as [Hook];
        const event = new Webhook(secret).verify(hook.body, hook.headers) as {
          type: string;
          data: { invoice: unknown; payment: { status: string } };
        };
        expect(event.type).toBe('invoice.confirmed');
        expect(event.data.invoice).toEqual({ ...confirmed, kind: 'sale' });
        expect(event.data.payment.status).toBe('confirmed');
        await until('the delivery is recorded', async () => {
          const { json } = await test.fetch('GET', '/api/v1/merchant/income', { token: merchant.token });
          const row = json.data.find((one: { invoice_id: string }) => one.invoice_id === invoice.id);
          return row.webhook_status === 'delivered' ? row : undefined;
        });
        expect(hooks()).toHaveLength(1);
      }, 60_000);

      it('does not take another amount or memo for the payment, and lists it', async () => {
        const { test } = given(name);
        const { invoice, atomic, memo } = await create(name, '31.5');
        const txid = await chain.pay({
          chain: name,
          amount: memo === null ? atomic + 1n : atomic,
          memo: memo === null ? null : `${memo.slice(0, -1)}1`,
        });
        await chain.settle();
        await until('the unmatched payment is listed', async () =>
          test.app.db.query
            .selectFrom('payments')
            .selectAll()
            .where('txid', '=', txid)
            .where('status', '=', 'unmatched')
            .executeTakeFirst(),
        );
        expect((await read(name, invoice.id)).status).toBe('created');
      }, 60_000);
    });
  });
}

export function walletOf(blockchain: string, text: string) {
  const found = findBlockchain(blockchain);
  if (!found) throw new Error(`no blockchain ${blockchain}`);
  return found.family.normalizeAddress(text, 'testnet');
}

function toAtomic(amount: string, decimals: number): bigint {
  const [whole = '0', fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}
