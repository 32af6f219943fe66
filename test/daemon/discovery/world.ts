// A merchant whose account has all that the calls of the catalog name in braces, in a daemon without providers of any kind.
import { hashPassword } from '../../../daemon/accounts/passwords.ts';
import { updateUser } from '../../../data/users.ts';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { openContradiction } from '../../helpers/contradictions.ts';
import { address, PASSWORD, wallets } from '../../helpers/people.ts';
import { unreachable } from '../../helpers/reading.ts';

export const startDaemon = (): Promise<TestApp> => startApp({ source: () => unreachable });

export type World = Record<string, string>;

/** Hashed once: every call of the catalog has a world of its own. */
const password_hash = hashPassword(PASSWORD);

/** A new merchant with wallets, unit, invoice, event and contradiction; `operator` signs in as a superuser. */
export async function openWorld(daemon: TestApp, operator: boolean): Promise<World> {
  const email = address();
  const { id: user_id, token, key } = await daemon.merchant(email);
  await updateUser(daemon.app.db.query, user_id, { password_hash: await password_hash });
  const ask = async (method: string, path: string, options: object) => {
    const reply = await daemon.fetch(method, path, options);
    if (reply.status >= 400) throw new Error(`${method} ${path}: ${reply.text}`);
    return reply.json;
  };
  const account = await ask('GET', '/api/v1/merchant/account', { token });
  const unit = await ask('POST', '/api/v1/merchant/units', {
    token,
    body: { title: 'Coffee', amount_usd: 4.5, currencies: ['TON'] },
  });
  const invoice = await ask('POST', '/v1/invoices', { key, body: { chain: 'ton', amount: 5 } });
  const events = await ask('GET', '/api/v1/merchant/events', { token });
  await ask('PATCH', '/api/v1/merchant/account', { token, body: { webhook_url: 'http://127.0.0.1:9/hook' } });
  const superuser = await daemon.superuser();
  await ask('PUT', '/api/v1/admin/refill-wallets', {
    token: superuser.token,
    body: { chain: 'ton', address: wallets.ton },
  });
  const letter = await daemon.fetch('POST', `/api/v1/password-recovery-html-content/${email}`, {
    token: superuser.token,
  });
  return {
    email,
    password: PASSWORD,
    access_token: operator ? superuser.token : token,
    api_key: key,
    ton_address: wallets.ton ?? '',
    invoice_id: invoice.id,
    unit_id: unit.id,
    merchant_slug: account.slug,
    unit_slug: unit.slug,
    event_id: events.data[0].id,
    contradiction_id: await openContradiction(daemon.app.db, { invoice_id: invoice.id }),
    txid: 'ab'.repeat(32),
    user_id,
    webhook_url: 'http://127.0.0.1:9/hook',
    recovery_token: /token=([\w.-]+)"/.exec(letter.text)?.[1] ?? '',
    google_id_token: 'a.b.c'.repeat(10),
    telegram_id: '42',
    telegram_auth_date: '1800000000',
    telegram_hash: 'a'.repeat(64),
  };
}

/** A text with its braces filled in; throws for a name that the world does not have. */
export const fill = (text: string, world: World): string =>
  text.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = world[name];
    if (value === undefined) throw new Error(`nothing to fill in for {${name}}`);
    return value;
  });
