// Checkout in foreign pages: embed.js under a strict policy, and the fragment in a page with hostile styles.
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { themeStyle } from '../../../daemon/checkout/theme.ts';
import type { Serving } from '../../../daemon/process/serve.ts';
import { apply } from '../../../daemon/settle/settle.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { violations } from '../../helpers/axe.ts';
import { describeInBrowser, holds, listen, useBrowser } from '../../helpers/browser.ts';
import { serve } from '../../helpers/local-server.ts';
import { fundedMerchant } from '../../helpers/payments.ts';
import { verifies } from '../../requirements.ts';
import { createInvoice, createUnit, type TestUnit } from './states.ts';

/** What the host page logs: statuses, and what its policy refused. */
interface HostLog {
  events: { target: string; invoice_id: string; status: string }[];
  refused: string[];
}

const RECORD = `
globalThis.log = { events: [], refused: [] };
document.addEventListener('gatewayd:status', ({ target, detail }) =>
  log.events.push({ target: target.parentElement.id, invoice_id: detail.invoice_id, status: detail.status }));
document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
  log.refused.push(violatedDirective + ' ' + blockedURI));`;

const HOSTILE = `
* { color: rgb(255, 0, 0) !important; font: 40px fantasy !important; letter-spacing: 9px !important; }
div, p, button, svg, path, dl, dd { border: 7px dotted lime; fill: red !important; stroke: red !important; background: yellow; }
#host #place div, #host #place button { display: none !important; margin: 99px !important; }
.card, .btn, .raw, .gw { transform: rotate(20deg); opacity: 0.1 !important; }
*::before { content: "leak"; }
#place { border: 0 !important; }`;

