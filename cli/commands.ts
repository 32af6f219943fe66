// All commands: one for each endpoint that has a name in `gw`, and the journeys, which do more than call one endpoint.
import { readFileSync } from 'node:fs';
import type { Tag } from '../src/api/describe/endpoint.ts';
import { BUILT_COMMANDS } from './built.ts';
import type { Command, CommandEntry, Group, Registry } from './engine/command.ts';
import { derive } from './engine/derive.ts';
import { outlinesOf } from './engine/outlines.ts';

const groups: Record<string, Group> = {
  invoice: { summary: 'Create, follow and settle invoices' },
  payment: { summary: 'Payments seen on the chain' },
  claim: { summary: 'What payers claim to have paid' },
  exit: { summary: 'Links that open a wallet' },
  unit: { summary: 'Offers with a price' },
  account: { summary: 'Key, webhook, currencies and limit' },
  wallet: { summary: 'Addresses where you get paid' },
  refill: { summary: 'Top up the prepaid limit' },
  income: { summary: 'Confirmed sales', lists: true },
  event: { summary: 'Events of your account' },
  ledger: { summary: 'Bookings on your prepaid balance', lists: true },
  user: { summary: 'Your user and, for operators, all users' },
  password: { summary: 'Change or recover a password' },
  page: { summary: 'Pages, fragments and images for buyers' },
  discovery: { summary: 'Documents for people and programs' },
  admin: { summary: 'Operate the deployment' },
  'admin refill-wallet': { summary: 'A wallet of the deployment' },
  'admin daemon': { summary: 'One of the daemons of the deployment' },
  system: { summary: 'Check whether the daemon answers' },
  config: { summary: 'Settings of gw and of the service' },
  'config alias': { summary: 'Your own names for command lines' },
};

const aliases: Record<string, string> = {
  invoices: 'invoice',
  units: 'unit',
  wallets: 'wallet',
  events: 'event',
  users: 'user',
  payments: 'payment',
  accounts: 'account',
  refills: 'refill',
  exits: 'exit',
  pages: 'page',
  balances: 'balance',
  gateway: 'gateways',
};

/** First words in the order people read them; any other follows. */
const order =
  'login signup setup apply export logout whoami dashboard explain open inbox invoice payment claim exit unit wallet account balance ledger income refill event listen dev trigger pos gateways catalog search user password page discovery admin system config api mcp schema completion doctor'.split(
    ' ',
  );

interface Journey {
  /** The endpoint's own where it is called by the same name. */
  summary?: string;
  load(): Promise<{ command: Command }>;
}

const journeys: Record<string, Journey> = {
  login: { summary: 'Sign in and store the credentials', load: () => import('./journeys/login.ts') },
  setup: {
    summary: 'Set up what you need before your first sale',
    load: () => import('./journeys/setup.ts'),
  },
  apply: {
    summary: 'Make account, wallets and units what a file says',
    load: () => import('./journeys/apply.ts'),
  },
  export: {
    summary: 'Write account, wallets and units as such a file',
    load: () => import('./journeys/export.ts'),
  },
  logout: { summary: 'Remove the stored token and key', load: () => import('./journeys/logout.ts') },
  'invoice create': { load: () => import('./journeys/invoice/create.ts') },
  'invoice watch': {
    summary: 'Follow an invoice until it ends',
    load: () => import('./journeys/invoice/watch.ts'),
  },
  'invoice wait': {
    summary: 'Block until an invoice is confirmed',
    load: () => import('./journeys/invoice/wait.ts'),
  },
  'invoice qr': { summary: 'Draw the QR code of an invoice', load: () => import('./journeys/invoice/qr.ts') },
  dashboard: {
    summary: 'Watch your sales, payments and what waits',
    load: () => import('./journeys/dashboard.ts'),
  },
  explain: { load: () => import('./journeys/explain.ts') },
  open: {
    summary: 'Open a page or an explorer in the browser',
    load: () => import('./journeys/open.ts'),
  },
  inbox: { load: () => import('./journeys/inbox.ts') },
  'wallet list': { load: () => import('./journeys/wallet/list.ts') },
  'account delete': {
    summary: 'Delete your account, with an export first if you want one',
    load: () => import('./journeys/account/delete.ts'),
  },
  'account export': {
    summary: 'Export all data of your account to files',
    load: () => import('./journeys/account/export.ts'),
  },
  'account rotate-key': { load: () => import('./journeys/account/rotate-key.ts') },
  'refill create': { load: () => import('./journeys/refill/create.ts') },
  'event list': { load: () => import('./journeys/event/list.ts') },
  listen: {
    summary: 'Forward events to a server on this machine',
    load: () => import('./journeys/listen.ts'),
  },
  dev: {
    summary: 'Run a sandbox: daemon, receiver of webhooks and a buyer',
    load: () => import('./journeys/dev.ts'),
  },
  trigger: {
    summary: 'Make something happen in the sandbox',
    load: () => import('./journeys/trigger.ts'),
  },
  pos: { summary: 'Sell at a till', load: () => import('./journeys/pos.ts') },
  'user signup': { summary: 'Sign up and sign in', load: () => import('./journeys/user/signup.ts') },
  'password change': { load: () => import('./journeys/password/change.ts') },
  'page events': { load: () => import('./journeys/page/events.ts') },
  'discovery openapi': { load: () => import('./journeys/discovery/openapi.ts') },
  'admin dashboard': {
    summary: 'Watch the figures of the deployment',
    load: () => import('./journeys/admin/dashboard.ts'),
  },
  'admin payments': {
    summary: 'Watch, open and resolve payments',
    load: () => import('./journeys/admin/payments.ts'),
  },
  'admin inbox': {
    summary: 'List everything that needs your attention',
    load: () => import('./journeys/admin/inbox.ts'),
  },
  'admin resolve': { load: () => import('./journeys/admin/resolve.ts') },
  'admin observers': {
    summary: 'Watch what each observer has read',
    load: () => import('./journeys/admin/observers.ts'),
  },
  'config list': { summary: 'Show the effective settings', load: () => import('./journeys/config/list.ts') },
  'config get': { summary: 'Show one setting', load: () => import('./journeys/config/get.ts') },
  'config set': { summary: 'Store a setting in the profile', load: () => import('./journeys/config/set.ts') },
  'config unset': {
    summary: 'Remove a setting from the profile',
    load: () => import('./journeys/config/unset.ts'),
  },
  'config profiles': { summary: 'List profiles', load: () => import('./journeys/config/profiles.ts') },
  'config use': { summary: 'Choose the profile', load: () => import('./journeys/config/use.ts') },
  'config alias set': {
    summary: 'Give a command line a name of your own',
    load: () => import('./journeys/config/alias/set.ts'),
  },
  'config alias list': {
    summary: 'List your own names for command lines',
    load: () => import('./journeys/config/alias/list.ts'),
  },
  'config alias unset': {
    summary: 'Remove a name of your own',
    load: () => import('./journeys/config/alias/unset.ts'),
  },
  'config path': {
    summary: 'Show where profiles are stored',
    load: () => import('./journeys/config/path.ts'),
  },
  api: { summary: 'Call any endpoint by method and path', load: () => import('./journeys/api.ts') },
  mcp: {
    summary: 'Serve the operations to agents over stdio (MCP)',
    load: () => import('./journeys/mcp.ts'),
  },
  schema: { summary: 'Show the JSON Schema of a command', load: () => import('./journeys/schema.ts') },
  completion: { summary: 'Print a completion script', load: () => import('./journeys/completion.ts') },
  doctor: { summary: 'Diagnose problems and suggest fixes', load: () => import('./journeys/doctor.ts') },
};

