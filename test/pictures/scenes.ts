// The pages that are pictured: every state of an invoice, the coins that are paid in different ways, and what is around them.
import { checkoutStates } from '../../src/checkout.ts';
import { createInvoice, createUnit, everyState } from '../daemon/checkout/states.ts';
import { startApp, type TestApp } from '../helpers/app.ts';
import { credit } from '../helpers/payments.ts';
import { moreWallets, setWallet } from '../helpers/people.ts';
import { ask } from '../helpers/service.ts';

export interface Scene {
  name: string;
  path: string;
  /** Whether all that can be unfolded is. */
  unfolded?: true;
  /** Drawn as it is when little time is left: the root has a class then. */
  soon?: true;
  /** Run in the page once it is there. */
  script?: string;
}

/** Words as merchants write them: in their own language, whatever the page's is. */
const SHOP = {
  display_name: 'Kaffee Rösterei',
  legal_line: 'Rösterei GmbH, Berlin. VAT: DE123456789.',
  support_email: 'help@shop.example',
  support_url: 'https://shop.example/help',
  site_url: 'https://shop.example/',
};
const ORDER = { title: 'Coffee beans, 1 kg (2×)', description: 'Ships within two days.' };
const ARABIC = { title: 'قهوة، ١ كغ (x2)', description: 'يُشحن خلال يومين.' };
export const foreign: readonly string[] = [
  ...[SHOP.display_name, SHOP.legal_line, ...Object.values(ORDER), ...Object.values(ARABIC)],
  'order-1042',
];

/** Fills in the form of who has paid, and sends it. */
const claims = (text: string): string => `new Promise((resolve) => {
  const form = document.querySelector('[data-claim]');
  form.parentNode.hidden = false;
  form.parentNode.open = true;
  form.querySelector('input').value = ${JSON.stringify(text)};
  new MutationObserver(resolve).observe(form.querySelector('[data-answer]'), { childList: true });
  form.requestSubmit();
})`;

/** Two wallets announce themselves, and the first is asked: it has no account on the network. */
const asksWallet = `new Promise((resolve) => {
  const features = { 'standard:connect': { connect: async () => ({ accounts: [] }) }, 'solana:signAndSendTransaction': {} };
  const wallet = (name) => ({ name, chains: ['solana:devnet'], features });
  const detail = (api) => api.register(wallet('Phantom'), wallet('Solflare'));
  dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail }));
  document.querySelector('.found button').click();
  setTimeout(resolve, 50);
})`;

export async function makeScenes(): Promise<{ test: TestApp; scenes: Scene[] }> {
  const test = await startApp({ settings: { 'gateways.tron-usdt.enabled': 'true' } });
  const merchant = await test.merchant();
  for (const [blockchain, address] of Object.entries(moreWallets))
    await setWallet(test.app, merchant.id, blockchain, address);
  await ask(test, 'PATCH', '/api/v1/merchant/account', { token: merchant.token, body: SHOP });
  const world = { test, merchant, order: ORDER };
  await credit(test, merchant.id, 1_000_000_000n);
  const invoice = async (body: Record<string, unknown>) => `/pay/${await createInvoice(world, body)}`;
  const paths: Record<string, string> = {};
  for (const [state, id] of Object.entries(await everyState(world))) paths[state] = `/pay/${id}`;
  const unit = await createUnit(world, ORDER);
  const chooser = `/u/${unit.merchant_slug}/${unit.slug}`;
  const ton = await invoice({ chain: 'ton' });
  const bought = async (chain: string) =>
    `/pay/${(await ask(test, 'POST', `/v1/units/${unit.id}/checkout`, { body: { chain } })).id}`;
  const switched = await bought('ton');
  const scenes: Scene[] = [
    ...checkoutStates.map((name) => ({ name, path: paths[name] as string })),
    { name: 'memo', path: ton },
    { name: 'soon', path: ton, soon: true },
    { name: 'memo, unfolded', path: ton, unfolded: true },
    { name: 'bitcoin', path: await invoice({ chain: 'bitcoin', amount: '1250' }) },
    { name: 'address only', path: await invoice({ chain: 'tron-usdt' }) },
    { name: 'Arabic words', path: await invoice(ARABIC) },
    { name: 'expired, unfolded', path: paths.expired as string, unfolded: true },
    { name: 'tiny', path: `${ton.replace('/pay/', '/v1/pay/')}/page?width=240` },
    { name: 'unit', path: chooser },
    { name: 'another way', path: switched },
    { name: 'coins', path: `${switched}/coins` },
    { name: 'wallets', path: await bought('solana-usdc'), script: asksWallet },
    { name: 'not a transaction', path: paths.expired as string, script: claims('see my mail') },
    { name: 'claimed part', path: paths.incomplete as string, script: claims('') },
    { name: 'receipt', path: `${paths.confirmed}/receipt` },
    { name: 'landing', path: '/' },
    { name: 'missing', path: '/pay/00000000-0000-4000-8000-000000000000' },
  ];
  return { test, scenes };
}
