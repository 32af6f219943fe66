// The way back to the shop: who may be led where, what the page shows at each end, and what a receipt says.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Email } from '../../../daemon/mail/mail.ts';
import { apply } from '../../../daemon/settle/settle.ts';
import { openReceipts } from '../../../daemon/shop/receipts.ts';
import { checkoutStates } from '../../../src/checkout.ts';
import { signReturn } from '../../../src/return-signature.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { create } from '../../helpers/payments.ts';
import { readQr } from '../../helpers/png.ts';
import { ask } from '../../helpers/service.ts';
import { verifies } from '../../requirements.ts';
import { createUnit, everyState } from './states.ts';

const BROWSER = { accept: 'text/html,*/*;q=0.8' };
const logo = readFileSync(new URL('../../../daemon/checkout/assets/logo.png', import.meta.url));
const LOGO = `data:image/png;base64,${logo.toString('base64')}`;
const RETURNS = {
  success_url: 'https://shop.example/thanks?order=7',
  cancel_url: 'https://shop.example/basket',
};
const NAME = 'Kaffee Rösterei';

let world: TestApp;
let merchant: TestMerchant;
beforeAll(async () => {
  world = await startApp();
  merchant = await world.merchant();
  await update({
    display_name: NAME,
    return_hosts: ['shop.example', 'localhost:3000'],
    legal_line: 'Rösterei GmbH, Berlin, DE123456789',
    support_email: 'help@shop.example',
    support_url: 'https://shop.example/help',
    site_url: 'https://shop.example/',
  });
});
afterAll(() => world.stop());

const update = (body: object, who = merchant) =>
  ask(world, 'PATCH', '/api/v1/merchant/account', { token: who.token, body });
const sell = (body: object, who = merchant) =>
  world.fetch('POST', '/v1/invoices', {
    key: who.key,
    body: { chain: 'solana-usdc', amount: '12.50', ...body },
  });
const page = async (path: string) => (await world.fetch('GET', path, { headers: BROWSER })).text;
const made = async (body: Record<string, unknown>): Promise<string> =>
  (await create(world, merchant, 'solana-usdc', body)).id;
const confirm = (id: string) => world.fetch('POST', `/v1/invoices/${id}/simulate`, { key: merchant.key });
const cancel = (id: string) => apply(world.app, id, { fact: { kind: 'cancel' }, actor: 'buyer' });
/** Where the button of a page leads. */
const backOf = (html: string): URL | null => {
  const [, href] = /<a class="btn first" href="([^"]+)" target="_top"/.exec(html) ?? [];
  return href === undefined ? null : new URL(href.replaceAll('&amp;', '&'));
};