/** Second names that are listed too, to the first. */
const seconds: Record<string, string> = { whoami: 'user me', signup: 'user signup' };

/** An endpoint that is called by a command: what the list of commands shows without building a schema. */
export interface Row {
  path: string;
  summary: string;
  endpoint: string;
  tag: Tag;
}

/** The rows of all endpoints, made of their descriptions. */
export async function deriveRows(): Promise<Row[]> {
  const { api } = await import('../src/api/endpoints/api.ts');
  const { commandOf } = await import('../src/api/project/commands.ts');
  return api.flatMap((endpoint) => {
    const path = commandOf(endpoint)?.path;
    const { id, summary, tag } = endpoint;
    return path === undefined ? [] : [{ path, summary, endpoint: id, tag }];
  });
}

function builtRows(): Row[] | undefined {
  // The sources may have changed since.
  if (import.meta.url.endsWith('.ts')) return undefined;
  try {
    return JSON.parse(readFileSync(BUILT_COMMANDS, 'utf8')) as Row[];
  } catch {
    // While it is being built.
    return undefined;
  }
}

async function loadDerived({ endpoint: id, tag }: Row, path: string): Promise<Command> {
  const list = await outlinesOf[tag]();
  const endpoint = list.find((one) => one.id === id);
  if (!endpoint) throw new Error(`no endpoint ${id} in ${tag}: the list of commands is of another build`);
  return derive(endpoint, { path });
}

/** All commands, in the order people read them. */
export async function openRegistry(rows?: readonly Row[]): Promise<Registry> {
  const all = rows ?? builtRows() ?? (await deriveRows());
  const rowAt = (path: string) => all.find((row) => row.path === path);
  const derived = (row: Row, path: string): CommandEntry => ({
    path,
    summary: row.summary,
    endpoint: row.endpoint,
    load: () => loadDerived(row, path),
  });
  const own = Object.entries(journeys).map(([path, { summary, load }]): CommandEntry => {
    const row = rowAt(path);
    return {
      path,
      summary: summary ?? row?.summary ?? '',
      ...(row ? { endpoint: row.endpoint } : {}),
      load: async () => (await load()).command,
    };
  });
  const entries = [
    ...all.filter(({ path }) => !Object.hasOwn(journeys, path)).map((row) => derived(row, row.path)),
    ...own,
    ...Object.entries(seconds).flatMap(([path, first]) => {
      const row = rowAt(first);
      const journey = own.find((entry) => entry.path === first);
      if (journey) return [{ ...journey, path }];
      return row ? [derived(row, path)] : [];
    }),
  ];
  const place = ({ path }: CommandEntry) => {
    const index = order.indexOf(path.split(' ')[0] ?? '');
    return index < 0 ? order.length : index;
  };
  return { entries: entries.sort((a, b) => place(a) - place(b)), groups, aliases };
}
