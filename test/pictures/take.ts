// Takes the pictures of the README from the built product: `npm run pictures` writes them to .github/pictures.
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium } from 'playwright-core';
import { type Gw, makeGw } from '../cli/helpers/gw.ts';
import { makeHome } from '../daemon/helpers/process.ts';
import { CHROMIUM } from '../helpers/software.ts';
import { createToncenter, queryOf } from '../helpers/toncenter.ts';
import { screenOf, windowOf } from './terminal.ts';

const folder = fileURLToPath(new URL('../../.github/pictures/', import.meta.url));
const OPERATOR = { email: 'operator@example.com', password: 'operator password' };
const PASSWORD = 'correct horse battery';
const PUBLIC_URL = 'https://pay.example.com';
/** Valid on test networks. */
const WALLETS = {
  ton: '0QAHZ4uABD9Bs4FHAWr1X49H-zZbkCcK9F4CURrSVhbRVDub',
  solana: 'HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk',
  bitcoin: 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx',
  litecoin: 'tltc1qw508d6qejxtdg4y5r3zarvary0c5xw7klfsuq0',
};
const RATES = { TON: '3.20', SOL: '165', BTC: '97000', LTC: '110' };
const PHONE = { width: 390, height: 844 };
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1';
const PIXELS_PER_POINT = 2;
/** What a screen draws last may be a moment behind what it draws first. */
const SETTLED_MS = 2_000;

/** What was sold, and what became of it. */
const sales = [
  ['ton', '12.50', 'order-1001', 'simulate'],
  ['bitcoin', '480.00', 'order-1002', 'simulate'],
  ['solana-usdc', '59.90', 'order-1003', 'simulate'],
  ['ton-usdt', '7.00', 'order-1004', 'cancel'],
  ['litecoin', '34.20', 'order-1005', 'simulate'],
  ['solana', '18.00', 'order-1006', 'simulate'],
  ['ton', '99.00', 'order-1007', ''],
  ['ton-usdt', '249.00', 'order-1008', 'simulate'],
  ['bitcoin', '1250.00', 'order-1009', ''],
  ['solana-usdt', '15.75', 'order-1010', ''],
] as const;

