// Colours and sizes are put into what is rendered: however many are asked for, a page is rendered once, and says the same.

import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { looseOf, pieceOf, together } from '../../../daemon/http/compress.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { create, fundedMerchant } from '../../helpers/payments.ts';
import { verifies } from '../../requirements.ts';

/** Pages that one address may have made. */
const SHARE = 3;
const LOOKS = 200;

let service: TestApp;
let merchant: TestMerchant;
let unit_id: string;
beforeAll(async () => {
  const settings = { trust_proxy: true, 'limits.pages_per_address': String(SHARE) };
  service = await startApp({ single: true, settings });
  merchant = await fundedMerchant(service);
  const body = { title: 'Coffee', amount_usd: 4.5, currencies: ['TON', 'bitcoin'] };
  const { json } = await service.fetch('POST', '/api/v1/merchant/units', { token: merchant.token, body });
  unit_id = json.id;
});
afterAll(() => service.stop());

let addresses = 0;
const newAddress = () => ({ 'x-forwarded-for': `203.0.113.${++addresses}` });
const hex = (at: number) => ((at * 7_919_231) & 0xffffff).toString(16).padStart(6, '0');
const hashOf = (style: string) => `'sha256-${createHash('sha256').update(style).digest('base64')}'`;

const surfaces = {
  'the page of an invoice': async () => `/v1/pay/${(await create(service, merchant, 'ton')).id}/page`,
  'the fragment of an invoice': async () => `/v1/pay/${(await create(service, merchant, 'ton')).id}/div`,
  'the page of a unit': async () => `/v1/units/${unit_id}/page`,
  'the fragment of a unit': async () => `/v1/units/${unit_id}/div`,
};

describe.each(Object.entries(surfaces))('%s', (name, open) => {
  test('is rendered once for all looks that one address asks for', async () => {
    verifies('looks-not-rendered');
    const path = await open();
    const headers = newAddress();
    const width = (at: number) => (name.includes('invoice') ? `&width=${180 + at}` : '');
    for (let at = 0; at < LOOKS; at++) {
      const theme = ['auto', 'light', 'dark'][at % 3];
      const query = `accent=${hex(at)}&radius=${at % 25}&theme=${theme}${width(at)}`;
      const { status, text } = await service.fetch('GET', `${path}?${query}`, { headers });
      expect(status).toBe(200);
      expect(text).toContain(`--gw-accent:#${hex(at)}`);
      if (width(at)) expect(text).toContain(`max-width:${180 + at}px`);
    }
  });

  test('lets its own styles through its policy, by their hashes alone', async () => {
    const path = await open();
    const { text, headers } = await service.fetch('GET', `${path}?accent=1a7f37&radius=3&theme=dark`, {
      headers: newAddress(),
    });
    const markup = text.replace(/<script>.*?<\/script>/gs, '');
    const styles = [...markup.matchAll(/<style>(.*?)<\/style>/gs)].map(([, style = '']) => hashOf(style));
    expect(styles).toHaveLength(2);
    const allowed = /style-src ([^;]+)/.exec(headers.get('content-security-policy') ?? '')?.[1];
    expect(allowed).toBe(styles.join(' '));
  });

  test('is the same compressed and as it is', async () => {
    const path = await open();
    const query = '?accent=1a7f37&theme=light';
    const plain = await service.fetch('GET', `${path}${query}`, { headers: newAddress() });
    const { public_url } = service.app.config;
    const packed = await bytesOf(`${public_url}${path}${query}`);
    expect(packed.headers.get('content-encoding')).toBe('gzip');
    const same = (text: string) => text.replace(/data-now="\d+"/g, '');
    expect(same(gunzipSync(packed.bytes).toString())).toBe(same(plain.text));
  });
});

test('forms in a frame lead on in the same look, and links alone in none', async () => {
  const { id } = await create(service, merchant, 'ton');
  const framed = await service.fetch('GET', `/v1/pay/${id}/page?size=sm&lang=de&accent=1a7f37&radius=3`, {
    headers: newAddress(),
  });
  const action = `/pay/${id}?size=sm&amp;lang=de&amp;theme=auto&amp;accent=1a7f37&amp;radius=3"`;
  expect(framed.text).toContain(action);
  const alone = await service.fetch('GET', `/pay/${id}?lang=de`, { headers: newAddress() });
  expect(alone.text).toContain(`/pay/${id}?lang=de"`);
  for (const { text } of [framed, alone]) expect(text).not.toMatch(/look-[0-9a-f]{8}-/);
});

test('the other coins of an invoice are rendered once for all looks, and lead on and back in each', async () => {
  verifies('looks-not-rendered');
  const bought = await service.fetch('POST', `/v1/units/${unit_id}/checkout`, { body: { chain: 'ton' } });
  const { id } = bought.json;
  const headers = newAddress();
  for (let at = 0; at < LOOKS / 4; at++) {
    const query = `?size=sm&lang=de&theme=dark&accent=${hex(at)}`;
    const { status, text } = await service.fetch('GET', `/pay/${id}/coins${query}`, { headers });
    expect(status).toBe(200);
    const inMarkup = query.replaceAll('&', '&amp;');
    expect(text).toContain(`/pay/${id}/coins${inMarkup}"`);
    expect(text).toContain(`/v1/pay/${id}/page${inMarkup}"`);
  }
});

test('one address has its share of pages that are rendered, and learns when there is more; others have theirs', async () => {
  verifies('rate-limit-pages', 'refused-as-page');
  const headers = { ...newAddress(), accept: 'text/html', 'accept-language': 'de' };
  const answers = [];
  for (let at = 0; at <= SHARE; at++) {
    const { id } = await create(service, merchant, 'ton');
    answers.push(await service.fetch('GET', `/pay/${id}`, { headers }));
  }
  expect(answers.map(({ status }) => status)).toEqual([...Array(SHARE).fill(200), 429]);
  const refused = answers.at(-1);
  expect(refused?.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(refused?.headers.get('retry-after')).toBe(String(60 / SHARE));
  expect(refused?.text).toContain('<html lang="de"');
  const { id } = await create(service, merchant, 'ton');
  expect((await service.fetch('GET', `/pay/${id}`, { headers: newAddress() })).status).toBe(200);
  service.clock.advance(60 / SHARE);
  expect((await service.fetch('GET', `/pay/${id}`, { headers })).status).toBe(200);
});

async function bytesOf(url: string) {
  const { createHttp } = await import('../../../daemon/http/mount.ts');
  const { routes } = await import('../../../daemon/routes/routes.ts');
  const headers = { ...newAddress(), 'accept-encoding': 'gzip' };
  const reply = await createHttp(service.app, routes).h3.fetch(new Request(url, { headers }));
  return { headers: reply.headers, bytes: Buffer.from(await reply.arrayBuffer()) };
}

test('pieces make one gzip file, whatever they are and however many', () => {
  const texts = ['', 'x', 'ä'.repeat(40_000), 'words and words '.repeat(5_000), '', 'end'];
  const pieces = texts.flatMap((text) => [pieceOf(text), looseOf(text)]);
  const whole = texts.map((text) => text + text).join('');
  const { body, headers } = together(pieces, new Headers({ 'accept-encoding': 'br, gzip' }));
  expect(headers).toEqual({ 'content-encoding': 'gzip' });
  expect(gunzipSync(body).toString()).toBe(whole);
  expect(together(pieces, new Headers()).body.toString()).toBe(whole);
});
