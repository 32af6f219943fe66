// Search finds what people mean, in the words they use.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { verifies } from '../../requirements.ts';
import { intents } from './intents.ts';

const MIN_TOP_1 = 0.9;
const MIN_TOP_3 = 0.98;

describe('search', () => {
  let daemon: TestApp;
  beforeAll(async () => {
    daemon = await startApp();
  });
  afterAll(() => daemon.stop());

  const ask = async (parameters: Record<string, string>) =>
    daemon.fetch('GET', `/v1/search?${new URLSearchParams(parameters)}`);
  const idsOf = async (parameters: Record<string, string>): Promise<string[]> =>
    (await ask(parameters)).json.results.map(({ id }: { id: string }) => id);

  test('at least 200 intents, in four languages and with typing errors, name entries that exist', async () => {
    expect(intents.length).toBeGreaterThanOrEqual(200);
    expect(new Set(intents.map(({ query }) => query)).size).toBe(intents.length);
    expect(intents.filter(({ query }) => /\p{Script=Cyrillic}/u.test(query)).length).toBeGreaterThan(9);
    expect(intents.filter(({ query }) => /\p{Script=Han}/u.test(query)).length).toBeGreaterThan(9);
    const known = (await daemon.fetch('GET', '/v1/catalog?include_hidden=true')).json.entries.map(
      ({ id }: { id: string }) => id,
    );
    for (const { query, right } of intents) for (const id of right) expect(known, query).toContain(id);
  });

  test('the first result is right for 90 % of them, one of three for 98 %', async () => {
    const missed: string[] = [];
    let [first, three] = [0, 0];
    for (const { query, right, hidden } of intents) {
      const ids = await idsOf({ q: query, include_hidden: String(hidden) });
      const place = ids.findIndex((id) => right.includes(id));
      if (place === 0) first += 1;
      if (place >= 0 && place < 3) three += 1;
      else missed.push(`${query}: ${ids.slice(0, 3).join(', ')}`);
    }
    console.log(
      `search: top-1 ${((100 * first) / intents.length).toFixed(1)} %, top-3 ${((100 * three) / intents.length).toFixed(1)} % of ${intents.length}`,
    );
    expect(first / intents.length, missed.join('\n')).toBeGreaterThanOrEqual(MIN_TOP_1);
    expect(three / intents.length, missed.join('\n')).toBeGreaterThanOrEqual(MIN_TOP_3);
  });

  test('the two questions that shops ask most have their answer first', async () => {
    expect((await idsOf({ q: 'has my customer paid' }))[0]).toBe('getInvoice');
    expect((await idsOf({ q: 'webhook did not arrive' }))[0]).toBe('guide.webhooks');
  });

  test('a result has what is needed to call it', async () => {
    verifies('get-search');
    const { json } = await ask({ q: 'create an invoice', limit: '3' });
    expect(json).toMatchObject({ query: 'create an invoice', count: 3 });
    const [best] = json.results;
    expect(Object.keys(best).sort()).toEqual(['call', 'id', 'kind', 'score', 'snippet', 'title']);
    expect(best).toMatchObject({ id: 'createInvoice', kind: 'endpoint', call: { method: 'POST' } });
    expect(best.snippet.length).toBeGreaterThan(10);
    const scores = json.results.map(({ score }: { score: number }) => score);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
  });

  test('limit is 8 by default, from 1 to 50', async () => {
    verifies('get-search-limit');
    expect((await idsOf({ q: 'invoice' })).length).toBe(8);
    expect((await idsOf({ q: 'invoice', limit: '1' })).length).toBe(1);
    expect((await idsOf({ q: 'the invoice of a payment', limit: '50' })).length).toBeGreaterThan(8);
    for (const limit of ['0', '51', 'many']) expect((await ask({ q: 'invoice', limit })).status).toBe(422);
  });

  test('kind, include_docs and include_hidden choose what is searched', async () => {
    const { results } = (await ask({ q: 'invoice', kind: 'concept' })).json;
    expect(results.every(({ kind }: { kind: string }) => kind === 'concept')).toBe(true);
    expect(await idsOf({ q: 'resolve a stuck payment' })).not.toContain('resolvePayment');
    expect(await idsOf({ q: 'resolve a stuck payment', include_hidden: 'true' })).toContain('resolvePayment');
    // A word that only a full text has.
    expect(await idsOf({ q: 'timingSafeEqual' })).toEqual(['guide.webhooks', 'guide.return']);
    expect(await idsOf({ q: 'timingSafeEqual', include_docs: 'false' })).not.toContain('guide.webhooks');
  });

  test('an empty query gives the first entries, nonsense gives nothing', async () => {
    expect((await idsOf({}))[0]).toBe('flow.sell-with-invoice');
    expect((await ask({ q: '  ' })).json.count).toBe(8);
    expect((await ask({ q: 'zzzzqqqq xxyyzz' })).json).toMatchObject({ count: 0, results: [] });
    expect((await ask({ q: '🦆 <script> %00 \\' })).status).toBe(200);
    expect((await ask({ q: `${'word '.repeat(100)}`.slice(0, 500) })).status).toBe(200);
    expect((await ask({ q: 'x'.repeat(501) })).status).toBe(422);
  });
});
