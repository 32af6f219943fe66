// Refusals that a program can act on: each has a code, most a hint, and where a call helps, that call.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { api } from '../../../src/api/endpoints/api.ts';
import { errorTable, remedyOf } from '../../../src/api/project/remedies.ts';
import { errorCodes } from '../../../src/errors.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { wallets } from '../../helpers/people.ts';

describe('refusals', () => {
  let daemon: TestApp;
  let merchant: TestMerchant;
  beforeAll(async () => {
    daemon = await startApp();
    merchant = await daemon.merchant();
  });
  afterAll(() => daemon.stop());

  test('every code has a sentence, and most have a hint that is another', () => {
    const hinted = errorTable().filter(({ hint }) => hint !== undefined);
    expect(hinted.length / errorTable().length).toBeGreaterThan(0.8);
    for (const { code, detail, hint } of hinted) expect(hint, code).not.toBe(detail);
  });

  test('a next call is one of the list, with its method and path', () => {
    const calls = api.map(({ id, method, path }) => ({ operation: id, method, path }));
    const next = errorTable().flatMap((each) => (each.next ? [each.next] : []));
    expect(next.length).toBeGreaterThan(15);
    for (const call of next) expect(calls).toContainEqual(call);
  });

  test.each([
    ['limit_exhausted', 402, 'createRefill'],
    ['no_wallet', 400, 'setMerchantWallet'],
    ['unit_limit', 403, 'deleteUnit'],
    ['not_authenticated', 401, 'loginAccessToken'],
    ['invalid_api_key', 401, 'getMerchantAccount'],
    ['unknown_chain', 400, 'listGateways'],
    ['invoice_ended', 409, 'createInvoice'],
  ] as const)('%s (%i) leads to %s', (code, status, operation) => {
    expect(errorCodes[code].status).toBe(status);
    expect(remedyOf(code)?.next?.operation).toBe(operation);
  });

  test('without a token: sign in', async () => {
    const { status, json } = await daemon.fetch('GET', '/api/v1/merchant/account');
    expect([status, json.code, json.next.path]).toEqual([
      401,
      'not_authenticated',
      '/api/v1/login/access-token',
    ]);
    expect(json.hint).toContain('Bearer');
  });

  test('a fourth unit: delete one, and then it goes', async () => {
    const { token } = merchant;
    const create = () =>
      daemon.fetch('POST', '/api/v1/merchant/units', {
        token,
        body: { title: 'Tea', amount_usd: 3, currencies: ['TON'] },
      });
    const [first] = [await create(), await create(), await create()];
    const refused = await create();
    expect([refused.status, refused.json.code]).toEqual([403, 'unit_limit']);
    const { method, path } = refused.json.next;
    await daemon.fetch(method, path.replace('{unit_id}', first.json.id), { token });
    expect((await create()).status).toBe(200);
  });

  test('a limit below the volume: the refill that lets it through', async () => {
    const { token } = await daemon.superuser();
    await daemon.fetch('PUT', '/api/v1/admin/refill-wallets', {
      token,
      body: { chain: 'ton', address: wallets.ton },
    });
    const created = await daemon.fetch('POST', '/v1/invoices', {
      key: merchant.key,
      body: { chain: 'ton', amount: 25 },
    });
    const { status, json } = await daemon.fetch('POST', `/api/v1/admin/payments/${created.json.id}/resolve`, {
      token,
      body: { action: 'confirm', txid: 'ab'.repeat(32), force: true, note: 'seen on an explorer' },
    });
    expect([status, json.code, json.next.operation]).toEqual([402, 'limit_exhausted', 'createRefill']);
    const { method, path } = json.next;
    const refill = await daemon.fetch(method, path, {
      token: merchant.token,
      body: { chain: json.refill.chains[0], amount: json.refill.amount_usd },
    });
    expect([refill.status, refill.json.status]).toEqual([200, 'created']);
  });

  test('a path that is not served: the catalog', async () => {
    const { json } = await daemon.fetch('GET', '/v2/everything');
    expect(json.next).toEqual({ operation: 'getCatalog', method: 'GET', path: '/v1/catalog' });
  });
});
