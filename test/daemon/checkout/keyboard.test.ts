// The pages without eyes and without a mouse: what Tab comes to, in the order of what is read aloud, on phones and on computers.
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Serving } from '../../../daemon/process/serve.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { describeInBrowser, holds, listen, useBrowser } from '../../helpers/browser.ts';
import { credit, readThrough } from '../../helpers/payments.ts';
import { setWallet, wallets } from '../../helpers/people.ts';
import { verifies } from '../../requirements.ts';
import { createInvoice, createUnit } from './states.ts';

const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1';
const devices: Record<string, BrowserContextOptions> = {
  'a phone': { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, userAgent: IPHONE },
  'a computer': { viewport: { width: 1280, height: 900 } },
};
/** More than any page has. */
const MOST_STOPS = 40;

interface Stop {
  name: string;
  /** Whether it is seen, and that it has the focus. */
  seen: boolean;
}

const FOCUSED = `(() => {
  const at = document.activeElement;
  if (at === document.body) return null;
  const { width, height } = at.getBoundingClientRect();
  const { outlineStyle } = getComputedStyle(at);
  const name = at.getAttribute('aria-label') || (at.labels && at.labels[0] ? at.labels[0] : at).textContent;
  return {
    name: name.replace(/\\s+/g, ' ').trim(),
    seen: width > 0 && height > 0 && outlineStyle !== 'none' && at.matches(':focus-visible'),
  };
})()`;

/** What Tab comes to from the start of the page to its end. */
async function stops(page: Page): Promise<string[]> {
  const names: string[] = [];
  for (let at = 0; at < MOST_STOPS; at++) {
    await page.keyboard.press('Tab');
    const stop = (await page.evaluate(FOCUSED)) as Stop | null;
    if (!stop) return names;
    expect(stop.seen, `${stop.name} shows that it has the focus`).toBe(true);
    names.push(stop.name);
  }
  throw new Error(`there is no way out: ${names.join(', ')}`);
}

const tabTo = async (page: Page, name: string): Promise<void> => {
  for (let at = 0; at < MOST_STOPS; at++) {
    await page.keyboard.press('Tab');
    if (((await page.evaluate(FOCUSED)) as Stop | null)?.name === name) return;
  }
  throw new Error(`Tab never comes to “${name}”`);
};

interface Node {
  nodeId: string;
  ignored: boolean;
  childIds?: string[];
  name?: { value: string };
}

/** What a screen reader reads, from the first word to the last. */
async function readAloud(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = (await session.send('Accessibility.getFullAXTree')) as unknown as { nodes: Node[] };
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const read: string[] = [];
  const visit = (node: Node | undefined): void => {
    const name = node?.ignored ? '' : (node?.name?.value ?? '').replace(/\s+/g, ' ').trim();
    if (name && name !== read.at(-1)) read.push(name);
    for (const id of node?.childIds ?? []) visit(byId.get(id));
  };
  visit(nodes[0]);
  return read;
}

/** That these are read, one after the other, with anything between them. */
function inOrder(read: readonly string[], wanted: readonly string[]): void {
  let from = 0;
  for (const name of wanted) {
    const at = read.indexOf(name, from);
    expect(at, `“${name}” is read after what comes before it: ${read.join(' | ')}`).toBeGreaterThanOrEqual(
      from,
    );
    from = at;
  }
}

describeInBrowser('without a mouse', () => {
  const browser = useBrowser();
  let world: TestApp;
  let merchant: TestMerchant;
  let serving: Serving;
  let bought = '';
  let ended = '';
  beforeAll(async () => {
    world = await startApp();
    merchant = await world.merchant();
    await credit(world, merchant.id, 1_000_000_000n);
    for (const [blockchain, address] of Object.entries(wallets))
      await setWallet(world.app, merchant.id, blockchain, address);
    ended = await createInvoice({ test: world, merchant });
    world.clock.advance(3_600);
    await readThrough(world, 'solana');
    const unit = await createUnit({ test: world, merchant });
    const { json } = await world.fetch('POST', `/v1/units/${unit.id}/checkout`, { body: { chain: 'ton' } });
    bought = json.id;
    serving = await listen(world);
  });
  afterAll(async () => {
    await serving.stop();
    await world.stop();
  });

  test.each(Object.entries(devices))(
    'everything is reached in the order in which it is read, on %s',
    async (_, device) => {
      verifies('pages-keyboard');
      const context = await browser.open(device);
      const page = await context.newPage();
      const opens = device.isMobile
        ? ['Pay with Keeperformerly Tonkeeper', 'Other wallets']
        : ['Open in wallet app'];
      const by_hand = device.isMobile ? [] : ['Copy: Amount', 'Copy: Memo (comment)', 'Copy: Address'];
      await page.goto(`${serving.url}/pay/${bought}`);
      await holds(page, 'document.querySelector(".gw.js") !== null');
      expect(await stops(page)).toEqual([
        ...opens,
        'Pay manually',
        ...by_hand,
        'Pay another way',
        'Cancel payment',
      ]);
      const read = await readAloud(page);
      inOrder(read, [
        '$24.00',
        'Pay manually',
        'Waiting for your payment',
        'Pay another way',
        'Cancel payment',
        'Network',
      ]);
      await tabTo(page, 'Cancel payment');
      await page.keyboard.press('Enter');
      await page.keyboard.press('Tab');
      expect(((await page.evaluate(FOCUSED)) as Stop).name).toBe('Yes, cancel this payment');
      await tabTo(page, 'Pay another way');
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/coins/);
      const choices = await stops(page);
      expect(choices.length).toBeGreaterThan(3);
      expect(choices.at(-1)).toBe('Keep paying with Gram (TON)');
      inOrder(await readAloud(page), ['$24.00', 'How do you want to pay?', 'Keep paying with Gram (TON)']);
      await context.close();
    },
  );

  test('who has paid asks for the payment by keys alone, and hears the answer', async () => {
    verifies('pages-keyboard');
    const context = await browser.open(devices['a phone']);
    const page = await context.newPage();
    await page.goto(`${serving.url}/pay/${ended}`);
    await tabTo(page, 'I have already paid');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.type('see my mail');
    inOrder(await readAloud(page), [
      'Payment expired',
      'I have already paid',
      'Transaction ID (optional)',
      'Check now',
    ]);
    await page.keyboard.press('Tab');
    expect(((await page.evaluate(FOCUSED)) as Stop).name).toBe('Check now');
    await page.keyboard.press('Enter');
    await page.locator('[data-answer]').getByText('That’s not a transaction ID').waitFor();
    expect(await page.locator('[data-answer]').getAttribute('role')).toBe('status');
    expect(((await page.evaluate(FOCUSED)) as Stop).name, 'the focus stays').toBe('Check now');
    await context.close();
  });
});