describe('where buyers may be led to', () => {
  test.each([
    ['another host', { success_url: 'https://evil.example/' }],
    ['a host that only looks so', { cancel_url: 'https://shop.example.evil.example/' }],
    ['plain http', { success_url: 'http://shop.example/' }],
    ['a script', { cancel_url: 'javascript:alert(1)' }],
  ])('%s is refused, for invoices and units alike', async (_, body) => {
    verifies('return-hosts');
    const invoice = await sell(body);
    expect([invoice.status, invoice.json.code]).toEqual([400, 'url_not_allowed']);
    const { token } = merchant;
    const unit = await createUnit({ test: world, merchant });
    const change = await world.fetch('PATCH', `/api/v1/merchant/units/${unit.id}`, { token, body });
    expect([change.status, change.json.code]).toEqual([400, 'url_not_allowed']);
    await world.fetch('DELETE', `/api/v1/merchant/units/${unit.id}`, { token });
  });

  test('the hosts of one account are not those of another, and a merchant key cannot change them', async () => {
    const other = await world.merchant();
    expect((await sell(RETURNS, other)).json.code).toBe('url_not_allowed');
    const body = { return_hosts: ['evil.example'] };
    const changed = await world.fetch('PATCH', '/api/v1/merchant/account', { key: merchant.key, body });
    expect(changed.status).toBe(401);
  });

  test('the owner reads them, and no one else', async () => {
    verifies('return-private');
    const { json } = await sell({ ...RETURNS, customer_email: 'buyer@example.com' });
    expect(json).toMatchObject(RETURNS);
    const owned = await ask(world, 'GET', `/v1/invoices/${json.id}`, { key: merchant.key });
    expect(owned).toMatchObject({ ...RETURNS, return_automatically: false });
    const answers = [
      await page(`/v1/public/invoices/${json.id}`),
      await page(`/pay/${json.id}`),
      await page(`/v1/pay/${json.id}/div`),
      JSON.stringify(await ask(world, 'GET', '/api/v1/merchant/events', { token: merchant.token })),
    ];
    const unit = await createUnit({ test: world, merchant }, RETURNS);
    const units = await ask(world, 'GET', '/api/v1/merchant/units', { token: merchant.token });
    expect(units.units.at(-1)).toMatchObject(RETURNS);
    answers.push(await page(`/v1/units/${unit.id}`), await page(`/u/${unit.merchant_slug}/${unit.slug}`));
    for (const text of answers) expect(text).not.toMatch(/thanks\?order|shop\.example\/basket|buyer@example/);
    await world.fetch('DELETE', `/api/v1/merchant/units/${unit.id}`, { token: merchant.token });
  });

  test('a host that is taken off the list is led to no more', async () => {
    verifies('return-checked-again');
    const id = await made(RETURNS);
    await confirm(id);
    expect(backOf(await page(`/pay/${id}`))?.pathname).toBe('/thanks');
    await update({ return_hosts: ['other.example'] });
    expect(backOf(await page(`/pay/${id}`))?.href).toBe('https://shop.example/');
    await update({ return_hosts: ['shop.example', 'localhost:3000'] });
  });
});

