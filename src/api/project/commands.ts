// The `gw` command of each endpoint, as the catalog shows it.

import type { Endpoint, Example } from '../describe/endpoint.ts';
import type { EndpointId } from '../endpoints/api.ts';

/** Endpoints with a command whose flags are their fields; every other is called with `gw api`. */
export const commandPaths: Partial<Record<EndpointId, string>> = {
  createInvoice: 'invoice create',
  listInvoices: 'invoice list',
  getInvoice: 'invoice get',
  checkInvoice: 'invoice check',
  simulateInvoice: 'invoice simulate',
  listGateways: 'gateways',
  getPublicConfig: 'config server',
  getUnit: 'unit get',
  checkoutUnit: 'unit checkout',
  getPublicInvoice: 'invoice public',
  getInvoicePayment: 'payment get',
  cancelInvoice: 'invoice cancel',
  getWebExit: 'exit web',
  getTgExit: 'exit tg',
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
  getPaymentPage: 'account pages',
  getEmbedPreview: 'account embeds',
  listEvents: 'event list',
  resendEvent: 'event resend',
  detectIdentitySource: 'user identity-source',
  testToken: 'user test-token',
  recoverPassword: 'password recover',
  resetPassword: 'password reset',
  recoverPasswordHtml: 'password mail',
  signup: 'user signup',
  getMe: 'user me',
  updateMe: 'user update-me',
  deleteMe: 'user delete-me',
  updateMyPassword: 'password change',
  listUsers: 'user list',
  createUser: 'user create',
  getUser: 'user get',
  updateUser: 'user update',
  deleteUser: 'user delete',
  payShort: 'page pay',
  payPage: 'page checkout',
  payDiv: 'page div',
  payQrSvg: 'page qr-svg',
  payQrPng: 'page qr-png',
  payEvents: 'page events',
  cancelOnPage: 'page cancel',
  buyOnPage: 'page buy',
  getResetPage: 'page reset',
  currencyLogo: 'page currency-logo',
  unitShort: 'page unit',
  unitPage: 'page unit-page',
  unitDiv: 'page unit-div',
  embedScript: 'page embed-script',
  logoImage: 'page logo',
  faviconImage: 'page favicon',
  getCatalog: 'catalog',
  searchCatalog: 'search',
  getAgentManifest: 'discovery manifest',
  getLlmsTxt: 'discovery llms',
  getLlmsFullTxt: 'discovery llms-full',
  getRobotsTxt: 'discovery robots',
  getSitemap: 'discovery sitemap',
  getOpenApi: 'discovery openapi',
  getDocs: 'discovery docs',
  getRedoc: 'discovery redoc',
  getAdminDashboard: 'admin dashboard',
  listAdminMerchants: 'admin merchants',
  getAdminMerchant: 'admin merchant',
  creditMerchant: 'admin credit',
  getAdminRefillWallets: 'admin refill-wallets',
  setAdminRefillWallet: 'admin set-refill-wallet',
  listObservers: 'admin observers',
  listAdminPayments: 'admin payments',
  getAdminPayment: 'admin payment',
  resolvePayment: 'admin resolve',
  lookUpTransaction: 'admin transaction',
  listContradictions: 'admin contradictions',
  closeContradiction: 'admin close-contradiction',
  getHealth: 'system health',
  healthCheck: 'system check',
  testEmail: 'admin test-email',
};

/** Commands that take their input in another way. */
const lines: Partial<Record<EndpointId, string>> = {
  loginAccessToken: 'gw login --email {email} --password {password}',
  loginGoogle: 'gw login --google-token {google_id_token}',
};

/** Fields whose flag would be one that every command has. */
const renamed: Readonly<Record<string, string>> = {
  token: 'recovery-token',
  url: 'to-url',
  file: 'file-name',
};

const quoted = (text: string): string =>
  /^[\w{}.,:/@+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

const nameOf = (field: string): string => renamed[field] ?? field.replaceAll('_', '-');

function flag([field, value]: [string, unknown]): string {
  const name = nameOf(field);
  if (value === 'true' || value === true) return `--${name}`;
  if (value === 'false' || value === false) return `--no-${name}`;
  return `--${name} ${quoted(Array.isArray(value) ? value.join(',') : String(value))}`;
}

const member = ([name, value]: [string, unknown]): string =>
  `--field ${quoted(typeof value === 'string' ? `${name}=${value}` : `${name}:=${JSON.stringify(value)}`)}`;

/** The command line that makes the example call of an endpoint. */
export function commandLine(endpoint: Endpoint, example: Example): string {
  const id = endpoint.id as EndpointId;
  const line = lines[id];
  if (line) return line;
  const path = commandPaths[id];
  if (path) {
    const fields = { ...example.params, ...example.query, ...example.body };
    return ['gw', path, ...Object.entries(fields).map(flag)].join(' ');
  }
  const target = endpoint.path.replace(
    /\{([^}]+)\}/g,
    (_, name: string) => example.params?.[name] ?? `{${name}}`,
  );
  const query = Object.entries(example.query ?? {}).map(([name, value]) => `${name}=${value}`);
  const whole = query.length > 0 ? `${target}?${query.join('&')}` : target;
  return ['gw api', endpoint.method, quoted(whole), ...Object.entries(example.body ?? {}).map(member)].join(
    ' ',
  );
}
