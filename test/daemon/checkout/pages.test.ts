// What checkout answers over HTTP: headers, sizes, encodings, forms, images and refusals.

import { createHash } from 'node:crypto';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isSafeLink } from '../../../daemon/checkout/view.ts';
import { createHttp } from '../../../daemon/http/mount.ts';
import { routes } from '../../../daemon/routes/routes.ts';
import { sizes } from '../../../src/api/endpoints/checkout.ts';
import { checkoutStates } from '../../../src/checkout.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { invoiceRow, observe, transferTo } from '../../helpers/payments.ts';
import { readPng } from '../../helpers/png.ts';
import { verifies } from '../../requirements.ts';
import { createInvoice, createUnit, everyState } from './states.ts';

const RAW_LIMIT = 60_000;
const COMPRESSED_LIMIT = 20_000;
const EMBED_LIMIT = 6_000;
const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

let world: TestApp;
let merchant: TestMerchant;
let base: string;
beforeAll(async () => {
  world = await startApp();
  base = world.app.config.public_url;
  merchant = await world.merchant();
});
afterAll(() => world.stop());

const invoice = (body?: Record<string, unknown>) => createInvoice({ test: world, merchant }, body);

/** An answer as it is, to a request that reaches the daemon itself whatever its public URL says. */
async function answer(method: string, path: string, headers: Record<string, string> = {}): Promise<Response> {
  return createHttp(world.app, routes).h3.fetch(new Request(base + path, { method, headers }));
}

async function bytes(path: string, encoding: string): Promise<{ sent: string | null; body: Buffer }> {
  const response = await answer('GET', path, { 'accept-encoding': encoding });
  return {
    sent: response.headers.get('content-encoding'),
    body: Buffer.from(await response.arrayBuffer()),
  };
}

