// The schema of the settings: their names, types, bounds, defaults and help, each stated once.
import { z } from 'zod';
import { MAX_RETURN_HOSTS } from '../../src/api/describe/shop-fields.ts';
import { type Catalogue, tickersOf } from '../../src/chains/catalogue.ts';
import { builtIn, providerKinds } from '../../src/chains/gateways.ts';
import { MAX_CONFIRM_SECONDS, MAX_CONFIRMATIONS, readSteps } from '../../src/confirmations.ts';
import { signupModes } from '../../src/identity.ts';
import { PLATFORM_KEY_PATTERN } from '../../src/keys.ts';
import { DIRECTLY, isProxy } from '../../src/proxy.ts';
import { hostEntry } from '../../src/return-url.ts';
import { isWebhookSecret } from '../../src/webhook.ts';
import { readProxies } from '../http/proxies.ts';
import { noticeCauses } from '../notify/names.ts';
import { NO_HINTS } from '../observer/hints/source.ts';
import { MIN_PASSPHRASE_LENGTH, MIN_SECRET_LENGTH } from '../process/secrets.ts';
import { type Leaf, leavesOf } from './layers.ts';

const MAX_REQUESTS_PER_SECOND = 1_000;
/** Providers of one blockchain. */
const MAX_URLS = 10;
const MAX_PORT = 65_535;
const MAX_TTL_SECONDS = 7 * 24 * 3600;
const MAX_POLL_SECONDS = 3600;
/** A start that waits longer is one that the supervisor should know of. */
const MAX_WAIT_SECONDS = 3600;
/** An operator who hears of it later does not hear of it in time. */
const MAX_BLIND_SECONDS = 3600;
const TESTNET_MIN_TTL_SECONDS = 5;
const MAX_BACKUPS = 10_000;
const MAX_RETENTION_DAYS = 36_500;
const DURATION = /^[1-9]\d{0,3}[mhd]$/;
const DURATION_SECONDS: Readonly<Record<string, number>> = { m: 60, h: 3600, d: 86_400 };

/** Seconds of a duration such as `30m`, `12h` or `1d`. */
export const durationSeconds = (text: string): number =>
  Number(text.slice(0, -1)) * (DURATION_SECONDS[text.slice(-1)] ?? 0);

/** Addresses of operators. */
const MAX_NOTICE_ADDRESSES = 20;
const NOTICE_ADDRESS = /^(mailto:[^\s@,]+@[^\s@,]+|telegram:(-?\d{1,20}|@\w{1,64})|https?:\/\/\S+)$/;

const text = (help: string) => z.string().min(1).describe(help);
const secret = (help: string) => text(help).meta({ secret: true });
const decimalText = (help: string) =>
  z
    .union([z.string(), z.number()])
    .transform(String)
    .pipe(z.string().regex(/^\d{1,9}(\.\d{1,18})?$/, 'must be a plain decimal number'))
    .describe(help);
const url = (protocols: RegExp, help: string) =>
  z.url({ protocol: protocols, error: 'must be a URL' }).describe(help);
const hintsUrl = (help: string) =>
  z
    .union([z.literal(NO_HINTS), z.url({ protocol: /^wss?$/ })], { error: 'must be wss://…, or none' })
    .describe(help);
const postgresUrl = (help: string) =>
  z
    .string()
    .regex(/^postgres(ql)?:\/\/.+$/, 'must be postgres://…')
    .meta({ secret_url: true })
    .describe(help);
const whole = (min: number, max: number, help: string) => z.int().min(min).max(max).describe(help);
const days = (help: string) => whole(0, MAX_RETENTION_DAYS, `days after which ${help}; 0: never`).default(0);
const hostName = (help: string) =>
  z
    .string()
    .regex(/^(?!-)[\d.:A-Za-z-]{1,63}(?<!-)$/, 'must be an address or a host name')
    .describe(help);
const perMinute = (calls: number, help: string) =>
  whole(0, 1_000_000, `${help}, per minute; 0 turns it off`).default(calls);

