// An upgrade in place: a daemon that runs works as before without the files that it was started from.
import { cpSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { makeHome } from '../daemon/helpers/process.ts';
import { shopkeeper, signUp, wallets } from '../helpers/people.ts';
import { ask, serviceAt } from '../helpers/service.ts';
import { until } from '../helpers/until.ts';
import { openReceiver } from './receiver.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const LOADED = 'what is loaded when first needed has been loaded';

it('takes nothing from a daemon that runs, also not what is needed for the first time', async () => {
  const home = makeHome();
  onTestFinished(() => home.remove());
  const receiver = await openReceiver();
  onTestFinished(() => receiver.close());
  const installed = join(home.dir, 'installed');
  for (const part of ['bin', 'dist', 'package.json'])
    cpSync(join(ROOT, part), join(installed, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(installed, 'node_modules'));
  const { url, stderr } = await home.start({
    bin: join(installed, 'bin', 'gatewayd.js'),
    env: { GATEWAYD_LOG_LEVEL: 'debug' },
  });
  await until('the rest is loaded', async () => stderr().includes(LOADED) || undefined);
  rmSync(join(installed, 'dist'), { recursive: true });

  const service = serviceAt({ base_url: url });
  const { email, key } = await shopkeeper(service, { wallets, webhook_url: receiver.url });
  const invoice = await ask(service, 'POST', '/v1/invoices', {
    key,
    body: { chain: 'ton', amount: '1' },
  });
  expect(
    (await signUp(service, { email: 'second@shop.example', password: 'correct horse battery' })).status,
  ).toBe(200);
  const statusOf = async (path: string, init?: RequestInit) => (await fetch(url + path, init)).status;
  const asks: [string, RequestInit?][] = [
    [`/v1/pay/${invoice.id}/qr.svg`],
    [`/v1/pay/${invoice.id}/qr.png`],
    ['/v1/search?q=refund'],
    ['/v1/catalog'],
    ['/llms-full.txt'],
    [`/api/v1/password-recovery/${email}`, { method: 'POST' }],
    [
      '/mcp',
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
      },
    ],
  ];
  for (const [path, init] of asks) expect(await statusOf(path, init), path).toBe(200);
  await ask(service, 'POST', `/v1/invoices/${invoice.id}/simulate`, { key });
  await until(
    'the webhook has come',
    async () =>
      receiver.hooks.some(
        ({ type, invoice_id }) => type === 'invoice.confirmed' && invoice_id === invoice.id,
      ) || undefined,
  );
  const outbox = join(home.dir, 'gatewayd', 'outbox');
  await until('the mail is written', async () => {
    try {
      return (
        readdirSync(outbox).some((name) => readFileSync(join(outbox, name), 'utf8').includes(email)) ||
        undefined
      );
    } catch {
      return undefined;
    }
  });
  expect(stderr()).not.toMatch(/ERR_MODULE_NOT_FOUND|files of gatewayd are missing/);
});