describeInBrowser('checkout in foreign pages', () => {
  const browser = useBrowser();
  let world: TestApp;
  let serving: Serving;
  let merchant: TestMerchant;
  let unit: TestUnit;
  beforeAll(async () => {
    world = await startApp();
    merchant = await fundedMerchant(world);
    serving = await listen(world);
    unit = await createUnit({ test: world, merchant });
  });
  afterAll(async () => {
    await serving.stop();
    await world.stop();
  });

  const settle = (id: string) => apply(world.app, id, { fact: { kind: 'simulate' }, actor: 'merchant' });

  /** A page of another origin with this body, under this policy. */
  async function host(context: BrowserContext, body: string, policy?: string): Promise<Page> {
    const code = await (await fetch(`${serving.url}/embed.js`)).text();
    const server = await serve(({ path }, response) => {
      if (path === '/bundle.js') {
        response.writeHead(200, { 'content-type': 'text/javascript' }).end(`/* shop */;${code}`);
        return;
      }
      response.writeHead(200, {
        'content-type': 'text/html; charset=utf-8',
        ...(policy === undefined ? {} : { 'content-security-policy': policy }),
      });
      response.end(`<!doctype html><html id="host"><title>Shop</title><h1>Shop</h1>${body}`);
    });
    const page = await context.newPage();
    await page.addInitScript(RECORD);
    await page.goto(server.url);
    return page;
  }
  const logOf = (page: Page) => page.evaluate('globalThis.log') as Promise<HostLog>;
  const strict = () =>
    `default-src 'none'; script-src ${serving.url}; connect-src ${serving.url}; base-uri 'none'; require-trusted-types-for 'script'; trusted-types gatewayd`;
  const tag = (attributes: string) => `<script async src="${serving.url}/embed.js" ${attributes}></script>`;

  /** A page with one embed of the unit, whose buyer is asked to pay in SOL. */
  async function chooseSolana(): Promise<{ context: BrowserContext; page: Page }> {
    const context = await browser.open();
    const embed = tag(`data-unit="${unit.id}" data-target="#one"`);
    const page = await host(context, `<div id="one"></div>${embed}`);
    await page.locator('#one button[value="solana"]').click();
    await page.locator('#one .gw[data-state=waiting]').waitFor();
    return { context, page };
  }

  test('two embeds under a strict policy: one is bought from, both are paid, and the page hears of it', async () => {
    verifies('embed-attributes', 'get-embed-js');
    const context = await browser.open();
    const given = await createInvoice({ test: world, merchant }, { chain: 'bitcoin' });
    const page = await host(
      context,
      `${tag(`data-unit="${unit.id}" data-size="mobile" data-target="#one"`)}
       ${tag(`data-invoice="${given}" data-size="desktop" data-target="#two"`)}
       <div id="one"></div><div id="two"></div>`,
      strict(),
    );
    await page.locator('#one button[value="ton-usdt"]').click();
    await page.locator('#one .gw[data-state=waiting]').waitFor();
    await page.locator('#two .gw[data-state=waiting]').waitFor();
    const bought = (await page.locator('#one .gw').getAttribute('data-invoice')) ?? '';
    expect(await page.locator('#one .copy').first().isVisible()).toBe(true);
    const card = `document.getElementById('one').firstElementChild.shadowRoot.querySelector('.card')`;
    expect(await page.evaluate(`getComputedStyle(${card}).display`)).toBe('grid');
    await holds(page, 'log.events.length >= 2');
    await settle(bought);
    await settle(given);
    await page.locator('#one .gw[data-state=confirmed]').waitFor();
    await page.locator('#two .gw[data-state=confirmed]').waitFor();
    const { events, refused } = await logOf(page);
    expect(refused).toEqual([]);
    for (const [target, invoice_id] of [
      ['one', bought],
      ['two', given],
    ])
      expect(events.filter((event) => event.target === target)).toEqual(
        ['created', 'confirmed'].map((status) => ({ target, invoice_id, status })),
      );
    expect(
      await page.evaluate('Object.keys(globalThis).filter((name) => /checkout|gateway/i.test(name))'),
    ).toEqual([]);
    await context.close();
  });

  test('a reload continues with the invoice that was made, and cancelling it leads back to the chooser', async () => {
    const { context, page } = await chooseSolana();
    const id = await page.locator('#one .gw').getAttribute('data-invoice');
    await page.reload();
    await page.locator(`#one .gw[data-invoice="${id}"]`).waitFor();
    await page.locator('#one .cancel:not(.claim) summary').click();
    await page.locator('#one [data-cancel] button').click();
    await page.locator('#one .gw[data-state=cancelled]').waitFor();
    await page.locator('#one [data-again]').click();
    await page.locator('#one button[value="solana"]').waitFor();
    await context.close();
  });

  test('a buyer who has paid still has the receipt after a reload and may buy again', async () => {
    const { context, page } = await chooseSolana();
    await settle((await page.locator('#one .gw').getAttribute('data-invoice')) ?? '');
    await page.locator('#one .gw[data-state=confirmed]').waitFor();
    await page.reload();
    await page.locator('#one .gw[data-state=confirmed]').waitFor();
    await page.locator('#one [data-again]').click();
    await page.locator('#one button[value="solana"]').waitFor();
    await context.close();
  });

  test('a tag without a target mounts where it stands, and one whose target comes later waits for it', async () => {
    const context = await browser.open();
    const page = await host(
      context,
      `<div id="one">${tag(`data-unit="${unit.id}" data-lang="ja"`)}</div>${tag(`data-unit="${unit.id}" data-target="#late"`)}`,
    );
    await page.locator('#one').getByText('お支払い方法を選んでください').waitFor();
    await page.evaluate('document.body.append(Object.assign(document.createElement("div"), { id: "late" }))');
    await page.locator('#late').getByText('How do you want to pay?').waitFor();
    await context.close();
  });

  describe('exactly one checkout', () => {
    /** Of a page once it is quiet: checkouts by the element that they stand in. */
    async function checkouts(page: Page): Promise<Record<string, number>> {
      await page.waitForLoadState('networkidle');
      await page.waitForTimeout(300);
      return (await page.evaluate(`(() => {
        const found = {};
        for (const each of document.querySelectorAll('*'))
          if (each.shadowRoot?.querySelector('.gw')) {
            const place = each.closest('[id]').id;
            found[place] = (found[place] ?? 0) + 1;
          }
        return found;
      })()`)) as Record<string, number>;
    }
    const pay = '<div id="pay"></div>';
    const attributes = () => `data-unit="${unit.id}" data-target="#pay"`;
    const script = (given: string, address = '/embed.js') =>
      `<script ${given} src="${serving.url}${address}" ${attributes()}></script>`;
    const adding = (body: string) => `<script>
      function addCheckout(given = {}) {
        const tag = document.createElement('script');
        Object.assign(tag, { src: '${serving.url}/embed.js', async: true }, given);
        Object.assign(tag.dataset, { unit: '${unit.id}', size: 'mobile', target: '#pay' });
        document.body.append(tag);
        return () => tag.remove();
      }
      ${body}</script>`;

    const cases = (): [name: string, body: string][] => [
      ['a module', pay + script('type="module"')],
      ['a module whose target comes later', script('type="module"') + pay],
      ['two tags of one module for one place', pay + script('type="module"') + script('type="module"')],
      ['a version behind the address', pay + script('async', '/embed.js?ver=6.4.2')],
      ['a module with a version', pay + script('type="module"', '/embed.js?ver=6.4.2&x=/y.js')],
      ['a fragment behind the address', pay + script('type="module"', '/embed.js#x')],
      ['a deferred tag in the head', `${script('defer')}${pay}`],
      [
        'a tag that an optimizer has moved to the end',
        `${pay}<p>1</p>${script('defer data-cfasync="false"')}`,
      ],
      [
        'a tag that an optimizer has left behind, with its copy',
        `${pay}<script type="text/rocketscript" data-src="${serving.url}/embed.js" ${attributes()}></script>${script('')}`,
      ],
      [
        'a tag that is taken apart and put in again',
        pay +
          adding(`const tag = document.createElement('div');
          tag.innerHTML = '<script src="${serving.url}/embed.js" data-unit="${unit.id}" data-target="#pay"></scr' + 'ipt>';
          document.body.append(tag);
          const copy = document.createElement('script');
          for (const { name, value } of tag.firstChild.attributes) copy.setAttribute(name, value);
          tag.firstChild.replaceWith(copy);`),
      ],
      [
        'an effect that runs, is undone and runs again',
        pay + adding('const undo = addCheckout(); undo(); addCheckout();'),
      ],
      [
        'the same of a module',
        pay +
          adding(`const undo = addCheckout({ type: 'module' }); undo(); addCheckout({ type: 'module' });`),
      ],
      [
        'a tag that its loader takes out once it has run',
        pay + adding('const undo = addCheckout({ onload: () => undo() });'),
      ],
      [
        'an effect that is undone and runs again when the first has been shown',
        pay +
          adding(
            'const undo = addCheckout({ onload: () => setTimeout(() => { undo(); addCheckout(); }, 200) });',
          ),
      ],
      [
        'the whole code within another script',
        `${pay}<script src="/bundle.js"></script>${script('type="module"')}`,
      ],
    ];
    test('is shown for each way to put a tag into a page', async () => {
      verifies('embed-once');
      const context = await browser.open();
      for (const [name, body] of cases()) {
        const page = await host(context, body);
        expect(await checkouts(page), name).toEqual({ pay: 1 });
        await page.close();
      }
    });

    test('and none for a tag that is gone before it ran, or that does not run yet', async () => {
      verifies('embed-once');
      const context = await browser.open();
      const waiting = `<script type="text/plain" src="${serving.url}/embed.js" ${attributes()}></script>`;
      for (const [name, body] of [
        ['gone', pay + adding('addCheckout()();')],
        [
          'gone while it waits for its place',
          adding(`const undo = addCheckout({ onload: () => {
          undo(); setTimeout(() => document.body.insertAdjacentHTML('beforeend', '${pay}'), 100); } });`),
        ],
        ['one that waits for consent', `${pay}${waiting}`],
      ] as const) {
        const page = await host(context, body);
        expect(await checkouts(page), name).toEqual({});
        await page.close();
      }
    });

    test('of two tags without a target, each has its own', async () => {
      const context = await browser.open();
      const two = `<script async src="${serving.url}/embed.js" data-unit="${unit.id}"></script>`;
      const page = await host(context, `<div id="a">${two}</div><div id="b">${two}${two}</div>`);
      expect(await checkouts(page)).toEqual({ a: 1, b: 2 });
    });
  });

  test('an embed is closed and opened by its page and its button, and reports it to its page alone', async () => {
    verifies('embed-states');
    const context = await browser.open();
    const id = await createInvoice({ test: world, merchant });
    const page = await host(
      context,
      `<script>globalThis.heard = []; addEventListener('message', ({ origin, data }) => heard.push([origin === location.origin, data.type, data.invoice_id]));</script>
       <div id="one"></div>${tag(`data-invoice="${id}" data-target="#one" data-closed data-closable`)}
       <iframe id="other" srcdoc="<script>parent.postMessage({ type: 'gatewayd:open' }, '*')</script>"></iframe>`,
    );
    const heard = () =>
      page.evaluate('heard.filter(([, type]) => type !== "gatewayd:status")') as Promise<unknown[]>;
    await holds(page, 'heard.some(([, type]) => type === "gatewayd:open")');
    expect(await page.locator('#one .gw').count(), 'a frame opens nothing').toBe(0);
    const send = (type: string, target: string) =>
      page.evaluate(
        `postMessage({ type: ${JSON.stringify(type)}, for: ${JSON.stringify(target)} }, location.origin)`,
      );
    await send('gatewayd:open', 'another');
    await send('gatewayd:open', id);
    await page.locator('#one .gw[data-state=waiting]').waitFor();
    await page.locator('#one .close').click();
    expect(await page.locator('#one .gw').isVisible()).toBe(false);
    await send('gatewayd:open', id);
    await page.locator('#one .gw').waitFor();
    await send('gatewayd:close', id);
    await holds(page, 'heard.filter(([, type]) => type === "gatewayd:closed").length === 2');
    expect((await heard()).slice(1).filter((one) => (one as [boolean])[0] && (one as unknown[])[2])).toEqual(
      ['opened', 'ready', 'closed', 'opened', 'closed'].map((type) => [true, `gatewayd:${type}`, id]),
    );
    await settle(id);
    await holds(page, 'heard.some(([own, type]) => own && type === "gatewayd:status")');
    await context.close();
  });

  test('a frame reports what happens to the page that shows it', async () => {
    verifies('frame-messages');
    const context = await browser.open();
    const id = await createInvoice({ test: world, merchant });
    const page = await host(
      context,
      `<script>globalThis.heard = []; addEventListener('message', ({ origin, data }) => heard.push([origin, data.type]));</script>
       <iframe width="400" height="600" src="${serving.url}/v1/pay/${id}/page?size=mobile"></iframe>`,
    );
    await holds(page, `heard.some(([, type]) => type === 'gatewayd:status')`);
    const types = (await page.evaluate('heard.map(([, type]) => type)')) as string[];
    for (const type of ['ready', 'size', 'status']) expect(types).toContain(`gatewayd:${type}`);
    expect(await page.evaluate('[...new Set(heard.map(([origin]) => origin))]')).toEqual([serving.url]);
    await context.close();
  });

  test('a unit in a frame is bought from in the frame, and its invoice looks the same', async () => {
    verifies('frame-flow');
    const context = await browser.open();
    const page = await host(
      context,
      `<iframe width="400" height="700" src="${serving.url}/v1/units/${unit.id}/page?size=mobile&theme=dark&accent=ffe100"></iframe>`,
    );
    const frame = page.frameLocator('iframe');
    await frame.locator('button[value="ton"]').click();
    await frame.locator('.gw[data-state=waiting]').waitFor();
    await frame.locator('.cancel:not(.claim) summary').click();
    await frame.locator('.gw').waitFor();
    const inside = page.frames().find((each) => each.url().includes('/v1/pay/'));
    const colour = 'getComputedStyle(document.querySelector(".mark")).backgroundColor';
    expect(await inside?.evaluate(colour)).toBe('rgb(255, 225, 0)');
    await context.close();
  });

  test('a theme is what was asked for, on both surfaces, and its button can be read', async () => {
    verifies('embed-theme');
    const context = await browser.open({ colorScheme: 'light' });
    const id = await createInvoice({ test: world, merchant }, { chain: 'bitcoin' });
    const page = await host(
      context,
      `<div id="one"></div>${tag(`data-invoice="${id}" data-target="#one" data-theme="dark" data-accent="#ffe100" data-radius="0"`)}`,
    );
    await page.locator('#one .gw').waitFor();
    const colours = `(root) => ['.card', '.mark'].map((each) => { const style = getComputedStyle(root.querySelector(each)); return [style.backgroundColor, style.color, style.borderRadius]; })`;
    const expected = [
      ['rgb(21, 28, 43)', 'rgb(234, 238, 251)', '0px'],
      ['rgb(255, 225, 0)', 'rgb(0, 0, 0)', '0px'],
    ];
    expect(await page.evaluate(`(${colours})(document.querySelector('#one > div').shadowRoot)`)).toEqual(
      expected,
    );
    await page.goto(`${serving.url}/v1/pay/${id}/page?theme=dark&accent=ffe100&radius=0`);
    expect(await page.evaluate(`(${colours})(document)`)).toEqual(expected);
    await apply(world.app, id, { fact: { kind: 'cancel' }, actor: 'buyer' });
    for (const scheme of ['light', 'auto', 'dark']) {
      await page.goto(`${serving.url}/v1/pay/${id}/page?theme=${scheme}&accent=ffe100`);
      expect(await page.locator('.look').count()).toBeGreaterThan(0);
      expect(await violations(page), scheme).toEqual([]);
    }
    await context.close();
    for (const bad of [
      'accent=red',
      'accent=%23ff0000',
      'accent=fff%7D*%7Bx:y',
      'accent=ff0000%3B%7D',
      'radius=25',
      'radius=1px',
      'theme=blue',
    ])
      for (const path of [
        `/v1/pay/${id}/page`,
        `/v1/pay/${id}/div`,
        `/v1/units/${unit.id}/page`,
        `/v1/units/${unit.id}/div`,
      ])
        expect((await world.fetch('GET', `${path}?${bad}`)).status, bad).toBe(422);
    for (const accent of ['ffffff', '000000', '777777', '12ab34', 'ffe100'])
      for (const scheme of ['auto', 'dark', 'light'] as const)
        expect(themeStyle({ scheme, accent, radius: 4 }, 'page')).toMatch(
          /--gw-on:#(000000|ffffff);--gw-edge:#/,
        );
    expect(() => themeStyle({ scheme: 'auto', accent: '0}x{y:z', radius: undefined }, 'page')).toThrow();
  });

  test('a checkout that was taken out of the page follows nothing any more', async () => {
    const context = await browser.open();
    const id = await createInvoice({ test: world, merchant });
    const page = await host(context, `<div id="one"></div>${tag(`data-invoice="${id}" data-target="#one"`)}`);
    await holds(page, 'log.events.length === 1');
    const closed = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/events'));
    await page.evaluate('document.getElementById("one").remove()');
    await closed;
    await context.close();
  });

  test('styles neither leak into a fragment nor out of it', async () => {
    const context = await browser.open({ viewport: { width: 900, height: 1000 } });
    const id = await createInvoice({ test: world, merchant }, { chain: 'ton-usdt' });
    const styles: unknown[] = [];
    const outside: unknown[] = [];
    for (const style of ['', HOSTILE]) {
      const page = await host(context, `<style>${style}</style><p id="own">own</p><div id="place"></div>`);
      const before = await stylesOf(page, '#own, h1');
      await page.evaluate(async (url) => {
        const { fetch, document } = globalThis as unknown as {
          fetch: (url: string) => Promise<{ text(): Promise<string> }>;
          document: { getElementById(id: string): { innerHTML: string } };
        };
        document.getElementById('place').innerHTML = await (await fetch(url)).text();
      }, `${serving.url}/v1/pay/${id}/div?size=desktop`);
      outside.push([before, await stylesOf(page, '#own, h1')]);
      styles.push(await stylesOf(page, '.gw, .gw *'));
      await page.close();
    }
    expect(styles[1]).toEqual(styles[0]);
    for (const [before, after] of outside as [unknown, unknown][]) expect(after).toEqual(before);
    await context.close();
  });

  test('a fragment that no script keeps alive counts nothing down: it says until when to pay', async () => {
    const context = await browser.open();
    const id = await createInvoice({ test: world, merchant });
    const { text } = await world.fetch('GET', `/v1/pay/${id}/div?lang=en`);
    const page = await host(context, text);
    expect(await page.getByText('Time left').isVisible()).toBe(false);
    expect(await page.getByText('Pay by').isVisible()).toBe(true);
    await context.close();
  });

  test('a fragment holds no script, no handler and no style attribute, and any origin may read it', async () => {
    verifies('get-pay-div', 'get-unit-div');
    const id = await createInvoice({ test: world, merchant });
    for (const path of [`/v1/pay/${id}/div?width=300`, `/v1/units/${unit.id}/div`]) {
      const reply = await world.fetch('GET', path);
      expect(reply.headers.get('access-control-allow-origin')).toBe('*');
      expect(reply.text).not.toMatch(/<script|\son[a-z]+=|\sstyle=|javascript:/i);
    }
  });
});

/** How elements look: the computed values that a page would notice first. */
const stylesOf = (page: Page, selector: string): Promise<unknown> =>
  page.evaluate(
    `[...document.querySelectorAll(${JSON.stringify(selector)})].map((element) => {
      const style = getComputedStyle(element);
      const names = ['display', 'color', 'backgroundColor', 'fontFamily', 'fontSize', 'fontWeight', 'letterSpacing', 'margin', 'padding',
        'borderTopWidth', 'borderTopStyle', 'borderTopColor', 'opacity', 'transform', 'fill', 'stroke', 'strokeWidth', 'width', 'height', 'textAlign', 'lineHeight'];
      return [element.tagName + '.' + element.getAttribute('class'), ...names.map((name) => name + ': ' + style[name]), getComputedStyle(element, '::before').content];
    })`,
  );