describe('the end of a payment', () => {
  test('has its button, signed with the webhook secret; what is open has none', async () => {
    verifies('return-buttons', 'return-signature');
    const { webhook_secret } = await ask(world, 'GET', '/api/v1/merchant/account', { token: merchant.token });
    const ids = await everyState({ test: world, merchant });
    for (const state of checkoutStates) {
      const back = backOf(await page(`/pay/${ids[state]}`));
      const open = ['waiting', 'closing', 'orphaned', 'underpaid', 'seen', 'processing'].includes(state);
      // These invoices name no address: their buttons lead to the site.
      expect(back?.href ?? null, state).toBe(open ? null : 'https://shop.example/');
    }
    const paid = await made(RETURNS);
    await confirm(paid);
    const cancelled = await made(RETURNS);
    await cancel(cancelled);
    for (const [id, status, path] of [
      [paid, 'confirmed', '/thanks'],
      [cancelled, 'cancelled', '/basket'],
    ] as const) {
      const html = await page(`/pay/${id}`);
      expect(html).toContain(`Return to ${NAME}`);
      const back = backOf(html);
      expect(back?.host + (back?.pathname ?? '')).toBe(`shop.example${path}`);
      expect(back?.searchParams.get('invoice_id')).toBe(id);
      expect(back?.searchParams.get('invoice_status')).toBe(status);
      expect(back?.searchParams.get('signature')).toBe(
        signReturn({ invoice_id: id, status }, webhook_secret),
      );
    }
  });

  test('for a day after the secret was changed both sign, and without one nothing does', async () => {
    const shop = await world.merchant();
    await update({ return_hosts: ['shop.example'] }, shop);
    const before = await ask(world, 'GET', '/api/v1/merchant/account', { token: shop.token });
    const { json } = await sell(RETURNS, shop);
    await cancel(json.id);
    await update({ webhook_secret: 'whsec_bmV3IHNlY3JldA==' }, shop);
    const about = { invoice_id: json.id, status: 'cancelled' } as const;
    const both = ['whsec_bmV3IHNlY3JldA==', before.webhook_secret].map((secret) => signReturn(about, secret));
    world.clock.advance(1);
    expect(backOf(await page(`/pay/${json.id}`))?.searchParams.get('signature')).toBe(both.join('.'));
    await update({ webhook_secret: null }, shop);
    world.clock.advance(1);
    expect(backOf(await page(`/pay/${json.id}`))?.searchParams.has('signature')).toBe(false);
  });

  test('leads on only where the shop asks so, soon after the end, and in no frame', async () => {
    verifies('return-automatic');
    const id = await made({ ...RETURNS, return_automatically: true });
    const refresh =
      /<noscript><meta http-equiv="refresh" content="5;url=https:\/\/shop\.example\/thanks[^"]*"/;
    expect(await page(`/pay/${id}`)).not.toMatch(/data-lead="|5;url=/);
    await confirm(id);
    const html = await page(`/pay/${id}`);
    expect(html).toMatch(refresh);
    expect(html).toContain('data-lead="true"');
    for (const path of [`/v1/pay/${id}/page`, `/v1/pay/${id}/div`, `/pay/${id}/receipt`])
      expect(await page(path), path).not.toMatch(/data-lead="true"|5;url=/);
    const quiet = await made(RETURNS);
    await confirm(quiet);
    expect(await page(`/pay/${quiet}`)).not.toMatch(/data-lead="true"|5;url=/);
    world.clock.advance(601);
    const later = await page(`/pay/${id}`);
    expect(later).not.toMatch(/data-lead="true"|5;url=/);
    expect(backOf(later)?.pathname).toBe('/thanks');
  });

  test('shows hashes and addresses with an explorer, which the settings choose', async () => {
    verifies('explorer-links');
    const ids = await everyState({ test: world, merchant });
    const html = await page(`/pay/${ids.confirmed}`);
    expect(html).toMatch(/href="https:\/\/explorer\.solana\.com\/tx\/\w+\?cluster=devnet"/);
    expect(html).toMatch(/href="https:\/\/explorer\.solana\.com\/address\/\w+\?cluster=devnet"/);
    expect(await page(`/pay/${ids.waiting}`)).not.toContain('explorer.solana.com');
    const simulated = await made({});
    await confirm(simulated);
    expect(await page(`/pay/${simulated}`)).not.toContain('explorer.solana.com/tx');
    const own = { explorer_transaction: 'https://look.example/{id}', explorer_address: 'none' };
    const { blockchains } = world.app.config;
    const before = blockchains.solana;
    Object.assign(blockchains, { solana: { ...before, ...own } });
    world.clock.advance(1);
    const changed = await page(`/pay/${ids.confirmed}`);
    Object.assign(blockchains, { solana: before });
    expect(changed).toMatch(/href="https:\/\/look\.example\/\w+"/);
    expect(changed).not.toContain('explorer.solana.com');
  });

  test('names whom to ask', async () => {
    const html = await page(`/pay/${await made({})}`);
    expect(html).toContain('href="mailto:help@shop.example"');
    expect(html).toContain('href="https://shop.example/help"');
  });
});

