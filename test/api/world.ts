// One deployment with everything turned on, and fresh people in it: who calls in the tests of examples, calls, matrix and fuzz.
import { createHmac, generateKeyPairSync, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, SignJWT } from 'jose';
import { hashPassword } from '../../daemon/accounts/passwords.ts';
import { telegramHash } from '../../daemon/accounts/telegram.ts';
import { issueEmailToken, issueRecoveryToken } from '../../daemon/http/tokens.ts';
import { routes } from '../../daemon/routes/routes.ts';
import { describeDaemon } from '../../data/daemons.ts';
import { getUser, updateUser } from '../../data/users.ts';
import type { Auth, Endpoint } from '../../src/api/describe/endpoint.ts';
import { findEndpoint } from '../../src/api/endpoints/api.ts';
import {
  type ServiceCall,
  startApp,
  type TestApp,
  type TestAppOptions,
  type TestMerchant,
} from '../helpers/app.ts';
import { openContradiction } from '../helpers/contradictions.ts';
import { credit } from '../helpers/payments.ts';
import { address, wallets } from '../helpers/people.ts';
import { unreachable } from '../helpers/reading.ts';
import { ask } from '../helpers/service.ts';

/** Of the cast alone: the documents show other passwords as examples, and no answer may show this one. */
const PASSWORD = 'the pass of the whole cast';
export const PLATFORM_KEY = 'gw_the-platform-key-of-the-tests';
const BOT_TOKEN = '110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw';
const CLIENT_ID = 'client.apps.googleusercontent.com';
const GOOGLE_KEY = 'the key of the tests';
/** What the owner has prepaid, in millionths of a USD. */
const CREDIT_MICROS = 1_000_000n;

/** Every operation that is described and mounted. */
export const described: readonly Endpoint[] = routes
  .map(({ endpoint }) => endpoint)
  .filter(({ id }) => findEndpoint(id) !== undefined);

/** Texts that no answer and no log line may hold, but where showing them is the contract. */
export const configuredSecrets = [PLATFORM_KEY, BOT_TOKEN, 'a secret for tests only'];

export interface Cast {
  owner: TestMerchant;
  other: TestMerchant;
  operator: { id: string; token: string };
  /** What the placeholders of the examples stand for, as `owner` knows them. */
  values: Record<string, string>;
}

export interface World {
  service: TestApp;
  /** New people: a merchant with a unit, an invoice, an event and a contradiction; another; an operator. */
  cast(): Promise<Cast>;
  stop(): Promise<void>;
}

/** On SQLite in memory by default. */
export async function openWorld(options: TestAppOptions = {}): Promise<World> {
  const { url, sign, close } = await openGoogle();
  const memory = options.database === 'postgres' ? {} : { database_url: 'sqlite::memory:' };
  const service = await startApp({
    ...memory,
    ...options,
    source: (blockchain) => options.source?.(blockchain) ?? unreachable,
    settings: {
      platform_key: PLATFORM_KEY,
      'google.client_id': CLIENT_ID,
      'google.jwks_url': `${url}/keys`,
      'telegram.bot_token': BOT_TOKEN,
      'wallets.ton': wallets.ton ?? '',
      'wallets.solana': wallets.solana ?? '',
      'wallets.bitcoin': wallets.bitcoin ?? '',
      ...options.settings,
    },
  });
  const password_hash = await hashPassword(PASSWORD);
  return {
    service,
    cast: () => newCast(service, { password_hash, webhook_url: `${url}/webhook`, sign }),
    async stop() {
      await service.stop();
      await close();
    },
  };
}

interface Stage {
  password_hash: string;
  webhook_url: string;
  sign: (sub: string, now: number) => Promise<string>;
}

