// How much of the processor each public GET may take, however it is asked for: in multiples of the simplest route, measured in turns
// with it in this run.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHttp, type Http } from '../../daemon/http/mount.ts';
import { routes } from '../../daemon/routes/routes.ts';
import type { Endpoint } from '../../src/api/describe/endpoint.ts';
import { verifies } from '../requirements.ts';
import { type Cast, exampleCall, openWorld, type World } from './world.ts';

/** Requests of one measurement, and measurements, of which the best counts: others share this machine. */
const REQUESTS = 24;
const ROUNDS = 5;

/**
 * How many times what `/livez` takes → the routes that may take so much for each request, on average, when all that a caller may
 * make up is something else each time and the clock advances. Raise one only where a caller gets something for it.
 */
const budgets: Record<number, string> = {
  6: 'getLiveness getHealth healthCheck metrics guide getPublicConfig getPublicInvoice getWebExit getTgExit getTransactionRequest payQrPng getWalletManifest currencyLogo logoImage faviconImage embedScript getLanding getAgentManifest getLlmsTxt getRobotsTxt getSitemap getDocs getRedoc docsAsset picture',
  12: 'getUnit detectIdentitySource listGateways getReadiness getInvoicePayment getCatalog payQrSvg payEvents unitCard payReceipt',
  // Rendered once for all looks and, where an invoice may change, in each second.
  18: 'payPage payDiv payShort unitDiv unitPage unitShort getConfirmationPage',
  // Coins are read before; a token is in what is rendered; the whole catalog is ranked by what is asked.
  24: 'coinsOnPage getResetPage searchCatalog',
  // A megabyte.
  30: 'getLlmsFullTxt getOpenApi',
};

const publicReads: readonly Endpoint[] = routes
  .map(({ endpoint }) => endpoint)
  .filter(({ auth, method }) => auth === 'none' && method === 'GET');

function budgetOf(id: string, taken: number): number {
  const found = Object.entries(budgets).find(([, ids]) => ids.split(' ').includes(id));
  if (!found)
    throw new Error(
      `${id} has no budget of the processor: add it to \`budgets\` above; it takes ${taken.toFixed(1)} times what /livez does`,
    );
  return Number(found[0]);
}

describe('the processor time', () => {
  let world: World;
  let cast: Cast;
  let http: Http;
  beforeAll(async () => {
    // Its share would keep one address from showing what it costs.
    world = await openWorld({ single: true, settings: { 'limits.pages_per_address': '0' } });
    cast = await world.cast();
    http = createHttp(world.service.app, routes);
  });
  afterAll(async () => {
    http.stop();
    await world.stop();
  });

  /** Without what tests usually do with an answer. Of a stream only the beginning is read. */
  async function send(path: string, at: number): Promise<void> {
    const { body } = await http.h3.fetch(
      new Request(`${world.service.app.config.public_url}${path}`, headersOf(at)),
    );
    const reader = body?.getReader();
    await reader?.read();
    await reader?.cancel();
  }

  test.each(publicReads.map((endpoint) => [endpoint.id, endpoint] as const))(
    'of %s stays within its budget',
    async (id, endpoint) => {
      verifies('public-get-budget');
      const ask = (at: number) => send(pathOf(endpoint, cast, at), at);
      const floor = (at: number) => send('/livez', at);
      for (let at = 0; at < REQUESTS; at++) await ask(at);
      await spent(floor);
      const floors: number[] = [];
      const costs: number[] = [];
      for (let round = 1; round <= ROUNDS; round++) {
        world.service.clock.advance(1);
        floors.push(await spent(floor));
        costs.push(await spent((at) => ask(round * REQUESTS + at)));
      }
      const usual = [...floors].sort((one, other) => one - other)[Math.floor(ROUNDS / 2)] ?? 1;
      const taken = Math.min(...costs) / usual;
      expect(taken, `${costs} against ${floors} microseconds`).toBeLessThanOrEqual(budgetOf(id, taken));
    },
  );
});

/** Microseconds of this process for some requests, one after the other. */
async function spent(ask: (at: number) => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  for (let at = 0; at < REQUESTS; at++) await ask(at);
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/** What is the same for all callers, and what a caller makes up: each time something else. */
function pathOf(endpoint: Endpoint, { values }: Cast, at: number): string {
  const example = { ...unlisted[endpoint.id], ...endpoint.example, query: {} };
  const { path } = exampleCall({ ...endpoint, example }, values);
  const query = Object.keys(endpoint.query ?? {}).flatMap((name) => {
    const make = madeUp[name];
    if (!make) throw new Error(`say what a caller may make up for ${name} of ${endpoint.id}`);
    const value = make(at);
    return value === undefined ? [] : [[name, value] as [string, string]];
  });
  return query.length > 0 ? `${path}?${new URLSearchParams(query)}` : path;
}

const one = <Value>(values: readonly Value[], at: number): Value => values[at % values.length] as Value;

const madeUp: Record<string, (at: number) => string | undefined> = {
  accent: (at) => ((at * 7_919_231) & 0xffffff).toString(16).padStart(6, '0'),
  radius: (at) => String(at % 25),
  width: (at) => String(180 + ((at * 37) % 1_000)),
  theme: (at) => one(['auto', 'light', 'dark'], at),
  size: (at) => one(['sm', 'md', 'desktop', 'mobile'], at),
  lang: (at) => one(['en', 'de', 'fa'], at),
  q: (at) => `webhook number ${at} did not arrive, or has the customer paid?`,
  limit: () => '50',
  token: (at) => `${'x'.repeat(100)}${at}`,
  kind: () => undefined,
  format: (at) => one(['json', 'markdown'], at),
  include_docs: (at) => one(['true', 'false'], at),
  include_hidden: (at) => one(['true', 'false'], at),
  brief: (at) => one(['true', 'false'], at),
};

/** Browsers of all kinds, which take what is compressed. */
const headersOf = (at: number) => ({
  headers: {
    accept: one(['text/html', '*/*'], at),
    'accept-encoding': one(['gzip', 'br', 'identity'], at),
    'accept-language': one(['de', 'en', 'ja'], at),
    'user-agent': one(['Mozilla/5.0 (iPhone) Mobi', 'Mozilla/5.0'], at),
  },
});

/** What the descriptions of the routes that no list names do not say. */
const unlisted: Record<string, Endpoint['example']> = {
  docsAsset: { params: { file: 'page.css' } },
  guide: { params: { name: 'run' } },
  picture: { params: { file: `${'ab'.repeat(16)}.png` } },
  unitCard: { params: { merchant_slug: '{merchant_slug}', unit_slug: '{unit_slug}' } },
};
