// Every operation with many requests that one seed decides: never a failure of ours, never a secret given away.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { routes } from '../../daemon/routes/routes.ts';
import type { Endpoint } from '../../src/api/describe/endpoint.ts';
import { gatewaysOf } from '../../src/chains/gateways.ts';
import type { Reply, ServiceCall } from '../helpers/app.ts';
import { address, wallets } from '../helpers/people.ts';
import { MARK, type Pool, requestFor, sweep, toolCall } from './generate.ts';
import { type Random, seeded } from './random.ts';
import {
  type Cast,
  configuredSecrets,
  openWorld,
  PLATFORM_KEY,
  type PlainCall,
  rightful,
  type World,
} from './world.ts';

/** Random requests to each operation; `npm run fuzz` sends a thousand, and `FUZZ_SEED=… npm run fuzz` others. */
const SEED = process.env.FUZZ_SEED ?? '1';
const USUAL_CASES = 30;
const CASES = Number(process.env.FUZZ_CASES ?? USUAL_CASES);
/** Each field meets one of so many of the hostile values; all of them where more cases are asked for. */
const SHARE = CASES > USUAL_CASES ? 1 : 4;
/** Requests to each operation that are right in everything, before those that chance makes. */
const SOUND_CASES = 5;
/** Passwords are hashed in some of them, on a machine that may have much else to do. */
const LIMIT_MS = 180_000;

/** What ends somebody's credentials, hashes a password or writes a mail passes seldom. */
const mixtures = {
  usual: { sound: 0.25, spoilt: 0, rightful: 0.8 },
  dear: { sound: 0.02, spoilt: 0.85, rightful: 0.05 },
};
const dear =
  /password|signup|createUser|updateUser|deleteUser|deleteMe|rotate|loginAccessToken|testEmail|sendEmail|resend|Png/i;
/** After which somebody's credentials are no longer good. */
const ending = /updateMyPassword|resetPassword|confirmEmail|updateUser|deleteUser|deleteMe|rotate/;
/** How likely the credentials are the right ones, where a body decides what happens. */
const RIGHTFUL = 0.8;
/** Refusals of 500 and above that a caller must expect; each operation says which of them are its own. */
const expectable = ['no_rate', 'provider_unavailable', 'too_many_streams'];
/** Absent for a caller who guesses: metrics need a token of the settings, pictures and guides a name. */
const absent = new Set(['metrics', 'picture', 'guide']);
/** Whose answers show a key, a token or a webhook secret to whom it belongs. */
const showing = new Set([
  'getMerchantAccount',
  'updateMerchantAccount',
  'rotateApiKey',
  'loginAccessToken',
  'loginGoogle',
  'loginTelegram',
  'getResetPage',
  'getConfirmationPage',
  'recoverPasswordHtml',
  'mcp',
]);

const operations = routes.map(({ endpoint }) => endpoint);
const tags = [...new Set(operations.map(({ tag }) => tag))];

let world: World;
const open = async () => {
  world = await openWorld({
    settings: Object.fromEntries(
      ['login', 'recovery', 'signup', 'checkout'].map((name) => [`limits.${name}_per_address`, '0']),
    ),
  });
};

describe.each(tags)('what is sent to %s', (tag) => {
  beforeAll(open);
  afterAll(() => world.stop());

  const here = operations.filter((endpoint) => endpoint.tag === tag);
  test.each(here.map((endpoint) => [endpoint.id, endpoint] as const))(
    '%s survives it',
    async (id, endpoint) => {
      const random = seeded(`${SEED} ${id}`);
      const { log } = world.service;
      log.length = 0;
      let cast = await world.cast();
      let accepted = 0;
      let index = 0;
      for (const [call, who] of requests(random, endpoint, () => cast)) {
        const label = `case ${index++} of ${id}`;
        const { status } = await sendAndCheck(label, endpoint, call, who, secretsOf(cast));
        if (status >= 400 && status !== 503) continue;
        accepted++;
        // Who was deleted or changed may no longer call.
        if (ending.test(id)) cast = await world.cast();
      }
      expect(index).toBeGreaterThanOrEqual(CASES);
      if (absent.has(id)) expect(accepted).toBe(0);
      else expect(accepted, 'some requests must get through to the handler').toBeGreaterThan(0);
      const lines = (text: string) => log.filter((line) => line.includes(text));
      expect(lines('"level":"error"'), `FUZZ_SEED=${SEED}`).toEqual([]);
      for (const secret of [MARK, ...secretsOf(cast)]) expect(lines(secret), `FUZZ_SEED=${SEED}`).toEqual([]);
    },
    LIMIT_MS,
  );
});

describe('what is sent to no endpoint', () => {
  beforeAll(open);
  afterAll(() => world.stop());

  test('paths that are not served are refused without repeating them', async () => {
    const random = seeded(`${SEED} paths`);
    const parts = [
      'v1',
      'api',
      'invoices',
      '..',
      '.',
      '',
      '%2e%2e',
      '%00',
      '%ff',
      '%',
      '\\',
      'a'.repeat(3000),
      '*',
      ':id',
      '{}',
      'admin',
      MARK,
      '@',
      ';',
      '🪙',
    ];
    for (let index = 0; index < CASES; index++) {
      const path = `/x/${Array.from({ length: 1 + random.below(6) }, () => random.pick(parts)).join('/')}?api_key=${MARK}`;
      const method = random.pick(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'PROPFIND']);
      const { status, text } = await world.service.fetch(method, path);
      expect([200, 204, 401, 404, 405, 422], path).toContain(status);
      expect(text).not.toContain(MARK);
    }
  });
});