/** TON as its indexer shows it: blocks, and no transaction. Without, the page would say that the network cannot be seen. */
async function serveTon() {
  const started = Math.floor(Date.now() / 1000);
  const toncenter = createToncenter(() => {
    const now = Math.floor(Date.now() / 1000);
    return { seqno: now - started + 100, now };
  });
  const server = createServer(({ url }, response) => {
    const asked = new URL(url ?? '', 'http://localhost');
    const answer = toncenter.answer(asked.pathname, queryOf(asked));
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? {}));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

async function open(gw: Gw, email: string): Promise<void> {
  await done(gw(['signup', '--email', email, '--password', '-'], { stdin: PASSWORD }));
  for (const [blockchain, address] of Object.entries(WALLETS))
    await done(gw(['wallet', 'set', blockchain, address]));
}

async function sell(shops: readonly Gw[]): Promise<void> {
  for (const [at, [chain, amount, reference, then]] of sales.entries()) {
    const gw = shops[at % shops.length] as Gw;
    const { json } = await done(
      gw(['invoice', 'create', '--chain', chain, '--amount', amount, '--external-ref', reference, '--json']),
    );
    if (then) await done(gw(['invoice', then, json.id, '--yes', '--json']));
  }
}

/** What a command answered; throws where it failed. */
async function done<T extends { code: number; stderr: string; stdout: string }>(
  running: Promise<T>,
): Promise<T> {
  const ran = await running;
  if (ran.code !== 0) throw new Error(ran.stderr + ran.stdout);
  return ran;
}

/** A picture of what the terminal shows now, below the command that was typed. */
async function shoot(
  browser: Browser,
  name: string,
  output: string,
  { columns, rows }: { columns: number; rows: number },
): Promise<void> {
  const { svg, width, height } = windowOf(screenOf(output, columns, rows), `gw ${name.replace('-', ' ')}`);
  await picture(browser, name, svg, { width, height });
}

/** HTML as a PNG with a transparent ground. */
async function picture(
  browser: Browser,
  name: string,
  html: string,
  viewport: { width: number; height: number },
): Promise<void> {
  const page = await browser.newPage({ viewport, deviceScaleFactor: PIXELS_PER_POINT });
  await page.setContent(`<style>*{margin:0}svg,img{display:block}</style>${html}`);
  await page.screenshot({ path: `${folder}${name}.png`, omitBackground: true });
  await page.close();
}

async function checkoutOnPhone(browser: Browser, url: string, path: string): Promise<void> {
  const page = await browser.newPage({
    viewport: PHONE,
    deviceScaleFactor: PIXELS_PER_POINT,
    isMobile: true,
    hasTouch: true,
    userAgent: IPHONE,
    locale: 'en-US',
  });
  await page.goto(`${url}${path}`);
  const shot = await page.screenshot();
  await page.close();
  const edge = 12;
  const phone = `<div style="box-sizing:border-box;width:${PHONE.width + 2 * edge}px;border:${edge}px solid #14171c;border-radius:52px;overflow:hidden;background:#14171c">
    <img style="width:100%;border-radius:40px" src="data:image/png;base64,${shot.toString('base64')}"></div>`;
  await picture(browser, 'checkout', phone, {
    width: PHONE.width + 2 * edge,
    height: PHONE.height + 2 * edge,
  });
}

const home = makeHome();
const ton = await serveTon();
const browser = await chromium.launch({
  executablePath: CHROMIUM,
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars'],
});
const gws: Gw[] = [];
let taken = false;
try {
  mkdirSync(folder, { recursive: true });
  const daemon = await home.start({
    args: ['--port', '4020'],
    env: {
      GATEWAYD_ADMIN_EMAIL: OPERATOR.email,
      GATEWAYD_ADMIN_PASSWORD: OPERATOR.password,
      GATEWAYD_PUBLIC_URL: PUBLIC_URL,
      GATEWAYD_BLOCKCHAINS_TON_URL: ton.url,
      ...Object.fromEntries(Object.entries(RATES).map(([coin, usd]) => [`GATEWAYD_RATES_USD_${coin}`, usd])),
    },
  });
  const { url } = daemon;
  // Without it, what is seen is a connection that is refused.
  void daemon.ended.then(({ code, stderr }) => {
    if (!taken) console.error(`the daemon ended with ${code}: ${stderr}`);
  });
  const [coffee, paper, operator] = [makeGw(url), makeGw(url), makeGw(url)];
  gws.push(coffee, paper, operator);
  await open(coffee, 'good-coffee@example.com');
  await open(paper, 'paper-ink@example.com');
  await sell([coffee, paper]);
  await done(operator(['login', OPERATOR.email, '--password-stdin'], { stdin: OPERATOR.password }));

  const words = [
    'unit',
    'create',
    '--title',
    'Coffee beans, 1 kg',
    '--amount-usd',
    '12.50',
    '--currencies',
    'TON,USDT,BTC',
  ];
  const unit = (await done(coffee([...words, '--json']))).json;
  const bought = (await done(coffee(['unit', 'checkout', unit.id, '--chain', 'ton', '--json']))).json;
  await checkoutOnPhone(browser, url, new URL(bought.pay_url).pathname);

  const command = ['invoice', 'create', '--chain', 'ton', '--amount', '12.50'];
  const create = { columns: 92, rows: 30 };
  const created = coffee.pty(command, create);
  if ((await created.ended) !== 0) throw new Error(created.output());
  const prompt = `\u001b[32m$\u001b[0m gw ${command.join(' ')}\r\n\r\n`;
  await shoot(browser, 'invoice-create', prompt + created.output(), create);

  const list = { columns: 116, rows: 19 };
  const payments = operator.pty(['admin', 'payments'], list);
  await payments.see(/order-1001/);
  await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
  await shoot(browser, 'admin-payments', payments.output(), list);
  payments.write('q');
  await payments.ended;
  taken = true;
  console.info(`pictures: written to ${folder}`);
} finally {
  for (const gw of gws) gw.remove();
  await browser.close();
  ton.close();
  await home.remove();
}
