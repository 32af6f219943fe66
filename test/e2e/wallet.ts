// A buyer with a wallet: a camera that reads codes off a screen, and an app that links open. It pays what these say, and knows
// nothing else of the invoice.
import { Address } from '@ton/core';
import type { Page } from 'playwright-core';
import { readQr } from '../helpers/png.ts';
import type { Paid, Payer } from './payer.ts';

/** What a wallet asks its owner to confirm. */
interface Request {
  to: string;
  amount: bigint;
  memo: string;
}

/** The request of a code or of a link, which differ in what stands before the address. */
function readRequest(link: string): Request {
  const [, address = '', query = ''] = /\/transfer\/([^?]+)\?(.*)$/.exec(link) ?? [];
  const parameters = new URLSearchParams(query);
  return {
    to: Address.parse(address).toRawString(),
    amount: BigInt(parameters.get('amount') ?? ''),
    memo: parameters.get('text') ?? '',
  };
}

/** Confirms it in the wallet. Throws where it is for someone else than the one shop of this chain. */
async function confirm(payer: Payer, link: string): Promise<Paid> {
  const { to, ...payment } = readRequest(link);
  if (to !== Address.parse(payer.shop_address).toRawString())
    throw new Error(`${link} pays someone else: ${to}`);
  const [paid] = await payer.pay(payment);
  if (!paid) throw new Error('nothing was paid');
  return paid;
}

/** Points the phone at what the screen shows now, without scrolling. */
export async function payByCamera(page: Page, payer: Payer): Promise<Paid> {
  const link = readQr(await page.screenshot());
  if (link === null) throw new Error('no code on the screen');
  return confirm(payer, link);
}

/** Taps the first button and confirms in the app that opens. */
export async function payByTap(page: Page, payer: Payer): Promise<Paid> {
  const opened = page.waitForRequest((request) => request.isNavigationRequest());
  // The app takes over where the browser would leave the page.
  await page.route(/\/transfer\//, (route) => route.fulfill({ status: 204 }));
  await page.locator('.opens .first').tap();
  return confirm(payer, (await opened).url());
}
