// `gw doctor`: what is wrong between here and a payment, with the command that fixes it.
import { statSync } from 'node:fs';
import type { CallReply } from '../../src/api/client/call.ts';
import { getPublicConfig, listGateways } from '../../src/api/endpoints/buyer.ts';
import { listInvoices } from '../../src/api/endpoints/invoices.ts';
import { getMerchantAccount, getMerchantWallets } from '../../src/api/endpoints/merchant.ts';
import { getHealth, getReadiness } from '../../src/api/endpoints/system.ts';
import { listUnits } from '../../src/api/endpoints/units.ts';
import { getMe } from '../../src/api/endpoints/users.ts';
import { parseDecimal, USD_DECIMALS } from '../../src/money.ts';
import { isSeeing } from '../../src/sight.ts';
import type { Command, Context } from '../engine/command.ts';
import { GwError } from '../engine/errors.ts';
import type { Settings } from '../engine/profile.ts';
import { paint, print, terminalWidth } from '../output/io.ts';
import { dollars } from '../output/money.ts';
import { clean } from '../output/text.ts';
import { relative } from '../output/value.ts';
import { printObject } from '../output/view.ts';
import { wrapped } from '../output/width.ts';

type Sight = CallReply<typeof getReadiness>['blockchains'][number];
type Account = CallReply<typeof getMerchantAccount>;

interface Check {
  name: string;
  ok: boolean;
  detail: string;
  /** The command that fixes it. */
  fix: string | null;
}

/** The file of the profiles holds keys: no one else reads it. */
const OTHERS = 0o077;
/** Mark and name, which stand before what was found. */
const LABEL = 16;

export const command: Command = {
  endpoints: [
    getHealth,
    getPublicConfig,
    listGateways,
    getMe,
    getMerchantAccount,
    getMerchantWallets,
    listUnits,
    listInvoices,
    getReadiness,
  ],
  about:
    'Checks the profile, the service, the sign-in, wallets, the limit, and whether payments can be seen where you are paid. Exits with 1 if something is wrong.',
  fields: ['ok', 'checks'],
  examples: ['gw doctor', 'gw doctor --json'],
  async run(context) {
    const { io } = context;
    const checks: Check[] = [];
    for await (const check of checksOf(context)) {
      checks.push(check);
      if (io.json !== false) continue;
      const mark = check.ok ? paint(io, 'green', 'ok  ') : paint(io, 'red', 'bad ');
      const lines = wrapped(
        clean(check.detail),
        io.stdout.isTTY ? terminalWidth(io) - 1 - LABEL : Number.POSITIVE_INFINITY,
      );
      print(io, `${mark} ${check.name.padEnd(10)} ${lines.join(`\n${' '.repeat(LABEL)}`)}`);
      if (check.fix) print(io, `     ${paint(io, 'cyan', '→')} ${check.fix}`);
    }
    const ok = checks.every((check) => check.ok);
    if (io.json !== false) printObject(io, { ok, checks });
    if (!ok) process.exitCode = 1;
  },
};

/** How someone without an account gets one, by who may sign up. */
const newAccount: Record<string, string> = {
  open: 'gw signup --email ADDRESS',
  invite: 'gw signup --email ADDRESS --invite TOKEN, with an invite from the operator',
  closed: 'ask the operator for an account: sign-up is closed',
};

const good = (name: string, detail: string): Check => ({ name, ok: true, detail, fix: null });
const bad = (name: string, detail: string, fix: string): Check => ({ name, ok: false, detail, fix });

async function* checksOf(context: Context): AsyncGenerator<Check, void> {
  const opened = await attempt('profile', 'gw config list', async () => {
    const known = await context.settings();
    return [known.credential('api_key'), known.credential('token'), known.url].map(String).join();
  });
  if (!opened.ok) return yield opened;
  const settings = await context.settings();
  const { path } = settings.store;
  const mode = statSync(path, { throwIfNoEntry: false })?.mode;
  yield mode !== undefined && (mode & OTHERS) !== 0
    ? bad('profile', `${path} can be read by others`, `chmod 600 '${path}'`)
    : good('profile', `${settings.profile.value} (${settings.profile.origin}), ${path}${placeOf(settings)}`);
  let signup: string | undefined;
  const reached = await attempt(
    'service',
    'gatewayd start, or another address: gw config set url ADDRESS',
    async () => {
      await context.call(getHealth);
      const config = await context.call(getPublicConfig);
      signup = config.signup;
      return `${settings.url}, ${config.network}${config.demo_mode ? ', demo' : ''}, version ${config.version}`;
    },
  );
  yield reached;
  if (!reached.ok) return;
  yield await attempt('gateways', 'enable gateways in the configuration of the daemon', async () => {
    const { data } = await context.call(listGateways);
    if (data.length === 0) throw new GwError('config', 'no gateway is enabled');
    return data.map((gateway) => gateway.chain).join(', ');
  });
  const wanted: Wanted = { blockchains: undefined };
  if (settings.get('token')) yield* signedIn(context, wanted);
  else if (settings.get('api_key'))
    yield await attempt('key', 'gw login --api-key-stdin', async () => {
      await context.call(listInvoices, { query: { limit: 1 } });
      return 'the key is accepted';
    });
  else
    yield bad(
      'sign-in',
      'neither token nor key',
      `gw login --email ADDRESS, or ${newAccount[signup ?? ''] ?? newAccount.open}`,
    );
  yield* sight(context, wanted);
}