describe('pictures', () => {
  test('are stored once, served as what they are, and named by the owner alone', async () => {
    verifies('pictures-stored');
    const { json } = await sell({ title: 'A <b>cup</b>', description: 'Of coffee', image_url: LOGO });
    const again = (await sell({ image_url: json.image_url })).json;
    expect(again.image_url).toBe(json.image_url);
    expect((await sell({ image_url: LOGO })).json.image_url).toBe(json.image_url);
    const path = json.image_url.slice(world.app.config.public_url.length);
    const { headers, status } = await world.fetch('GET', path);
    expect([status, headers.get('content-type'), headers.get('x-content-type-options')]).toEqual([
      200,
      'image/png',
      'nosniff',
    ]);
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
    const html = await page(`/pay/${json.id}`);
    expect(html).toContain(`<img class="pic" src="${path}" alt`);
    expect(html).toContain('A &lt;b>cup&lt;/b>');
    const other = await world.merchant();
    expect((await sell({ image_url: json.image_url }, other)).json.code).toBe('picture_not_allowed');
    for (const missing of [
      '/pictures/x.png',
      '/pictures/..%2f..%2fsecret',
      `/pictures/${'0'.repeat(32)}.png`,
    ])
      expect((await world.fetch('GET', missing)).status, missing).toBe(404);
  });

  test('from anywhere else are refused, and nothing is fetched', async () => {
    for (const image_url of ['https://shop.example/a.png', 'http://169.254.169.254/', 'file:///etc/passwd'])
      expect((await sell({ image_url })).json.code, image_url).toBe('picture_not_allowed');
  });

  test('a page shows one at most: of what is sold, else the logo', async () => {
    const account = await update({ logo_url: LOGO });
    expect(account.logo_url).toMatch(/\/pictures\/[0-9a-f]{32}\.png$/);
    world.clock.advance(1);
    expect((await page(`/pay/${await made({})}`)).match(/<img/g)).toHaveLength(1);
    expect((await page(`/pay/${await made({ image_url: LOGO })}`)).match(/<img/g)).toHaveLength(1);
    await update({ logo_url: null });
  });

  test('of a refill are the operator’s, who has none', async () => {
    const body = { chain: 'solana-usdc', amount: 10 };
    const reply = await world.fetch('POST', '/api/v1/merchant/refill', { token: merchant.token, body });
    if (reply.status !== 200) return expect(reply.json.code).toBe('no_wallet');
    expect(await page(`/pay/${reply.json.id}`)).not.toContain(NAME);
  });
});

describe('a receipt', () => {
  test('has what concerns the buyer, for a paid invoice alone', async () => {
    verifies('receipt-page');
    const id = await made({ ...RETURNS, title: 'Coffee, 1 kg', external_ref: 'order-7' });
    expect((await world.fetch('GET', `/pay/${id}/receipt`, { headers: BROWSER })).status).toBe(404);
    await confirm(id);
    const html = await page(`/pay/${id}/receipt?lang=en`);
    for (const part of [
      'Receipt',
      NAME,
      'Rösterei GmbH, Berlin, DE123456789',
      'Coffee, 1 kg',
      'order-7',
      id,
      '$',
      '1 USDC =',
    ])
      expect(html, part).toContain(part);
    // The platform fee is between merchant and operator.
    const income = await ask(world, 'GET', '/api/v1/merchant/income', { token: merchant.token });
    expect(html).not.toContain(income.data[0].fee_charged);
    expect(html).not.toContain('buyer@example');
    expect(await page(`/pay/${id}/receipt?lang=ar`)).toContain('dir="rtl"');
    expect((await world.fetch('GET', '/pay/00000000-0000-4000-8000-000000000000/receipt')).status).toBe(404);
  });
});

test('names and lines take no characters that would turn their surroundings around', async () => {
  for (const display_name of ['a\u202eb', 'a\nb', 'a\u2066b', 'x'.repeat(65)]) {
    const body = { display_name };
    const { status } = await world.fetch('PATCH', '/api/v1/merchant/account', {
      token: merchant.token,
      body,
    });
    expect(status).toBe(422);
  }
  expect((await update({ display_name: 'مقهى' })).display_name).toBe('مقهى');
  await update({ display_name: NAME });
});

/** Letters that are not drawn are left out; what is too long ends. */
const cardOf = (url: string) => ({
  url,
  usd: '$123,456,789,000.00',
  title: 'Ethiopian coffee '.repeat(20),
  shop: 'قهوة',
  host: 'a'.repeat(200),
});

