// Sixty ways to bring a script in by title, description, reference and names: none runs, and all are shown as they are.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Serving } from '../../../daemon/process/serve.ts';
import { cleanText } from '../../../src/clean.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { describeInBrowser, listen, useBrowser } from '../../helpers/browser.ts';
import { createUnit, type TestUnit } from './states.ts';

const tags = [
  '<script>X</script>',
  '</script><script>X</script>',
  '</style><script>X</script>',
  '</title><script>X</script>',
  '</noscript><script>X</script>',
  '</textarea><script>X</script>',
  '<!--><script>X</script>-->',
  ']]><script>X</script>',
  '<img src=x onerror=X>',
  '<img src=x onerror="X">',
  "<img src='x' onerror='X'>",
  '<img/src=x/onerror=X//',
  '<svg onload=X>',
  '<svg/onload=X>',
  '<svg><script>X</script></svg>',
  '<svg><animate onbegin=X attributeName=x dur=1s>',
  '<svg><a xlink:href="javascript:X"><text>a</text></a></svg>',
  '<math><mtext><img src=x onerror=X></mtext></math>',
  '<math><a xlink:href="javascript:X">a</a></math>',
  '<body onload=X>',
  '<iframe src="javascript:X"></iframe>',
  '<iframe srcdoc="<script>parent.X</script>"></iframe>',
  '<object data="javascript:X"></object>',
  '<embed src="javascript:X">',
  '<video src=x onerror=X></video>',
  '<audio src=x onerror=X></audio>',
  '<video><source onerror=X></video>',
  '<details open ontoggle=X>a</details>',
  '<input autofocus onfocus=X>',
  '<select autofocus onfocus=X></select>',
  '<textarea autofocus onfocus=X></textarea>',
  '<button autofocus onfocus=X>a</button>',
  '<marquee onstart=X>a</marquee>',
  '<p style="animation-name:x" onanimationstart=X>a</p>',
  '<style>@keyframes x{}</style><b style="animation-name:x" onanimationstart=X>a</b>',
  '<style>@import "javascript:X";</style>',
  '<link rel=stylesheet href="javascript:X">',
  '<meta http-equiv=refresh content="0;url=javascript:X">',
  '<base href="javascript:X//">',
  '<form action="javascript:X"><button id=go>a</button></form>',
  '<template shadowrootmode=open><script>X</script></template>',
  '<slot onslotchange=X><b>a</b></slot>',
  '<a href="javascript:X" autofocus>a</a>',
  '<a href="data:text/html,<script>X</script>">a</a>',
];
const escapes = [
  '"><script>X</script>',
  "'><script>X</script>",
  '" autofocus onfocus="X" x="',
  "' autofocus onfocus='X' x='",
  '" onmouseover="X',
  '`-X-`',
  '$' + '{X}',
  '{{X}}',
  '{{constructor.constructor("X")()}}',
  '<%= X %>',
  '\\"-X//',
  '\\u003cscript\\u003eX\\u003c/script\\u003e',
  '&lt;script&gt;X&lt;/script&gt;',
  '&#60;script&#62;X&#60;/script&#62;',
  '%3Cscript%3EX%3C/script%3E',
  'javascript:X',
  '\u202e<script>X</script>',
  '<scr\u0131pt>X</script>',
];
const RAN = 'globalThis.ran=1';
const payloads = [...tags, ...escapes].map((text) => text.replaceAll('X', RAN));

const TITLE_LENGTH = 128;
/** Several in one text, as many as a title holds. */
const texts: string[] = [];
for (const payload of payloads) {
  const joined = `${texts.at(-1) ?? ''} ${payload}`;
  if (texts.length > 0 && joined.length <= TITLE_LENGTH) texts[texts.length - 1] = joined;
  else texts.push(payload);
}

describeInBrowser('hostile texts', () => {
  const browser = useBrowser();
  let world: TestApp;
  let serving: Serving;
  let merchant: TestMerchant;
  let unit: TestUnit;
  beforeAll(async () => {
    world = await startApp();
    merchant = await world.merchant();
    unit = await createUnit({ test: world, merchant });
    serving = await listen(world);
  });
  afterAll(async () => {
    await serving.stop();
    await world.stop();
  });

  test(`${payloads.length} payloads as title, description, reference and names: none runs anywhere`, async () => {
    expect(payloads.length).toBeGreaterThanOrEqual(60);
    const context = await browser.open();
    const page = await context.newPage();
    const strange: string[] = [];
    page.on('dialog', (dialog) => {
      strange.push(`dialog ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('pageerror', (error) => strange.push(`error ${error.message}`));
    page.on('console', (message) => strange.push(`console ${message.text()}`));
    page.on('request', (request) => {
      if (!request.url().startsWith(`${serving.url}/`) && !request.url().startsWith('data:image/svg+xml'))
        strange.push(`request ${request.url()}`);
    });
    for (const payload of texts) {
      const { invoice_id } = await put(payload);
      for (const path of [
        `/u/${unit.merchant_slug}/${unit.slug}`,
        `/pay/${invoice_id}?lang=${encodeURIComponent(payload.slice(0, 35))}`,
      ]) {
        await page.goto(serving.url + path, { waitUntil: 'domcontentloaded' });
        expect(await page.locator('h1').textContent()).toBe(payload.slice(0, TITLE_LENGTH));
        expect(await page.evaluate('globalThis.ran'), `${payload} at ${path}`).toBe(undefined);
      }
      // The reference has lost what no one sees.
      expect(await page.locator('.facts').textContent()).toContain(cleanText(payload));
      expect(await page.locator('.who bdi').textContent()).toBe(payload);
      for (const path of [`/v1/pay/${invoice_id}/div`, `/v1/units/${unit.id}/div`]) {
        const { text } = await world.fetch('GET', path);
        await page.evaluate((html) => {
          const { document } = globalThis as unknown as { document: { body: { innerHTML: string } } };
          document.body.innerHTML = html;
        }, text);
        expect(await page.evaluate('globalThis.ran'), `${payload} in a fragment`).toBe(undefined);
        expect(await page.locator('h2').first().textContent()).toBe(payload.slice(0, TITLE_LENGTH));
      }
    }
    expect(strange.filter((line) => !/Content Security Policy.*style|inline style/i.test(line))).toEqual([]);
    await context.close();
  }, 90_000);

  /** The payload in every text that a merchant or caller may choose, and an invoice made from it. */
  async function put(payload: string): Promise<{ invoice_id: string }> {
    await world.app.db.query
      .updateTable('users')
      .set({ full_name: payload })
      .where('id', '=', merchant.id)
      .execute();
    const changed = await world.fetch('PATCH', `/api/v1/merchant/units/${unit.id}`, {
      token: merchant.token,
      body: { title: payload.slice(0, TITLE_LENGTH), description: payload },
    });
    expect(changed.status, changed.text).toBe(200);
    const bought = await world.fetch('POST', `/v1/units/${unit.id}/checkout`, {
      body: { chain: 'solana', external_ref: payload },
    });
    expect(bought.status, bought.text).toBe(200);
    return { invoice_id: bought.json.id };
  }
});