/** Where the credentials of the profile are, if it has any. */
const placeOf = ({ holds, store, profile }: Settings): string =>
  holds ? `, credentials in ${store.secrets(profile.value).keyring ?? 'that file'}` : '';

/** On which blockchains the merchant is paid; undefined where that is not known. */
interface Wanted {
  blockchains: ReadonlySet<string> | undefined;
}

/** Whether payments can be seen where the merchant is paid; where no one wants to be paid, blindness is no fault. */
async function* sight(context: Context, { blockchains: wanted }: Wanted): AsyncGenerator<Check, void> {
  let seen: Sight[] = [];
  let isDemo = false;
  const asked = await attempt('sight', 'gw admin observers', async () => {
    const { demo_mode } = await context.call(getPublicConfig);
    const { blockchains } = await context.call(getReadiness);
    isDemo = demo_mode;
    seen = blockchains;
    return '';
  });
  if (!asked.ok) return yield asked;
  const isBlind = ({ status }: Sight) => !isSeeing(status);
  // Who is unknown may want any: one that is read is enough.
  const isWanted = ({ blockchain }: Sight) => (wanted ? wanted.has(blockchain) : seen.every(isBlind));
  const now_s = Math.floor(Date.now() / 1000);
  for (const one of seen) {
    const { blockchain, status, unavailable_since } = one;
    const how =
      status === 'starting'
        ? `${blockchain} was not read yet`
        : `${blockchain} cannot be read (noticed ${relative(unavailable_since ?? now_s, now_s)})`;
    if (!isBlind(one)) yield good('blockchain', `${blockchain} is read: payments on it are seen`);
    else if (!isWanted(one)) yield good('blockchain', `${how}; you are not paid on it`);
    else
      yield bad(
        'blockchain',
        `${how}: no payment on it can be seen${isDemo ? ', only simulated ones' : ''}`,
        status === 'starting'
          ? 'gw doctor, in a minute'
          : 'ask the operator, who sees why with: gw admin observers',
      );
  }
}

async function* signedIn(context: Context, wanted: Wanted): AsyncGenerator<Check, void> {
  let pending: string | undefined;
  let is_operator = false;
  const who = await attempt('sign-in', 'gw login', async () => {
    const me = await context.call(getMe);
    pending = me.pending_email;
    is_operator = me.is_superuser;
    return me.email;
  });
  yield who;
  if (!who.ok) return;
  if (pending !== undefined)
    yield bad(
      'mail',
      `${pending} is not confirmed: open the link that was sent to it`,
      'gw user send-confirmation',
    );
  let account: Account | undefined;
  const known = await attempt('account', 'gw account get', async () => {
    account = await context.call(getMerchantAccount);
    return account.slug;
  });
  if (!account) return yield known;
  if (is_operator && !(await sells(context)))
    return yield good('account', `${account.slug}, an operator who sells nothing: no wallet, no unit`);
  const { enabled_currencies, house, limit_of_payments, webhook_url } = account;
  yield await attempt('wallets', 'gw wallet set BLOCKCHAIN ADDRESS', async () => {
    const { wallets, missing } = await context.call(getMerchantWallets);
    wanted.blockchains = new Set(wallets.map(({ blockchain }) => blockchain));
    // Where all currencies are enabled because none was chosen, a blockchain without wallet is just not offered.
    const { data: gateways } = await context.call(listGateways);
    const enabled = new Set(enabled_currencies);
    const isChosen = gateways.some(({ chain, currency }) => !enabled.has(chain) && !enabled.has(currency));
    if (missing.length > 0 && (wallets.length === 0 || isChosen))
      throw new GwError('config', `no wallet for ${missing.join(', ')}`);
    const others = missing.length === 0 ? '' : ` (not offered without one: ${missing.join(', ')})`;
    return wallets.map((wallet) => wallet.blockchain).join(', ') + others;
  });
  const covers = house || (parseDecimal(limit_of_payments, USD_DECIMALS) ?? 0n) > 0n;
  yield covers
    ? good('limit', house ? 'none: a house merchant' : `${dollars(limit_of_payments)} can still be confirmed`)
    : bad(
        'limit',
        'no payment can be confirmed; simulated ones can',
        'gw refill create --chain CHAIN --amount USD',
      );
  yield good(
    'webhook',
    webhook_url ?? 'none: gw account update --webhook-url URL, or gw listen --forward-to URL',
  );
}

/** Whether an account has anything to be paid for or with; where that is not known, it is judged as one that has. */
async function sells({ call }: Context): Promise<boolean> {
  try {
    const [{ wallets }, { units }] = await Promise.all([call(getMerchantWallets), call(listUnits)]);
    return wallets.length > 0 || units.length > 0;
  } catch {
    return true;
  }
}

async function attempt(name: string, fix: string, work: () => Promise<string>): Promise<Check> {
  try {
    return good(name, await work());
  } catch (error) {
    // What is wrong with the settings is fixed there, whichever call was made with them.
    const remedy = error instanceof GwError && error.kind === 'config' ? error.details.hint : undefined;
    return bad(name, (error as Error).message, remedy ?? fix);
  }
}