describe('a page', () => {
  test('runs only its own script and style, and may be framed only where embeds need it', async () => {
    const id = await invoice();
    for (const [path, framed] of [
      [`/pay/${id}`, false],
      [`/v1/pay/${id}/page?width=400`, true],
    ] as const) {
      const { headers, text } = await world.fetch('GET', path);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toMatch(
        /^default-src 'none'; script-src 'sha256-[^' ]+'; style-src ('sha256-[^' ]+' ?)+; /,
      );
      expect(policy).not.toMatch(/unsafe|\*(?! *$)/);
      expect(policy).toContain(`frame-ancestors ${framed ? '*' : "'none'"}`);
      expect(headers.get('x-frame-options')).toBe(framed ? null : 'DENY');
      for (const [, kind, content] of text.matchAll(/<(style|script)>([\s\S]*?)<\/\1>/g)) {
        const hash = createHash('sha256')
          .update(content as string)
          .digest('base64');
        expect(policy, `${kind} of ${path}`).toContain(hash);
      }
      expect(text).not.toMatch(/\son[a-z]+=|\sstyle=/i);
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  test('is the same within a second, unless what it shows has changed', async () => {
    const id = await invoice();
    const path = `/pay/${id}`;
    const page = async () => (await world.fetch('GET', path)).text;
    const first = await page();
    expect(await page()).toBe(first);
    expect(await page()).toContain('data-state="waiting"');
    await world.fetch('POST', `/v1/invoices/${id}/cancel`);
    expect(await page()).toContain('data-state="cancelled"');
    expect((await world.fetch('GET', `${path}?lang=de`)).text).toContain('lang="de"');
    world.clock.advance(1);
    expect(await page()).toContain(`data-now="${world.clock.now()}"`);
  });

  test('says the same compressed as plain', async () => {
    const id = await invoice();
    for (const path of [`/pay/${id}`, `/v1/pay/${id}/page?width=300&lang=ar`, `/v1/pay/${id}/div`]) {
      const [plain, gzip] = [await bytes(path, 'identity'), await bytes(path, 'gzip')];
      expect([plain.sent, gzip.sent]).toEqual([null, 'gzip']);
      expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true);
    }
  });

  test('is small in every state, also compressed', async () => {
    const ids = await everyState({ test: world, merchant });
    for (const state of checkoutStates)
      for (const path of [`/pay/${ids[state]}?lang=ru`, `/v1/pay/${ids[state]}/div?lang=fa`]) {
        const plain = await bytes(path, 'identity');
        const packed = await bytes(path, 'gzip, deflate, br');
        expect(plain.sent).toBe(null);
        expect(packed.sent).toBe('gzip');
        expect(plain.body.length, path).toBeLessThan(RAW_LIMIT);
        expect(packed.body.length, path).toBeLessThan(COMPRESSED_LIMIT);
        expect(gunzipSync(packed.body).equals(plain.body)).toBe(true);
      }
  });

  test('has every size, and as wide as asked', async () => {
    verifies('page-size', 'get-pay-page');
    const id = await invoice();
    for (const size of sizes) {
      const { status, text } = await world.fetch('GET', `/v1/pay/${id}/page?size=${size}`);
      expect(status).toBe(200);
      expect(text).toContain(`s-${size === 'phone' ? 'mobile' : size} `);
    }
    expect((await world.fetch('GET', `/v1/pay/${id}/page?width=181`)).text).toContain('max-width:181px');
    expect((await world.fetch('GET', `/v1/pay/${id}/page?width=179`)).status).toBe(422);
    expect((await world.fetch('GET', `/v1/pay/${id}/page?size=huge`)).status).toBe(422);
  });

  test('that is not there says so to people, and as JSON to programs', async () => {
    const path = '/pay/00000000-0000-4000-8000-000000000000';
    const page = await world.fetch('GET', path, { headers: { ...BROWSER, 'accept-language': 'tr' } });
    expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(page.text).toContain('Sayfa bulunamadı');
    expect((await world.fetch('GET', path)).json).toMatchObject({ code: 'invoice_not_found' });
    const unit = await world.fetch('GET', '/u/no-one/nothing', { headers: BROWSER });
    expect(unit.status).toBe(404);
  });

  test('never offers an address to pay to where nothing is to be paid', async () => {
    const ids = await everyState({ test: world, merchant });
    for (const state of checkoutStates) {
      const { text } = await world.fetch('GET', `/pay/${ids[state]}`);
      const payable = state === 'waiting' || state === 'underpaid' || state === 'orphaned';
      expect(text.includes('data-qr'), state).toBe(payable);
      // What has ended unpaid must not be paid: its address is not handed out.
      const copies = payable || state === 'confirmed' || state === 'overpaid';
      const { address } = await invoiceRow(world, ids[state]);
      expect(text.includes(`data-copy="${address}"`), state).toBe(copies);
      expect(text, state).toContain((await invoiceRow(world, ids[state])).address.slice(-6));
    }
  });
});

describe('an ended payment', () => {
  test('whose money came in time, but too little of it, is not called late', async () => {
    const ids = await everyState({ test: world, merchant });
    const { text } = await world.fetch('GET', `/pay/${ids.incomplete}?lang=en`);
    expect(text).toContain('Not paid in full');
    expect(text).toContain('Only 5.00\u00a0USDC of 12.50\u00a0USDC arrived in time');
    expect(text).not.toContain('too late');
  });

  test('says what becomes of money that was sent, and where a new payment begins', async () => {
    const ids = await everyState({ test: world, merchant });
    for (const state of ['expired', 'cancelled', 'failed'] as const) {
      const { text } = await world.fetch('GET', `/pay/${ids[state]}?lang=en`);
      expect(text, state).toContain('If you have already sent money, it is not lost');
      expect(text, state).toMatch(/go back to .+ and start a new payment/);
    }
  });
});

describe('forms', () => {
  test('cancelling an invoice whose payment was seen changes nothing and leads back to its page', async () => {
    const id = await invoice();
    const row = await invoiceRow(world, id);
    await observe(world, 'solana', [transferTo(world, row, { confirmations: 1 })]);
    const reply = await world.fetch('POST', `/pay/${id}?lang=fr`);
    expect([reply.status, reply.headers.get('location')]).toEqual([303, `/pay/${id}?lang=fr`]);
    expect((await invoiceRow(world, id)).status).toBe('created');
  });

  test('a choice that cannot be made is explained on the chooser', async () => {
    const unit = await createUnit({ test: world, merchant }, { currencies: ['ton'] });
    const reply = await world.fetch('POST', `/u/${unit.merchant_slug}/${unit.slug}?lang=en`, {
      body: 'chain=bitcoin',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(reply.status).toBe(400);
    expect(reply.text).toContain('You can’t pay with this currency right now. Please choose another one.');
    expect(reply.text).toContain('value="ton"');
  });

  test('an inactive unit offers nothing and says so', async () => {
    const unit = await createUnit({ test: world, merchant });
    await world.fetch('PATCH', `/api/v1/merchant/units/${unit.id}`, {
      token: merchant.token,
      body: { active: false },
    });
    const { status, text } = await world.fetch('GET', `/v1/units/${unit.id}/page`);
    expect(status).toBe(200);
    expect(text).toContain('This offer isn’t available right now.');
    expect(text).not.toContain('<button');
  });

  test('links stay on the path that a proxy serves us under', async () => {
    const id = await invoice();
    world.app.config.public_url = `${base}/pay-here`;
    const page = await bytes(`/pay/${id}`, 'identity');
    const moved = await answer('POST', `/pay/${id}`);
    world.app.config.public_url = base;
    expect(page.body.toString()).toContain(`action="/pay-here/pay/${id}?lang=en"`);
    expect(page.body.toString()).toContain('data-base="/pay-here"');
    expect(moved.headers.get('location')).toBe(`/pay-here/pay/${id}`);
  });
});

describe('scripts and images', () => {
  test('embed.js is small, packed once, and readable from anywhere', async () => {
    verifies('get-embed-js');
    const plain = await bytes('/embed.js', 'identity');
    const zipped = await bytes('/embed.js', 'gzip');
    const brotli = await bytes('/embed.js', 'br, gzip;q=0.5');
    expect([plain.sent, zipped.sent, brotli.sent]).toEqual([null, 'gzip', 'br']);
    expect(zipped.body.length).toBeLessThan(EMBED_LIMIT);
    expect(gunzipSync(zipped.body).equals(plain.body)).toBe(true);
    expect(brotliDecompressSync(brotli.body).equals(plain.body)).toBe(true);
    const { headers } = await world.fetch('GET', '/embed.js');
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(headers.get('vary')).toBe('accept-encoding');
  });

  test('an encoding that is refused is not sent', async () => {
    expect((await bytes('/embed.js', 'br;q=0, gzip;q=0.0')).sent).toBe(null);
  });

  test('every gateway has its logo', async () => {
    verifies('get-images');
    const { json } = await world.fetch('GET', '/v1/gateways');
    for (const gateway of [...json.data, ...json.groups]) {
      const path = gateway.logo_url.slice(world.app.config.public_url.length);
      const { status, text, headers } = await world.fetch('GET', path);
      expect([path, status]).toEqual([path, 200]);
      expect(headers.get('content-type')).toContain('image/svg+xml');
      expect(text).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox="0 0 32 32">.*<\/svg>$/);
    }
    expect((await world.fetch('GET', '/logos/none.svg')).status).toBe(404);
    expect((await world.fetch('GET', '/logos/__proto__.svg')).status).toBe(422);
  });

  test('logo and icon are pictures of their sizes', async () => {
    verifies('get-images');
    const logo = readPng((await bytes('/logo.png', 'identity')).body);
    const icon = readPng((await bytes('/favicon-32.png', 'identity')).body);
    expect([logo.width, logo.height, icon.width, icon.height]).toEqual([256, 256, 32, 32]);
  });

  test.each([
    ['https://app.keeperwallet.com/transfer/x', true],
    ['ton://transfer/x', true],
    ['solana:x', true],
    ['bitcoin:x', true],
    ['javascript:alert(1)', false],
    ['data:text/html,x', false],
    ['http://example.com', false],
    [' https://example.com', false],
    ['//example.com', false],
  ])('a link %s may stand on a page: %s', (href, safe) => {
    expect(isSafeLink(href)).toBe(safe);
  });
});
