// The operator sees the daemons of a deployment, and takes one of them out of work while it serves.
import { expect, it, onTestFinished } from 'vitest';
import { hasPostgres } from '../helpers/postgres.ts';
import { until } from '../helpers/until.ts';
import { verifies } from '../requirements.ts';
import { wrongBooks } from './books.ts';
import { openGate } from './gate.ts';
import { nanoOf } from './payer.ts';
import {
  ask,
  call,
  createInvoice,
  credit,
  kill,
  openShop,
  openStand,
  readInvoice,
  signIn,
  tonSettings,
} from './stand.ts';

/** Far below the 15 s after which the lease of a reader runs out. */
const HANDED_OVER_MS = 8_000;
const ABSENT = '00000000-0000-4000-8000-000000000000';

interface Shown {
  id: string;
  status: string;
  is_this: boolean;
  pid: number;
  version: string;
  reads: { blockchain: string; lag_seconds: number | null }[];
}

it.skipIf(!hasPostgres)(
  'daemons are listed with what they do, and one that is drained hands it over and says so',
  async () => {
    verifies('daemons-listed', 'daemon-drained', 'webhook-one-attempt', 'exactly-once');
    const stand = await openStand('postgres');
    onTestFinished(() => stand.close());
    const gates = [stand.gate, await openGate(stand.chain.url)] as const;
    onTestFinished(() => gates[1].stop());
    const daemons = [await stand.start(), await stand.start(tonSettings(gates[1].url))] as const;
    const [one, other] = daemons;
    const shop = await openShop(stand, one.url);
    await credit(one.url, shop, '1000');
    const operator = { id: '', key: '', token: await signIn(one.url, 'operator@example.com') };
    const as = { shop: operator, as: 'token' } as const;
    const list = async (url: string): Promise<Shown[]> =>
      (await ask(url, 'GET', '/api/v1/admin/daemons', as)).daemons;
    const invoice = await createInvoice(one.url, shop);

    const both = await until('both are there and one reads TON', async () => {
      const shown = await list(one.url);
      const read = shown.filter(({ reads }) => reads.some(({ blockchain }) => blockchain === 'ton'));
      return shown.length === 2 && read.length === 1 ? shown : undefined;
    });
    expect(both.map(({ status }) => status)).toEqual(['running', 'running']);
    expect(both.filter(({ is_this }) => is_this)).toHaveLength(1);
    expect(new Set(both.map(({ version }) => version)).size).toBe(1);
    const reader = both.find(({ reads }) => reads.some(({ blockchain }) => blockchain === 'ton'));
    if (!reader) throw new Error('no reader');
    const drained = reader.is_this ? one : other;
    const left = reader.is_this ? other : one;
    const gate = gates[left === one ? 0 : 1];

    // Asked of the other one, by its id.
    const asked = await ask(left.url, 'POST', `/api/v1/admin/daemons/${reader.id}/drain`, as);
    expect(asked).toMatchObject({ id: reader.id, status: 'draining', is_this: false });
    await until(
      'its health says so',
      async () => ((await call(drained.url, 'GET', '/health')).status === 503 ? true : undefined),
      HANDED_OVER_MS,
    );
    expect(await call(drained.url, 'GET', '/health')).toMatchObject({ json: { code: 'draining' } });
    expect((await call(left.url, 'GET', '/health')).status).toBe(200);
    const asked_before = gate.requests.length;
    await until(
      'the other reads the chain',
      async () => (gate.requests.length > asked_before ? true : undefined),
      HANDED_OVER_MS,
    );
    expect((await list(drained.url)).find(({ id }) => id === reader.id)).toMatchObject({
      status: 'draining',
      is_this: true,
      reads: [],
    });

    // It still answers, and what it confirms is sent by the other.
    expect((await readInvoice(drained.url, invoice.id)).status).toBe('created');
    await stand.payer.pay({ amount: nanoOf(invoice), memo: invoice.memo });
    const checked = await call(drained.url, 'POST', `/v1/invoices/${invoice.id}/check`, { shop });
    expect(checked).toMatchObject({ status: 200, json: { status: 'confirmed' } });
    await until('the webhook is sent', async () =>
      stand.receiver.hooks.find(({ invoice_id }) => invoice_id === invoice.id),
    );
    expect(stand.receiver.hooks).toHaveLength(1);

    expect(await call(left.url, 'POST', `/api/v1/admin/daemons/${ABSENT}/drain`, as)).toMatchObject({
      status: 404,
      json: { code: 'daemon_not_found' },
    });
    await kill(drained);
    await until('it is silent', async () =>
      (await list(left.url)).find(({ id, status }) => id === reader.id && status === 'silent'),
    );
    expect(await wrongBooks(stand)).toEqual([]);
  },
  90_000,
);