let serial = 0;
async function newCast(service: TestApp, { password_hash, webhook_url, sign }: Stage): Promise<Cast> {
  const { app } = service;
  const email = address();
  const owner = await service.merchant(email);
  const other = await service.merchant(address());
  const operator = await service.superuser();
  for (const { id } of [owner, other, operator]) await updateUser(app.db.query, id, { password_hash });
  const { token, key } = owner;
  const account = await ask(service, 'PATCH', '/api/v1/merchant/account', { token, body: { webhook_url } });
  await credit(service, owner.id, CREDIT_MICROS);
  // A price of its own for each: where the amount names the invoice, few can be open at one price.
  const offer = { title: 'Coffee', amount_usd: 4.5 + serial / 4, currencies: ['TON', 'bitcoin'] };
  const unit = await ask(service, 'POST', '/api/v1/merchant/units', { token, body: offer });
  const switchable = await ask(service, 'POST', `/v1/units/${unit.id}/checkout`, {
    body: { chain: 'bitcoin' },
  });
  const order = { chain: 'ton', amount: '12.50', external_ref: 'order-1' };
  const invoice = await ask(service, 'POST', '/v1/invoices', { key, body: order });
  const paid = await ask(service, 'POST', '/v1/invoices', {
    key,
    body: { ...order, external_ref: 'order-2' },
  });
  await ask(service, 'POST', `/v1/invoices/${paid.id}/simulate`, { key });
  const events = await ask(service, 'GET', '/api/v1/merchant/events?limit=1', { token });
  const contradiction_id = await openContradiction(app.db, { invoice_id: invoice.id });
  const daemon_id = randomUUID();
  await describeDaemon(app.db.query, {
    id: daemon_id,
    host: 'elsewhere',
    pid: 1,
    version: '0.0.0',
    started_at: service.clock.now(),
    last_seen_at: service.clock.now(),
    reads: 'ton',
    delivering: 0,
    secrets: '',
  });
  const user = (await getUser(app.db.query, owner.id)) ?? owner.user;
  const pending_email = address();
  await updateUser(app.db.query, owner.id, { pending_email });
  const telegram = { id: ++serial, auth_date: service.clock.now(), first_name: 'Ada' };
  return {
    owner,
    other,
    operator,
    values: {
      email,
      password: PASSWORD,
      access_token: token,
      api_key: key,
      ton_address: wallets.ton ?? '',
      invoice_id: invoice.id,
      paid_invoice_id: paid.id,
      switchable_invoice_id: switchable.id,
      unit_id: unit.id,
      merchant_slug: account.slug,
      unit_slug: unit.slug,
      event_id: events.data[0].id,
      contradiction_id,
      daemon_id,
      txid: 'ab'.repeat(32),
      payer: `0:${'22'.repeat(32)}`,
      user_id: owner.id,
      webhook_url,
      email_token: await issueEmailToken(app, owner.user, pending_email),
      recovery_token: await issueRecoveryToken(app, user),
      google_id_token: await sign(`google-${++serial}`, service.clock.now()),
      telegram_id: String(telegram.id),
      telegram_auth_date: String(telegram.auth_date),
      telegram_hash: telegramHash(BOT_TOKEN, telegram),
    },
  };
}

let rsa: ReturnType<typeof generateKeyPairSync> | undefined;

/** Keys as Google publishes them, with an id token signed by one of them; and a receiver of webhooks. */
async function openGoogle() {
  rsa ??= generateKeyPairSync('rsa', { modulusLength: 2048 });
  const { publicKey, privateKey } = rsa;
  const jwk = { ...(await exportJWK(publicKey)), kid: GOOGLE_KEY, alg: 'RS256', use: 'sig' };
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(request.url === '/keys' ? JSON.stringify({ keys: [jwk] }) : '{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sign: (sub: string, now: number) =>
      new SignJWT({ email: `${sub}@gmail.com`, email_verified: true, name: 'Ada' })
        .setProtectedHeader({ alg: 'RS256', kid: GOOGLE_KEY })
        .setSubject(sub)
        .setIssuer('https://accounts.google.com')
        .setAudience(CLIENT_ID)
        .setIssuedAt(now)
        .setExpirationTime(now + 3600)
        .sign(privateKey),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** A bearer token that ended a second ago, signed with the deployment's own key. */
export function expiredToken({ app, clock }: TestApp, sub: string): Promise<string> {
  const ended = clock.now() - 1;
  return new SignJWT({ typ: 'access', ver: 1 })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(sub)
    .setIssuedAt(ended - 60)
    .setExpirationTime(ended)
    .sign(app.secrets.token_key);
}

/** A token that names no algorithm, and one signed by someone else. */
export function forgedTokens(sub: string): string[] {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = encode({ typ: 'access', ver: 1, sub, iat: 1, exp: 9_999_999_999 });
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${claims}`;
  const signature = createHmac('sha256', 'guess').update(signed).digest('base64url');
  return [`${encode({ alg: 'none', typ: 'JWT' })}.${claims}.`, `${signed}.${signature}`];
}

export interface PlainCall extends ServiceCall {
  method: string;
  path: string;
}

/** The example of an endpoint with the placeholders' values put in. */
export function exampleCall(endpoint: Endpoint, values: Record<string, string>): PlainCall {
  const { example = {}, method, encoding } = endpoint;
  const path = endpoint.path.replace(/\{([^}]+)\}/g, (_, name: string) =>
    encodeURIComponent(filled(example.params?.[name] ?? `{${name}}`, values)),
  );
  const query = Object.entries(example.query ?? {}).map(
    ([name, value]) => [name, filled(value, values)] as [string, string],
  );
  const search = query.length > 0 ? `?${new URLSearchParams(query)}` : '';
  const call: PlainCall = { method, path: `${path}${search}` };
  if (!endpoint.body) return call;
  const body = filledIn(example.body ?? {}, values) as Record<string, string>;
  // Signing up needs an address that no one has yet.
  if (endpoint.id === 'signup' || endpoint.id === 'createUser') body.email = address();
  if (encoding !== 'form') return { ...call, body };
  return {
    ...call,
    body: new URLSearchParams(body).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  };
}

/** A text with its placeholders filled in; throws for one that stands for nothing. */
export function filled(text: string, values: Record<string, string>): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`no value stands for {${name}}`);
    return value;
  });
}

const filledIn = (value: unknown, values: Record<string, string>): unknown => {
  if (typeof value === 'string') return filled(value, values);
  if (Array.isArray(value)) return value.map((item) => filledIn(item, values));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, filledIn(item, values)]));
};

/** The credentials of those the endpoint is for. */
export function rightful(auth: Auth, { owner, operator }: Cast): ServiceCall {
  if (auth === 'none') return {};
  if (auth === 'key') return { key: owner.key };
  return { token: auth === 'admin' ? operator.token : owner.token };
}