/** First what is right, then what is wrong in one place, then what chance makes. */
function* requests(
  random: Random,
  endpoint: Endpoint,
  cast: () => Cast,
): Generator<[PlainCall, ServiceCall]> {
  const { id, auth, body } = endpoint;
  const pool = () => poolOf(cast());
  if (id !== 'mcp')
    for (let each = 0; each < SOUND_CASES; each++)
      yield [requestFor(random, endpoint, pool(), { sound: 1, spoilt: 0 }), rightful(auth, cast())];
  if (id !== 'mcp')
    for (const call of sweep(random, endpoint, pool, SHARE)) yield [call, rightful(auth, cast())];
  const mixture = mixtures[dear.test(id) ? 'dear' : 'usual'];
  for (let each = 0; each < CASES; each++) {
    const call = id === 'mcp' ? toolCall(random, pool()) : requestFor(random, endpoint, pool(), mixture);
    const right = random.chance(body || auth === 'none' ? RIGHTFUL : mixture.rightful);
    yield [call, right ? rightful(auth, cast()) : someone(random, cast())];
  }
}

async function sendAndCheck(
  label: string,
  endpoint: Endpoint,
  call: PlainCall,
  who: ServiceCall,
  secrets: readonly string[],
): Promise<Reply> {
  const { method, path, headers, ...rest } = call;
  const described = () =>
    `FUZZ_SEED=${SEED}, ${label}: ${JSON.stringify({ ...call, ...who }).slice(0, 3000)}`;
  const answer = await world.service
    .fetch(method, path, { ...rest, ...who, headers: { ...headers, ...who.headers } })
    .catch((error) => {
      throw new Error(`${described()}\n${error instanceof Error ? error.message : error}`);
    });
  if (answer.status >= 500 && !expectable.includes(answer.json?.code))
    expect.fail(`${described()}\n${answer.status} ${answer.text}`);
  if (answer.status < 400 && showing.has(endpoint.id)) return answer;
  const leaked = [MARK, ...secrets].find((secret) => answer.text.includes(secret));
  if (leaked !== undefined) expect.fail(`${described()}\n${leaked} leaked: ${answer.text.slice(0, 3000)}`);
  return answer;
}

const secretsOf = ({ owner, other, operator, values }: Cast): string[] => [
  ...configuredSecrets,
  values.password ?? '',
  owner.key,
  other.key,
  owner.token,
  other.token,
  operator.token,
];

/** Credentials that are no one's, or somebody else's. */
const someone = (random: Random, { owner, other, operator }: Cast): ServiceCall =>
  random.pick<ServiceCall>([
    {},
    { token: MARK },
    { token: `${operator.token}x` },
    { token: `${MARK}.`.repeat(300) },
    { token: owner.token },
    { token: other.token },
    { headers: { authorization: 'Bearer' } },
    { headers: { authorization: `bearer  ${MARK} ${MARK}` } },
    { headers: { authorization: 'Bearer \u00ff\u00fe' } },
    { key: `gw_${MARK}` },
    { key: `gw_${MARK.repeat(100)}` },
    { key: other.key },
    { key: PLATFORM_KEY },
    { headers: { 'x-api-key': `${owner.key}, ${owner.key}` } },
  ]);

const gateways = gatewaysOf('testnet');

/** Values that exist in the world, so that requests get past the first look-up. */
const poolOf = ({ owner, other, operator, values }: Cast): Pool => ({
  chain: gateways.map(({ chain }) => chain),
  currencies: gateways.flatMap(({ chain, currency }) => [chain, currency]),
  enabled_currencies: [[], ['TON'], ['BTC', 'usdt', 'ton'], null],
  blockchain: Object.keys(wallets),
  address: Object.values(wallets),
  amount: ['1', '12.50', 3, '0.001', 999_999_999],
  amount_usd: ['1', 4.5, '999999999'],
  prepaid_usd: [1, '0.5', 1000],
  invoice_id: [values.invoice_id, values.paid_invoice_id, owner.id],
  payment_id: [values.paid_invoice_id, owner.id],
  after: [values.invoice_id, values.event_id],
  unit_id: [values.unit_id],
  event_id: [values.event_id],
  contradiction_id: [values.contradiction_id],
  daemon_id: [values.daemon_id],
  user_id: [owner.id, other.id, operator.id],
  owner_id: [owner.id],
  merchant_slug: [values.merchant_slug],
  unit_slug: [values.unit_slug],
  email: [values.email, address()],
  username: [values.email],
  password: [values.password, `${MARK} ${MARK}`],
  current_password: [values.password],
  new_password: [`${MARK} new`],
  token: [values.recovery_token, values.email_token, MARK],
  id_token: [values.google_id_token, `${MARK.repeat(3)}.a.b`],
  id: [Number(values.telegram_id)],
  auth_date: [Number(values.telegram_auth_date)],
  hash: [values.telegram_hash, MARK.repeat(3)],
  first_name: ['Ada'],
  webhook_url: [values.webhook_url, null],
  callback_url: [values.webhook_url, null],
  webhook_secret: [`whsec_${MARK}`, MARK, null],
  slug: [`fuzz-${values.merchant_slug}`],
  grant_type: ['password'],
  status: ['created', 'confirmed', 'held', 'unmatched'],
  kind: ['sale', 'refill', 'flow'],
  email_to: ['ada@example.com'],
  q: [values.email, 'create an invoice'],
  file: ['ton.svg', 'page.css'],
  from_date: ['2026-01-01'],
  to_date: ['2026-12-31'],
  txid: ['a'.repeat(64), null],
  account: [values.payer],
});