/** Confirmations by value: a list in the file, the same as JSON text elsewhere. */
const confirmations = (help: string) =>
  z
    .unknown()
    .transform((value, context) => {
      const steps = readSteps(typeof value === 'string' ? parsed(value) : value);
      if (typeof steps !== 'string') return steps;
      context.issues.push({ code: 'custom', message: steps, input: value });
      return z.NEVER;
    })
    .describe(help);

/** A boolean, a number or a list in the file, the same as text elsewhere. */
const proxies = (help: string) =>
  z
    .unknown()
    .meta({ kind: 'boolean' })
    .transform((value, context) => {
      const read = readProxies(value);
      if (typeof read !== 'object' || Array.isArray(read)) return read;
      context.issues.push({ code: 'custom', message: read.error, input: value });
      return z.NEVER;
    })
    .describe(help);

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined; // Not a list, which is what the message says.
  }
}

const explorer = (what: string) =>
  z
    .string()
    .regex(/^(none|https?:\/\/[^\s"'<>]*\{id\}[^\s"'<>]*)$/, 'must be none, or https://… with {id} in it')
    .optional()
    .describe(`explorer page that shows buyers ${what}: https://…/{id}, or none; default: a public explorer`);

/** A list in the file, the same as JSON text elsewhere. */
const notify = (help: string) =>
  z
    .unknown()
    .transform((value) => (typeof value === 'string' ? parsed(value) : value))
    .pipe(
      z
        .array(
          z.strictObject({
            to: z.string().regex(NOTICE_ADDRESS, 'must be mailto:ADDRESS, telegram:CHAT_ID or https://…'),
            on: z.array(z.enum(noticeCauses)).min(1).optional(),
            secret: z.string().min(MIN_SECRET_LENGTH).optional(),
          }),
          'must be a list such as [{ "to": "mailto:you@example.com" }]',
        )
        .max(MAX_NOTICE_ADDRESSES),
    )
    .meta({ secret: true })
    .default([])
    .describe(help);

/** One member for each name. */
const each = <T extends z.ZodType>(names: readonly string[], make: (name: string) => T) =>
  z.strictObject(Object.fromEntries(names.map((name) => [name, make(name)]))).prefault({});

/** A list of entries in the file, the same as JSON text elsewhere. */
const customList = <T extends z.ZodType>(entry: T, most: number) =>
  z
    .unknown()
    .transform((value) => (typeof value === 'string' ? parsed(value) : value))
    .pipe(z.array(entry, 'must be a list of objects').max(most))
    .default([]);

const MAX_CUSTOM_BLOCKCHAINS = 20;
const MAX_CUSTOM_GATEWAYS = 100;
/** Ids are words of URLs, variables and flags. */
const BLOCKCHAIN_ID = /^[a-z][a-z0-9]{1,23}$/;
const GATEWAY_ID = /^[a-z][a-z0-9]{1,23}(-[a-z0-9]{1,12}){0,2}$/;
const TICKER = /^[A-Z][A-Z0-9]{1,11}$/;
const COINGECKO_ID = /^[a-z0-9][a-z0-9-]{0,63}$/;
const SHOWN_NAME = /^[\p{L}\p{N}][\p{L}\p{N} .()&-]{0,39}$/u;
const MAX_CHAIN_ID = 2 ** 48 - 1;
const MAX_BLOCK_SECONDS = 600;
const MAX_DECIMALS = 24;

const ticker = z.string().regex(TICKER, 'must be 2 to 12 capital letters and digits');
const shownName = z.string().regex(SHOWN_NAME, 'must be up to 40 letters, digits and spaces');
const blockchainId = z.string().regex(BLOCKCHAIN_ID, 'must be 2 to 24 small letters and digits');

const customBlockchain = z.strictObject({
  id: blockchainId,
  name: shownName,
  chain_id: z.int().min(1).max(MAX_CHAIN_ID),
  coin: ticker,
  block_seconds: z.number().min(0.05).max(MAX_BLOCK_SECONDS),
  min_confirmations: z.int().min(1).max(MAX_CONFIRMATIONS),
  final_blocks: z.int().min(1).max(MAX_CONFIRMATIONS).optional(),
});
const customGateway = z.strictObject({
  id: z.string().regex(GATEWAY_ID, 'must be small letters and digits such as network-token'),
  blockchain: blockchainId,
  currency: ticker,
  name: shownName.optional(),
  token_contract: z.string().min(1).max(64).optional(),
  decimals: z.int().min(1).max(MAX_DECIMALS).optional(),
  payable_decimals: z.int().min(1).max(MAX_DECIMALS).optional(),
  priced_as: ticker.optional(),
  market: z
    .strictObject({
      symbol: ticker,
      coingecko_id: z.string().regex(COINGECKO_ID, 'must be an id of CoinGecko'),
    })
    .optional(),
});

const chainIdsOf = ({ blockchains }: Catalogue) => blockchains.map(({ id }) => id);

const walletSettings = (catalogue: Catalogue) =>
  each(chainIdsOf(catalogue), (id) =>
    text(`receive address on ${id} for platform invoices and refills`).optional(),
  );

const rateSettings = (catalogue: Catalogue) =>
  z
    .strictObject({
      source: z
        .enum(['live', 'fixed'])
        .default('live')
        .describe('live: median of public sources that agree; fixed: the figures below'),
      usd: each(tickersOf(catalogue), (ticker) =>
        decimalText(`USD for one ${ticker}, with rates.source fixed`).optional(),
      ),
    })
    .prefault({});

const providerSettings = (catalogue: Catalogue) =>
  each(chainIdsOf(catalogue), (id) =>
    z
      .strictObject({
        provider: z
          .enum(providerKinds.map(({ kind }) => kind))
          .optional()
          .describe(`kind of the ${id} provider`),
        url: url(/^https?$/, `${id} provider; default: public ones`)
          .meta({ secret_url: true })
          .optional(),
        urls: z
          .array(url(/^https?$/, 'one of them'))
          .min(1)
          .max(MAX_URLS)
          .meta({ secret_url: true })
          .describe(
            `${id} providers in order of preference, after url; the next takes over from one that fails`,
          )
          .optional(),
        hints_url: hintsUrl(
          `WebSocket on which a ${id} provider says that something happened, so that it is read at once, or none; default: the provider's own where it is known`,
        )
          .meta({ secret_url: true })
          .optional(),
        api_key: secret(`key of the ${id} provider; goes to the host of the first URL only`).optional(),
        requests_per_second: z
          .number()
          .positive()
          .max(MAX_REQUESTS_PER_SECOND)
          .optional()
          .describe(
            `most requests per second to the ${id} provider; default: ${catalogue.find(id)?.requests_per_second} for the public one, ` +
              '50 for your own, less after it refuses (429)',
          ),
        explorer_transaction: explorer(`transactions of ${id}`),
        explorer_address: explorer(`addresses of ${id}`),
        confirmations: confirmations(
          `what a payment on ${id} waits for by the value of its invoice, in blocks, seconds or until "finalized": [{ "below_usd": 1000, "blocks": 1 }, { "blocks": 3 }]`,
        ).optional(),
      })
      .prefault({}),
  );

const gatewaySettings = ({ values }: Catalogue) =>
  each(
    values.map(({ chain }) => chain),
    (id) =>
      z
        .strictObject({
          enabled: z.boolean().optional().describe(`offer ${id}`),
          token_contract: text(`contract, mint or master of ${id}`).optional(),
          min_confirmations: whole(
            1,
            MAX_CONFIRMATIONS,
            `blocks ${id} waits for; the least where blockchains.*.confirmations has steps`,
          ).optional(),
          confirm_seconds: whole(
            1,
            MAX_CONFIRM_SECONDS,
            `seconds of the chain's own time ${id} waits for, instead of min_confirmations`,
          ).optional(),
          poll_interval_seconds: whole(1, MAX_POLL_SECONDS, `pause between readings of ${id}`).optional(),
          payment_ttl_seconds: whole(
            TESTNET_MIN_TTL_SECONDS,
            MAX_TTL_SECONDS,
            `how long a ${id} invoice waits`,
          ).optional(),
          unique_amount: z.boolean().optional().describe(`match ${id} by amount as well as by memo`),
        })
        .prefault({}),
  );

export const settingsSchema = z.strictObject({
  network: z.enum(['testnet', 'mainnet']).default('testnet').describe('mainnet moves real money'),
  demo: z
    .boolean()
    .optional()
    .describe('allow simulated payments; default: on with testnet, never with mainnet'),
  host: hostName('address to listen on').default('127.0.0.1'),
  port: whole(0, MAX_PORT, 'port to listen on; 0 picks a free one').default(4020),
  public_url: url(/^https?$/, 'how buyers reach this daemon; default: from host and port').optional(),
  data_dir: text('where state is stored; default: $XDG_STATE_HOME/gatewayd').optional(),
  database_url: z
    .string()
    .regex(/^(sqlite:.+|postgres(ql)?:\/\/.+)$/, 'must be sqlite:FILE or postgres://…')
    .meta({ secret_url: true })
    .describe('sqlite:FILE or postgres://…; default: a file in data_dir')
    .optional(),
  database_listen_url: postgresUrl(
    'PostgreSQL itself, for notifications, where database_url leads through a pooler',
  ).optional(),
  database_read_url: postgresUrl('a streaming replica of PostgreSQL that lists are read from').optional(),
  wait_for_database_seconds: whole(
    0,
    MAX_WAIT_SECONDS,
    'how long a start waits for PostgreSQL while it is away; 0 ends at once',
  ).default(60),
  secret: z
    .string()
    .min(MIN_SECRET_LENGTH, `must have at least ${MIN_SECRET_LENGTH} characters`)
    .meta({ secret: true })
    .describe('encrypts stored keys and signs tokens; default: created once, in data_dir/secret')
    .optional(),
  previous_secret: z
    .string()
    .min(MIN_SECRET_LENGTH, `must have at least ${MIN_SECRET_LENGTH} characters`)
    .meta({ secret: true })
    .describe('the previous secret, while `gatewayd secret rotate` replaces it with secret')
    .optional(),
  admin: z
    .strictObject({
      email: z.email('must be an email address').optional().describe('first superuser'),
      password: z
        .string()
        .min(8, 'must have at least 8 characters')
        .max(128)
        .meta({ secret: true })
        .optional()
        .describe('password of the first superuser; default: generated at the first start and shown once'),
    })
    .prefault({}),
  signup: z
    .enum(signupModes)
    .optional()
    .describe(
      'who may sign up; invite: only people invited with `gatewayd invite`; default: open on testnet, closed on mainnet',
    ),
  platform_key: z
    .string()
    .regex(PLATFORM_KEY_PATTERN, 'must be gw_ followed by at least 24 characters')
    .meta({ secret: true })
    .optional()
    .describe("key of the operator's own invoices, paid to the wallets below"),
  webhook_secret: z
    .string()
    .min(MIN_SECRET_LENGTH, `must have at least ${MIN_SECRET_LENGTH} characters`)
    .refine(isWebhookSecret, 'must be base64 after whsec_, with its padding')
    .meta({ secret: true })
    .optional()
    .describe('signs webhooks of the platform key; default: derived from secret'),
  wallets: walletSettings(builtIn),
  public_days: whole(
    0,
    MAX_RETENTION_DAYS,
    'days after its end that an order shows its details to who has its link, and after that only how it ended; 0: always',
  ).default(30),
  operator_name: text('who runs this deployment, as its first page names them').optional(),
  return_hosts: z
    .array(z.string().refine((host) => hostEntry(host) === host, 'must be a host such as shop.example'))
    .max(MAX_RETURN_HOSTS)
    .default([])
    .describe('hosts that buyers of the platform key may return to, such as shop.example'),
  service_fee_percent: decimalText("surcharge on the buyer's total").default('0'),
  limit_policy: z
    .enum(['hold', 'refuse'])
    .default('hold')
    .describe(
      "a sale above its merchant's prepaid limit: hold its payment until a refill, or refuse to make it",
    ),
  quorum_above_usd: decimalText(
    'above this, two providers of a blockchain must report a payment, if two are configured',
  ).default('1000'),
  rates: rateSettings(builtIn),
  smtp_url: url(/^smtps?$/, 'mail server; without it mails are files in data_dir/outbox')
    .meta({ secret_url: true })
    .optional(),
  mail_from: text('sender of mails').optional(),
  google: z
    .strictObject({
      client_id: text('turns on sign-in with Google').optional(),
      jwks_url: url(/^https?$/, 'where the public keys of Google are').default(
        'https://www.googleapis.com/oauth2/v3/certs',
      ),
    })
    .prefault({}),
  telegram: z
    .strictObject({
      bot_token: secret('turns on sign-in with Telegram; the bot sends notifications too').optional(),
      api_url: url(/^https?$/, 'where the Bot API of Telegram is').default('https://api.telegram.org'),
    })
    .prefault({}),
  notify: notify(
    `whom to notify of what: [{ "to": "mailto:you@example.com" }, { "to": "telegram:CHAT_ID", "on": ["payment_late"] }, { "to": "https://…", "secret": "whsec_…" }]; on is any of ${noticeCauses.join(', ')}; default: all of them`,
  ),
  heartbeat_url: url(
    /^https?$/,
    'where this daemon says each minute that it runs: POST { ok, wrong: [{ cause, subject, text, command }] }, for a monitor that notices silence',
  )
    .meta({ secret: true })
    .optional(),
  limit_low_usd: decimalText("a merchant's remaining limit below which limit_low is notified").default('100'),
  proxy: z
    .union(
      [z.literal(DIRECTLY), z.string().refine(isProxy, { error: 'must be http://…, https://…, or none' })],
      {
        error: 'must be http://…, https://…, or none',
      },
    )
    .meta({ secret_url: true })
    .optional()
    .describe(
      'proxy that requests to providers, price sources, Google, targets of notify, heartbeat_url and webhooks go through, or none; default: HTTPS_PROXY and HTTP_PROXY',
    ),
  no_proxy: z
    .array(z.string().min(1).max(255))
    .max(100)
    .optional()
    .describe(
      'hosts that are asked without the proxy: names, addresses, networks such as 10.0.0.0/8, *; default: NO_PROXY',
    ),
  webhook_allow_private: z
    .boolean()
    .optional()
    .describe('send webhooks to private addresses too; default: same as demo'),
  blind_after_seconds: whole(
    1,
    MAX_BLIND_SECONDS,
    'a blockchain that was not read for so long, or for three pauses between readings, takes no new invoices',
  ).default(60),
  custom_blockchains: customList(customBlockchain, MAX_CUSTOM_BLOCKCHAINS).describe(
    'additional networks that speak the JSON-RPC of EVM networks: [{ "id": "…", "name": "…", "chain_id": 1, "coin": "…", "block_seconds": 5, "min_confirmations": 20 }]',
  ),
  custom_gateways: customList(customGateway, MAX_CUSTOM_GATEWAYS).describe(
    'additional tokens, and coins of custom_blockchains: [{ "id": "…", "blockchain": "…", "currency": "…", "token_contract": "…", "decimals": 6 }]',
  ),
  blockchains: providerSettings(builtIn),
  gateways: gatewaySettings(builtIn),
  backup: z
    .strictObject({
      every: z
        .string()
        .regex(DURATION, 'must be a number of minutes, hours or days such as 30m, 12h or 1d')
        .optional()
        .describe('interval of automatic backups while the daemon runs: 1m, 12h, 1d; default: none'),
      keep: whole(1, MAX_BACKUPS, 'how many automatic backups to retain; older ones are removed').default(7),
      keep_hours: whole(
        0,
        MAX_BACKUPS,
        'retains the last automatic backup of so many hours besides, where any was made',
      ).default(0),
      keep_days: whole(
        0,
        MAX_BACKUPS,
        'retains the last automatic backup of so many days besides, where any was made',
      ).default(0),
      to: text('directory of backups, which must exist; default: backups in data_dir').optional(),
      passphrase: z
        .string()
        .min(MIN_PASSPHRASE_LENGTH, `must have at least ${MIN_PASSPHRASE_LENGTH} characters`)
        .meta({ secret: true })
        .optional()
        .describe('encrypts backups, which then include the secret; without it they are not encrypted'),
    })
    .prefault({}),
  retention: z
    .strictObject({
      events: days(
        'events and their webhook deliveries are removed; readers who come later are refused with 410',
      ),
      logs: days(
        "logs of ended invoices and payers' claims are removed, but for what an operator did and how each payment ended; days of dust are added up",
      ),
      callers: days('hashes of the network addresses that asked for invoices at a checkout are removed'),
    })
    .prefault({}),
  log_level: z
    .enum(['silent', 'error', 'warn', 'info', 'debug'])
    .default('info')
    .describe('log level on stderr'),
  log_callers: z
    .boolean()
    .default(true)
    .describe("whether the lines of requests carry their callers' network addresses"),
  trust_proxy: proxies(
    "take callers' addresses from X-Forwarded-For or Forwarded: true for one proxy in front, how many there are, or their networks (10.0.0.0/8)",
  ).default(false),
  metrics: z
    .strictObject({
      port: whole(1, MAX_PORT, 'serves /metrics for Prometheus on a port of its own').optional(),
      host: hostName('address that metrics.port listens on').default('127.0.0.1'),
      token: z
        .string()
        .min(MIN_SECRET_LENGTH, `must have at least ${MIN_SECRET_LENGTH} characters`)
        .regex(/^[\w.~+/=-]*$/, 'must be letters, digits and - . _ ~ + / = only')
        .meta({ secret: true })
        .optional()
        .describe(
          'bearer token asked for at /metrics; without metrics.port it opens /metrics on the port above',
        ),
    })
    .prefault({}),
  limits: z
    .strictObject({
      login_per_address: perMinute(10, 'sign-ins from one address'),
      login_per_identity: perMinute(5, 'sign-ins of one identity from one address'),
      login_per_identity_total: perMinute(100, 'sign-ins of one identity from all addresses'),
      recovery_per_address: perMinute(10, 'password recoveries from one address'),
      recovery_per_identity: perMinute(5, 'password recoveries of one identity from one address'),
      recovery_per_identity_total: perMinute(20, 'password recoveries of one identity from all addresses'),
      signup_per_address: perMinute(10, 'sign-ups from one address'),
      checkout_per_address: perMinute(30, 'public checkouts from one address'),
      claim_per_address: perMinute(10, "payers' claims from one address"),
      claim_per_invoice: perMinute(5, "payers' claims for one invoice"),
      claim_per_blockchain: perMinute(
        30,
        "payers' claims that have one blockchain asked; then one for each address, as many again",
      ),
      compose_per_address: perMinute(20, 'payments made for wallets to sign, from one address'),
      compose_per_blockchain: perMinute(
        30,
        'payments made for wallets to sign on one blockchain; then as for claims',
      ),
      explain_per_address: perMinute(120, 'searches for what a person has of a payment, from one address'),
      pages_per_address: perMinute(
        600,
        'public pages and pictures that are made for one address, and were not made before; as many at once, then evenly',
      ),
      streams_per_address: whole(
        0,
        1_000_000,
        'live streams of pages that are open from one address at once; 0 turns it off',
      ).default(200),
    })
    .prefault({}),
});

export type Settings = z.output<typeof settingsSchema>;

/** What the settings add to what is built in. */
export const customSchema = settingsSchema.pick({ custom_blockchains: true, custom_gateways: true });

/** The same schema with members for what the settings add. */
export const settingsSchemaFor = (catalogue: Catalogue): typeof settingsSchema =>
  catalogue === builtIn
    ? settingsSchema
    : settingsSchema.extend({
        wallets: walletSettings(catalogue),
        rates: rateSettings(catalogue),
        blockchains: providerSettings(catalogue),
        gateways: gatewaySettings(catalogue),
      });

/** Every single setting, in the order of the schema. */
export const settings: readonly Leaf[] = leavesOf(settingsSchema);
