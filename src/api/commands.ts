// The `gw` command of each endpoint, as the catalog shows it.
import type { EndpointId } from './api.ts';
import type { Endpoint, Example } from './endpoint.ts';

/** Endpoints that have a command of their own; every other is called with `gw api`. */
export const commandPaths: Partial<Record<EndpointId, string>> = {
  createInvoice: 'invoice create',
  listInvoices: 'invoice list',
  getInvoice: 'invoice get',
  checkInvoice: 'invoice check',
  simulateInvoice: 'invoice simulate',
  cancelInvoice: 'invoice cancel',
  getInvoicePayment: 'payment get',
  listGateways: 'gateways',
  getUnit: 'unit get',
  listUnits: 'unit list',
  createUnit: 'unit create',
  updateUnit: 'unit update',
  deleteUnit: 'unit delete',
  getMerchantAccount: 'account get',
  updateMerchantAccount: 'account update',
  rotateApiKey: 'account rotate-key',
  getMerchantWallets: 'wallet list',
  setMerchantWallet: 'wallet set',
  getBalances: 'balance',
  listIncome: 'income list',
  getRefillWallets: 'refill wallets',
  createRefill: 'refill create',
  listEvents: 'event list',
  resendEvent: 'event resend',
  getCatalog: 'catalog',
  searchCatalog: 'search',
  getAdminDashboard: 'admin dashboard',
  listAdminMerchants: 'admin merchants',
  getAdminMerchant: 'admin merchant',
  creditMerchant: 'admin credit',
  getAdminRefillWallets: 'admin refill-wallets',
  listObservers: 'admin observers',
  listAdminPayments: 'admin payments',
  getAdminPayment: 'admin payment',
  resolvePayment: 'admin resolve',
};

const quoted = (text: string): string =>
  /^[\w{}.,:/@+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

const kebab = (field: string): string => field.replaceAll('_', '-');

const flag = ([name, value]: [string, unknown]): string =>
  `--${kebab(name)} ${quoted(Array.isArray(value) ? value.join(',') : String(value))}`;

/** The command line that makes the example call of an endpoint. */
export function commandLine(endpoint: Endpoint, example: Example): string {
  const path = commandPaths[endpoint.id as EndpointId];
  if (path) {
    const fields = { ...example.params, ...example.query, ...example.body };
    return ['gw', path, ...Object.entries(fields).map(flag)].join(' ');
  }
  const target = endpoint.path.replace(
    /\{([^}]+)\}/g,
    (_, name: string) => example.params?.[name] ?? `{${name}}`,
  );
  const query = Object.entries(example.query ?? {}).map(([name, value]) => `${name}=${value}`);
  const fields = Object.entries(example.body ?? {}).map(
    ([name, value]) => `-f ${quoted(`${name}=${Array.isArray(value) ? value.join(',') : String(value)}`)}`,
  );
  return [
    'gw api',
    endpoint.method,
    quoted(query.length > 0 ? `${target}?${query.join('&')}` : target),
    ...fields,
  ].join(' ');
}
