// The call of an endpoint as its example makes it: for programs, for a shell, as a command.
import type { z } from 'zod';
import { sampleName } from '../../chains/samples.ts';
import type { Endpoint } from '../describe/endpoint.ts';
import type { CatalogCall, Placeholder } from '../schemas/discovery.ts';
import { commandLine } from './commands.ts';

export type ExampleCall = z.infer<typeof CatalogCall>;

const FORM = 'application/x-www-form-urlencoded';

const credentials: Record<Endpoint['auth'], Record<string, string>> = {
  none: {},
  key: { 'X-API-Key': '{api_key}' },
  jwt: { Authorization: 'Bearer {access_token}' },
  admin: { Authorization: 'Bearer {access_token}' },
  any: { Authorization: 'Bearer {access_token}' },
};

/** Percent-encodes a value, leaving braces for the reader to fill in. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll('%7B', '{').replaceAll('%7D', '}');

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function curl({ method, url, headers = {}, body }: Omit<ExampleCall, 'curl' | 'gw'>): string {
  const parts = ['curl', '-g', ...(method === 'GET' ? [] : ['-X', method]), quoted(url)];
  const form = headers['Content-Type'] === FORM;
  // What curl sends of its own accord with --data-urlencode.
  for (const [name, value] of Object.entries(headers))
    if (!form || name !== 'Content-Type') parts.push('-H', quoted(`${name}: ${value}`));
  if (body && form)
    for (const [name, value] of Object.entries(body))
      parts.push('--data-urlencode', quoted(`${name}=${value}`));
  else if (body) parts.push('-d', quoted(JSON.stringify(body)));
  return parts.join(' ');
}

/** What stands in braces is the reader's to fill in; everything else works as it stands. */
export function exampleCall(endpoint: Endpoint, base_url: string): ExampleCall {
  const { method, example = {} } = endpoint;
  const path = endpoint.path.replace(/\{([^}]+)\}/g, (_, name: string) =>
    encoded(example.params?.[name] ?? `{${name}}`),
  );
  const query = Object.entries(example.query ?? {}).map(([name, value]) => `${name}=${encoded(value)}`);
  const headers = {
    ...credentials[endpoint.auth],
    ...(endpoint.body ? { 'Content-Type': endpoint.encoding === 'form' ? FORM : 'application/json' } : {}),
  };
  const call = {
    method,
    url: `${base_url}${path}${query.length > 0 ? `?${query.join('&')}` : ''}`,
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
    ...(endpoint.body ? { body: example.body ?? {} } : {}),
  };
  return { ...call, curl: curl(call), gw: commandLine(endpoint, example) };
}

/** An address that no one holds the key of: what is sent there is lost, so it is shown on testnet only. */
const UNOWNED = `0:${'dead'.repeat(16)}`;

/** Where the values in braces come from. */
export const placeholders = (network: string): z.infer<typeof Placeholder>[] => [
  { name: 'email', description: 'The email address you signed up with' },
  { name: 'password', description: 'The password you signed up with' },
  {
    name: 'access_token',
    description: 'The bearer token',
    from: { operation: 'loginAccessToken', member: 'access_token' },
  },
  {
    name: 'api_key',
    description: 'The merchant key',
    from: { operation: 'getMerchantAccount', member: 'api_key' },
  },
  {
    name: 'ton_address',
    description: `Your own receive address on ${sampleName}`,
    ...(network === 'testnet' ? { sample: UNOWNED } : {}),
  },
  { name: 'invoice_id', description: 'An invoice', from: { operation: 'createInvoice', member: 'id' } },
  {
    name: 'paid_invoice_id',
    description: 'An invoice that was paid',
    from: { operation: 'listIncome', member: 'data.0.invoice_id' },
  },
  {
    name: 'switchable_invoice_id',
    description: 'An unpaid invoice with a choice of coins',
    from: { operation: 'checkoutUnit', member: 'id' },
  },
  { name: 'unit_id', description: 'A unit', from: { operation: 'createUnit', member: 'id' } },
  {
    name: 'merchant_slug',
    description: 'Your slug',
    from: { operation: 'getMerchantAccount', member: 'slug' },
  },
  { name: 'unit_slug', description: 'The slug of a unit', from: { operation: 'createUnit', member: 'slug' } },
  { name: 'event_id', description: 'An event', from: { operation: 'listEvents', member: 'data.0.id' } },
  {
    name: 'contradiction_id',
    description: 'A contradiction',
    from: { operation: 'listContradictions', member: 'data.0.id' },
  },
  { name: 'daemon_id', description: 'A daemon', from: { operation: 'listDaemons', member: 'daemons.0.id' } },
  { name: 'txid', description: 'The id of a transaction, from a wallet or an explorer' },
  {
    name: 'payer',
    description: "The account of the payer's wallet",
    ...(network === 'testnet' ? { sample: UNOWNED } : {}),
  },
  { name: 'user_id', description: 'A user', from: { operation: 'getMe', member: 'id' } },
  { name: 'webhook_url', description: 'Your own URL that takes webhooks' },
  { name: 'email_token', description: 'From the mail that proves an address' },
  { name: 'recovery_token', description: 'From the recovery email' },
  { name: 'google_id_token', description: 'From the sign-in of Google' },
  { name: 'telegram_id', description: 'From the login widget' },
  { name: 'telegram_auth_date', description: 'From the login widget' },
  { name: 'telegram_hash', description: 'From the login widget' },
];
