// The builder of all people: merchants and operators as the daemon makes them, and users as clients see them, signed up
// and in. It needs no vitest: benches and the simulator have their people from here too.
import { createAccount } from '../../daemon/accounts/create.ts';
import { issueAccessToken } from '../../daemon/http/tokens.ts';
import type { RunningApp } from '../../daemon/process/app.ts';
import { apiKeyPurpose } from '../../daemon/process/secrets.ts';
import { getMerchant, putWallet } from '../../data/merchants.ts';
import type { UserRow } from '../../data/schema/tables.ts';
import type { NewUser } from '../../data/users.ts';
import { accepted, ask, type Service } from './service.ts';

/** Receive addresses of the tests, valid on testnet. */
export const wallets: Record<string, string> = {
  ton: `0:${'11'.repeat(32)}`,
  solana: 'HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk',
  bitcoin: 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx',
  litecoin: 'tltc1qw508d6qejxtdg4y5r3zarvary0c5xw7klfsuq0',
};

/** Addresses on blockchains whose gateways a test switches on. */
export const moreWallets: Record<string, string> = {
  base: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  tron: 'TBXSw8fM4jpQkGc6zZjsVABFpVN7UvXPdV',
};

export interface TestMerchant {
  id: string;
  user: UserRow;
  token: string;
  key: string;
}

export interface TestOperator {
  id: string;
  token: string;
}

/** A user who may sign in by mail, with an account and no wallet; any part may be another. */
export async function account(
  app: Pick<RunningApp, 'db' | 'clock' | 'secrets'>,
  values: Partial<Omit<NewUser, 'now'>> = {},
): Promise<UserRow> {
  const { email = address() } = values;
  const user = await createAccount(app, {
    email,
    source: 'email',
    subject: email,
    password_hash: null,
    full_name: null,
    is_active: true,
    is_superuser: false,
    is_proved: true,
    ...values,
  });
  if (!user) throw new Error(`${email} is taken`);
  return user;
}

/** A merchant with a wallet on every blockchain, or on those that are named. */
export async function merchantOf(
  app: RunningApp,
  email: string,
  addresses: Record<string, string> = wallets,
): Promise<TestMerchant> {
  const user = await account(app, { email });
  for (const [blockchain, text] of Object.entries(addresses)) await setWallet(app, user.id, blockchain, text);
  return { id: user.id, user, token: await issueAccessToken(app, user), key: await keyOf(app, user.id) };
}

export async function superuserOf(app: RunningApp, email: string): Promise<TestOperator> {
  const user = await account(app, { email, is_superuser: true });
  return { id: user.id, token: await issueAccessToken(app, user) };
}

/** Nearly all merchants of the tests are paid at the same addresses, and to check one on Solana takes milliseconds. */
const normalized = new Map<string, { address: string; key: string }>();

/** Where a merchant is paid on a blockchain from now on. */
export async function setWallet(
  app: RunningApp,
  merchant_id: string,
  blockchain: string,
  text: string,
): Promise<void> {
  const { family } = app.config.chains.find(blockchain) ?? {};
  if (!family) throw new Error(`no blockchain ${blockchain}`);
  const { network } = app.config;
  const place = `${blockchain} ${network} ${text}`;
  const known = normalized.get(place) ?? family.normalizeAddress(text, network);
  normalized.set(place, known);
  const { address, key } = known;
  const updated_at = Math.floor(app.clock.ms() / 1000);
  await putWallet(app.db.query, { merchant_id, blockchain, address, address_key: key, updated_at });
}

export async function keyOf(app: Pick<RunningApp, 'db' | 'secrets'>, merchant_id: string): Promise<string> {
  const merchant = await getMerchant(app.db.query, merchant_id);
  return app.secrets.open(merchant?.api_key_sealed ?? '', apiKeyPurpose(merchant_id));
}

export const PASSWORD = 'correct horse battery';
/** An id that no one has. */
export const ABSENT_ID = '00000000-0000-4000-8000-000000000000';

let serial = 0;
/** An email address that no one has yet. */
export const address = (): string => `user${++serial}@example.com`;

export const signUp = (service: Service, body: object) =>
  service.fetch('POST', '/api/v1/users/signup', { body });

export const signInWith = (service: Service, fields: Record<string, string>) =>
  service.fetch('POST', '/api/v1/login/access-token', {
    body: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });

export const signIn = (service: Service, username: string, password: string) =>
  signInWith(service, { username, password });

export interface Person {
  id: string;
  email: string;
  token: string;
}

/** A new user with `PASSWORD`, and a token of its. */
export async function person(service: Service): Promise<Person> {
  const email = address();
  const { id } = accepted('sign-up', await signUp(service, { email, password: PASSWORD }));
  return { id, email, token: await tokenOf(service, email) };
}

/** The access token of a user with `PASSWORD`; throws where that is refused. */
export const tokenOf = async (service: Service, email: string): Promise<string> =>
  accepted(`sign-in of ${email}`, await signIn(service, email, PASSWORD)).access_token;

export interface ShopOptions {
  /** Receive addresses by blockchain. */
  wallets: Record<string, string>;
  webhook_url?: string;
}

/** A new user who sells, set up by calls alone, with its API key. */
export async function shopkeeper(
  service: Service,
  { wallets, webhook_url }: ShopOptions,
): Promise<Person & { key: string }> {
  const user = await person(service);
  const { token } = user;
  for (const [blockchain, address] of Object.entries(wallets))
    await ask(service, 'PUT', '/api/v1/merchant/wallets', { token, body: { blockchain, address } });
  const path = '/api/v1/merchant/account';
  const { api_key } = await (webhook_url
    ? ask(service, 'PATCH', path, { token, body: { webhook_url } })
    : ask(service, 'GET', path, { token }));
  return { ...user, key: api_key };
}

export const me = (service: Service, token: string) => service.fetch('GET', '/api/v1/users/me', { token });
