// Links as chats, mails and sentences end them: a browser gets the page that was meant, or one that says that it is not there.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHttp } from '../../../daemon/http/mount.ts';
import { routes } from '../../../daemon/routes/routes.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { ABSENT_ID } from '../../helpers/people.ts';
import { verifies } from '../../requirements.ts';

const html = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
/** What a link may end with, as a browser sends it. */
const ends = [
  ...[
    '.',
    ')',
    ',',
    '>',
    '"',
    "'",
    ';',
    ':',
    '!',
    '%20',
    '%E2%80%8B',
    '%E2%80%A6',
    '%C2%BB',
    '%0A',
    '%EF%BB%BF',
  ],
  ...[').', '%3E', '%22%2C', '*', '_', '%E2%80', '%', ']', '%E3%80%82'],
];

describe('a link', () => {
  let service: TestApp;
  let merchant: TestMerchant;
  let invoice_id: string;
  let unit: { id: string; merchant_slug: string; slug: string };
  beforeAll(async () => {
    service = await startApp();
    merchant = await service.merchant();
    const made = await service.fetch('POST', '/v1/invoices', {
      key: merchant.key,
      body: { chain: 'ton', amount: '5' },
    });
    invoice_id = made.json.id;
    unit = (
      await service.fetch('POST', '/api/v1/merchant/units', {
        token: merchant.token,
        body: { title: 'Tea', amount_usd: '5', currencies: ['TON'] },
      })
    ).json;
  });
  afterAll(() => service.stop());

  async function ask(path: string, headers: Record<string, string> = html) {
    const request = new Request(service.app.config.public_url + path, { headers });
    const reply = await createHttp(service.app, routes).h3.fetch(request);
    return { status: reply.status, headers: reply.headers, text: await reply.text() };
  }

  /** Follows what a browser would follow. */
  async function open(path: string) {
    const reply = await ask(path);
    const location = reply.headers.get('location');
    if (location === null) return reply;
    expect([reply.status, location.startsWith('/')]).toEqual([302, true]);
    return ask(location);
  }
  const paths = (): string[] => [
    ...[`/pay/${invoice_id}`, `/v1/pay/${invoice_id}/page`, `/v1/units/${unit.id}/page`],
    ...[`/pay/${invoice_id}/coins`, `/u/${unit.merchant_slug}/${unit.slug}`],
  ];

  test.each(ends)('that ends with %j opens the page', async (end) => {
    verifies('pages-links');
    for (const path of paths()) {
      const plain = await open(path);
      expect(plain.status, path).toBe(200);
      const reply = await open(`${path}${end}`);
      expect([reply.status, reply.headers.get('content-type')], `${path}${end}`).toEqual([
        200,
        'text/html; charset=utf-8',
      ]);
      const again = await open(`${path}${end}?lang=de`);
      expect(again.text, `${path}${end}`).toContain('lang="de"');
    }
    for (const path of [`/v1/pay/${invoice_id}${end}/page`, `/v1/units/${unit.id}${end}/page`])
      expect((await open(path)).status, path).toBe(200);
  });

  test('whose look cannot be read opens the page without it', async () => {
    verifies('pages-links');
    expect((await open(`/v1/pay/${invoice_id}/page?size=mobile)`)).status).toBe(200);
    expect((await open(`/v1/pay/${invoice_id}/page?width=abc.`)).status).toBe(200);
  });

  test('that leads to nothing says so on a page, in the language of its reader', async () => {
    verifies('pages-links');
    const nowhere = [
      ...[
        '/pay/',
        '/pay/nothing',
        `/pay/${ABSENT_ID}`,
        `/pay/${ABSENT_ID}.`,
        '/pay/1/2/3',
        '/u/a',
        '/u/a/b/c',
      ],
      ...['/u/absent/absent', '/v1/pay/x/page', '/v1/units/x/div', `/pay/${invoice_id}x`, '/pay/...', '/pay'],
      ...[`/v1/pay/${ABSENT_ID}/qr.png`, '/logos/none.svg', '/pay/x/receipt', '/pay/x/coins'],
    ];
    for (const path of nowhere) {
      const reply = await ask(path, { ...html, 'accept-language': 'de' });
      const last = reply.status === 302 ? await open(path) : reply;
      expect([last.status, last.headers.get('content-type')], path).toEqual([
        404,
        'text/html; charset=utf-8',
      ]);
      if (reply.status !== 302) expect(reply.text, path).toContain('lang="de"');
    }
  });

  test('to where only forms are sent leads back to their page', async () => {
    verifies('pages-links');
    const reply = await open(`/pay/${invoice_id}/claim`);
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  });

  test('is refused to programs as before', async () => {
    for (const accept of ['application/json', '*/*']) {
      const reply = await ask(`/pay/${invoice_id}.`, { accept });
      expect([reply.status, JSON.parse(reply.text).detail[0].type]).toEqual([422, 'uuid_parsing']);
      expect((await ask('/pay/', { accept })).status).toBe(404);
      expect((await ask(`/pay/${ABSENT_ID}/claim`, { accept })).status).toBe(405);
    }
    const api = await ask('/v1/nothing');
    expect(api.headers.get('content-type')).toContain('application/json');
  });
});
