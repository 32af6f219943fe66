// "I have paid" on the page: where it stands, what it says in every language, with scripts and without.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { languageOf, languages } from '../../../daemon/checkout/language.ts';
import type { Serving } from '../../../daemon/process/serve.ts';
import type { InvoiceRow } from '../../../data/schema/tables.ts';
import { checkoutStates } from '../../../src/checkout.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { describeInBrowser, listen, useBrowser } from '../../helpers/browser.ts';
import { doubleFamily, namedRpc } from '../../helpers/family.ts';
import {
  create,
  fundedMerchant,
  invoiceRow,
  newTxid,
  observe,
  readThrough,
  transferTo,
} from '../../helpers/payments.ts';
import { sourceOf } from '../../helpers/reading.ts';
import { verifies } from '../../requirements.ts';
import { everyState } from './states.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const HTML = { accept: 'text/html' };
const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let world: TestApp;
let merchant: TestMerchant;
beforeAll(async () => {
  const source = sourceOf(namedRpc('double'));
  world = await startApp({ source: (id) => (id === 'ton' ? source : undefined) });
  merchant = await fundedMerchant(world);
});
afterAll(() => world.stop());

const order = () => create(world, merchant, 'ton');
const page = async (id: string, query = '') => (await world.fetch('GET', `/pay/${id}${query}`)).text;
const send = ({ id }: InvoiceRow, txid: string, query = '', headers = {}) =>
  world.fetch('POST', `/pay/${id}/claim${query}`, {
    headers: { ...FORM, ...headers },
    body: new URLSearchParams({ txid }).toString(),
  });
const answerIn = (text: string) => /<div[^>]*data-answer[^>]*>(.*?)<\/div>/s.exec(text)?.[1] ?? null;
/** An invoice of which 2.5 TON came without a memo. */
async function unnamed() {
  const invoice = await order();
  const paid = transferTo(world, invoice, { memo: null });
  await observe(world, 'ton', [paid]);
  return { invoice, paid };
}

describe('the form of a claim', () => {
  test('stands where a payer may miss something, and on a waiting page after two minutes', async () => {
    verifies('claim-page');
    const ids = await everyState({ test: world, merchant });
    const without = ['seen', 'processing', 'confirmed', 'overpaid', 'late'];
    for (const state of checkoutStates)
      expect((await page(ids[state])).includes('/claim?lang='), state).toBe(!without.includes(state));
    const { id } = await order();
    const claim = async () => /<details[^>]*claim[^>]*>/.exec(await page(id))?.[0] ?? '';
    expect(await claim()).toContain('hidden');
    world.clock.advance(120);
    expect(await claim()).not.toContain('hidden');
  });

  test('says in each language what was found, and of hostile text only that it is no id', async () => {
    verifies('claim-page');
    const { invoice, paid } = await unnamed();
    for (const code of Object.keys(languages) as (keyof typeof languages)[]) {
      world.clock.advance(61);
      const lang = languageOf(code);
      const { status, text } = await send(invoice, paid.txid, `?lang=${code}`);
      const answer = answerIn(text) ?? '';
      expect([status, answer.match(/<p>/g)?.length], code).toEqual([200, 3]);
      expect(answer, code).toContain(lang.say('claim_memo_missing'));
      for (const part of [lang.coin('2.5'), lang.date(paid.latest_at)]) expect(answer, code).toContain(part);
      expect(text, code).toMatch(/<details class="cancel claim" open/);
      // It would take away what is typed.
      expect(text, code).not.toContain('http-equiv="refresh"');
    }
    const { text } = await send(invoice, '"><script>alert(1)</script>');
    expect(answerIn(text)).toBe(
      '<p>That’s not a transaction ID. Copy it from the payment details in your wallet.</p>',
    );
    expect(text).not.toContain('alert(1)');
  });

  test('says when there were too many, and is not found for no invoice', async () => {
    verifies('claim-limits');
    const strict = await startApp({ settings: { trust_proxy: true, 'limits.claim_per_invoice': '1' } });
    const invoice = await create(strict, await fundedMerchant(strict), 'ton');
    const post = (headers = {}) =>
      strict.fetch('POST', `/pay/${invoice.id}/claim?lang=de`, {
        headers: { ...FORM, ...headers, 'x-forwarded-for': '198.51.100.1' },
        body: 'txid=',
      });
    const { say } = languageOf('de');
    expect(answerIn((await post()).text)).toContain(say('claim_not_readable'));
    expect((await post()).json.code).toBe('rate_limited');
    verifies('form-refused');
    const busy = await post(HTML);
    expect([busy.status, busy.headers.get('content-type')]).toEqual([429, 'text/html; charset=utf-8']);
    expect(Number(busy.headers.get('retry-after'))).toBeGreaterThan(0);
    for (const part of [say('try_later'), `href="/pay/${invoice.id}?lang=de"`])
      expect(busy.text).toContain(part);
    await strict.stop();
    const missing = { ...invoice, id: crypto.randomUUID() };
    expect((await send(missing, '')).json.code).toBe('invoice_not_found');
    expect((await send(missing, '', '?lang=de', HTML)).text).toContain(say('not_found_text'));
    const too_long = await send(invoice, 'x'.repeat(2_000), '?lang=de', HTML);
    expect([too_long.status, too_long.headers.get('content-type')]).toEqual([
      422,
      'text/html; charset=utf-8',
    ]);
  });
});

describeInBrowser('the form of a claim in a browser', () => {
  const browser = useBrowser();
  let serving: Serving;
  beforeAll(async () => {
    serving = await listen(world);
  });
  afterAll(() => serving.stop());

  for (const javaScriptEnabled of [true, false])
    test(`answers on the page, scripts ${javaScriptEnabled ? 'on' : 'off'}`, async () => {
      verifies('claim-page');
      const { invoice, paid } = await unnamed();
      world.clock.advance(3600);
      await readThrough(world, 'ton');
      expect((await invoiceRow(world, invoice.id)).status).toBe('expired');
      doubleFamily('ton');
      const context = await browser.open({ javaScriptEnabled });
      const view = await context.newPage();
      await view.goto(`${serving.url}/pay/${invoice.id}`);
      await view.getByText('I have already paid').click();
      const field = view.getByLabel('Transaction ID (optional)');
      const check = view.getByRole('button', { name: 'Check now' });
      const says = (text: string) => view.locator('[data-answer]').getByText(text).waitFor();
      await check.click();
      await says('Nothing has arrived for this payment yet');
      await field.fill(newTxid());
      await check.click();
      await says('We couldn’t find that transaction');
      await field.fill(paid.txid);
      await check.click();
      await says('The memo is missing.');
      await says('has been notified');
      expect(new URL(view.url()).pathname).toBe(`/pay/${invoice.id}${javaScriptEnabled ? '' : '/claim'}`);
      if (javaScriptEnabled) {
        expect(await field.inputValue()).toBe(paid.txid);
        await view.evaluate(axeSource);
        const found = await view.evaluate(
          'axe.run().then(({ violations }) => violations.map(({ id }) => id))',
        );
        expect(found).toEqual([]);
      }
      await context.close();
    });
});