describe('what others show of a page', () => {
  test('a unit has Open Graph, and search engines may list it where its merchant does', async () => {
    verifies('unit-listed');
    const { token } = merchant;
    const unit = await createUnit(
      { test: world, merchant },
      { title: 'Coffee "A" <b>', description: 'Line one\nline two' },
    );
    const path = `/u/${unit.merchant_slug}/${unit.slug}`;
    const change = (body: object) =>
      ask(world, 'PATCH', `/api/v1/merchant/units/${unit.id}`, { token, body });
    const quiet = await page(path);
    expect(quiet).toContain('<meta name="robots" content="noindex"');
    expect(quiet).toContain('<meta property="og:title" content="Coffee &quot;A&quot; &lt;b>"');
    expect(quiet).toContain(`<meta property="og:url" content="${world.app.config.public_url}${path}"`);
    expect(quiet).toMatch(
      /<meta name="description" content="\$24\.00 · Line one line two · Kaffee Rösterei"/,
    );
    verifies('unit-card');
    const { public_url } = world.app.config;
    expect(quiet).toContain(`<meta property="og:image" content="${public_url}${path}/card.png"`);
    const card = await world.app.checkout.card(cardOf(public_url + path));
    expect([card.readUInt32BE(16), card.readUInt32BE(20)]).toEqual([1200, 630]);
    expect(readQr(card)).toBe(public_url + path);
    const served = await world.fetch('GET', `${path}/card.png`);
    expect([served.status, served.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect((await world.fetch('GET', `${path}-none/card.png`)).json.code).toBe('unit_not_found');
    await change({ image_url: LOGO });
    expect(await page(path)).toMatch(
      /<meta property="og:image" content="[^"]*\/pictures\/[0-9a-f]{32}\.png"/,
    );
    await change({ image_url: null });
    expect(await change({ listed: true })).toMatchObject({ listed: true });
    expect(await page(path)).not.toContain('noindex');
    await change({ active: false });
    expect(await page(path)).toContain('noindex');
    expect(await page(`/pay/${await made({})}`)).toContain('noindex');
  });

  test('the first page says what this is and whether it works, to browsers and to programs', async () => {
    verifies('landing-page');
    const html = await page('/');
    expect(html).toContain('<h1 class="who">');
    expect(html).toContain('href="/docs"');
    expect(html).not.toContain('noindex');
    const { json, headers } = await world.fetch('GET', '/');
    expect(headers.get('content-type')).toBe('application/json');
    const base = world.app.config.public_url;
    expect(json).toMatchObject({ name: 'gatewayd', well: expect.any(Boolean), docs_url: `${base}/docs` });
    for (const [name, url] of Object.entries(json))
      if (name.endsWith('_url'))
        expect((await world.fetch('GET', String(url).slice(base.length))).status, name).toBe(200);
  });
});

/** Written from right to left, with figures at the end, which a line of ours would otherwise take to itself. */
const WORDS = {
  display_name: 'קפה 1',
  legal_line: 'קפה 2',
  title: 'קפה 3',
  description: 'קפה 4',
  external_ref: 'קפה 5',
};

/** The words of others that stand among ours with nothing around that parts them. */
function mixedIn(html: string): string[] {
  const mixed: string[] = [];
  const open: { name: string; parts: boolean }[] = [];
  const isApart = (text: string, at: number): boolean =>
    text.lastIndexOf('\u2068', at) > text.lastIndexOf('\u2069', at);
  const look = (text: string): void => {
    for (const { index } of text.matchAll(/קפה/g)) if (!isApart(text, index)) mixed.push(text);
  };
  const bare = html.replace(/<(style|script)>.*?<\/\1>/gs, '');
  for (const [tag, end, name = '', attributes = '', text = ''] of bare.matchAll(
    /<(\/?)([a-z][\w-]*)([^>]*)>|[^<]+/g,
  )) {
    if (name === '') {
      const has_parting = open.some(({ parts }) => parts);
      // The title of a unit's page is the title of the unit, and nothing else.
      if (!has_parting && !(open.at(-1)?.name === 'title' && tag.startsWith('קפה'))) look(tag);
    } else if (end) open.splice(open.findLastIndex((one) => one.name === name));
    else {
      for (const [, value = ''] of attributes.matchAll(/="([^"]*)"/g))
        if (!value.startsWith('קפה')) look(value);
      const parts = name === 'bdi' || (name !== 'html' && /dir="auto"/.test(attributes));
      if (!/^(?:meta|link|input|img|path|br)$/.test(name)) open.push({ name, parts });
    }
    look(text);
  }
  return mixed;
}

test('words of merchants and buyers turn nothing around, wherever they stand', async () => {
  verifies('words-apart');
  const { display_name, legal_line, title, description, external_ref } = WORDS;
  await update({ display_name, legal_line, site_url: 'https://shop.example/' });
  const about = { title, description };
  const unit = await createUnit({ test: world, merchant }, about);
  const customer_email = 'buyer@example.com';
  const [open, paid, ended] = [
    await made({ ...about, external_ref }),
    await made({ ...about, external_ref, customer_email }),
    await made({ ...about, external_ref }),
  ];
  await confirm(paid);
  await cancel(ended);
  const paths = [
    ...[open, paid, ended].flatMap((id) => [`/pay/${id}?`, `/v1/pay/${id}/div?`]),
    `/pay/${paid}/receipt?`,
    `/u/${unit.merchant_slug}/${unit.slug}?`,
    `/v1/units/${unit.id}/div?`,
  ];
  const shown = new Set<string>();
  for (const lang of ['en', 'ar'])
    for (const path of paths) {
      const html = await page(`${path}lang=${lang}`);
      expect(mixedIn(html), `${path} in ${lang}`).toEqual([]);
      for (const words of Object.values(WORDS)) if (html.includes(words)) shown.add(words);
    }
  expect([...shown].sort()).toEqual(Object.values(WORDS));
  const sent: Email[] = [];
  const mail = { ...world.app.mail, send: async (email: Email) => void sent.push(email) };
  await openReceipts({ ...world.app, mail }).tick();
  const [email] = sent;
  expect(email?.text).toContain(legal_line);
  expect(email && [...mixedIn(email.html), ...mixedIn(email.text)]).toEqual([]);
});

describe('a receipt by mail', () => {
  test('goes to the buyer once, when it is paid, and its address is forgotten', async () => {
    verifies('receipt-mail');
    const customer_email = 'buyer@example.com';
    const id = await made({ customer_email, title: 'Coffee', description: null });
    const unpaid = await made({ customer_email });
    const { app } = world;
    const receipts = openReceipts(app);
    const emailOf = async (invoice_id: string) =>
      (
        await app.db.query
          .selectFrom('invoices')
          .select('customer_email')
          .where('id', '=', invoice_id)
          .executeTakeFirst()
      )?.customer_email;
    const outbox = `${app.config.data_dir}/outbox`;
    const mails = () => (existsSync(outbox) ? readdirSync(outbox) : []);
    await receipts.tick();
    expect(mails()).toEqual([]);
    await confirm(id);
    await Promise.all([receipts.tick(), receipts.tick()]);
    await receipts.tick();
    expect(mails()).toHaveLength(1);
    const text = readFileSync(`${outbox}/${mails()[0]}`, 'utf8');
    for (const part of ['buyer@example.com', id, 'Coffee', `/pay/${id}/receipt`])
      expect(text).toContain(part);
    expect(await emailOf(id)).toBeNull();
    expect(await emailOf(unpaid)).toBe(customer_email);
    await cancel(unpaid);
    world.clock.advance(400 * 86_400);
    await receipts.tick();
    expect(await emailOf(unpaid)).toBeNull();
    expect(world.log.join('')).not.toContain(customer_email);
  });
});

test.each(['\n', '\r\n', '\t', '\u2028'])(
  'an address with %j in it is refused, and none is altered',
  async (end) => {
    verifies('url-line');
    const shop = await world.merchant();
    const broken = `https://shop.example/thanks${end}?order=7`;
    for (const name of ['success_url', 'cancel_url', 'callback_url']) {
      const { status, text } = await sell({ [name]: broken }, shop);
      expect([name, status, text]).toEqual([name, 422, expect.stringContaining('url_syntax_violation')]);
    }
    for (const name of ['site_url', 'support_url', 'webhook_url']) {
      const call = { token: shop.token, body: { [name]: broken } };
      const { status } = await world.fetch('PATCH', '/api/v1/merchant/account', call);
      expect([name, status]).toEqual([name, 422]);
    }
    // What is pasted with a line end behind it is what was meant.
    await update({ site_url: ` https://shop.example/${end}` }, shop);
  },
);
