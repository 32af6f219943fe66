// A blockchain that cannot be read: what is refused, what gateways, choosers and pages say of it, and that it comes back.
import { describe, expect, onTestFinished, test } from 'vitest';
import { type LanguageCode, languageOf, languages } from '../../../daemon/checkout/language.ts';
import type { BlindnessKeeper } from '../../../daemon/observer/blindness.ts';
import { checkoutStates } from '../../../src/checkout.ts';
import { startApp, type TestApp, type TestAppOptions } from '../../helpers/app.ts';
import { type Database, databases } from '../../helpers/database.ts';
import { create } from '../../helpers/payments.ts';
import { silent, unreachable } from '../../helpers/reading.ts';
import { until } from '../../helpers/until.ts';
import { verifies } from '../../requirements.ts';
import { createUnit, everyState } from '../checkout/states.ts';

const HTML = { accept: 'text/html' };

async function open(database: Database, settings: TestAppOptions['settings'] = {}) {
  const provider = { is_away: false };
  const test = await startApp({
    single: true,
    database,
    settings,
    source: () => ({
      ...silent,
      use: (work) => (provider.is_away ? unreachable.use(work) : silent.use(work)),
    }),
  });
  onTestFinished(() => test.stop());
  await test.app.observer.watchReading();
  return { test, provider, merchant: await test.merchant() };
}

/** Without the marks that part what runs the other way. */
const plain = (text: string): string => text.replace(/[\u2066-\u2069]/g, '');

const answer = ({ app }: TestApp, blockchain: string) =>
  (app.blindness as BlindnessKeeper).answered(blockchain);

/** Nothing is read for longer than a minute, of any blockchain but TON. */
async function turnBlind(test: TestApp): Promise<void> {
  const { app, clock } = test;
  for (let each = 0; each < 20; each++) {
    clock.advance(5);
    answer(test, 'ton');
    await app.observer.watchReading();
  }
}

const gatewaysOf = async (test: TestApp) => {
  const { json } = await test.fetch('GET', '/v1/gateways');
  return (chain: string) => json.data.find((one: { chain: string }) => one.chain === chain);
};

describe.each(databases)('a blockchain that cannot be read, on %s', (database) => {
  test('takes no new invoice or purchase; others do, and it does again once it is read', async () => {
    verifies('blind-refused', 'blind-shown');
    const { test, merchant } = await open(database, { demo: false });
    const { id: unit_id } = await createUnit({ test, merchant });
    const paths = [
      ['/v1/invoices', { key: merchant.key }, { amount: '5' }],
      [`/v1/units/${unit_id}/checkout`, {}, {}],
    ] as const;
    const refusals = async (chain: string) => {
      const codes: (string | undefined)[] = [];
      for (const [path, call, body] of paths) {
        const reply = await test.fetch('POST', path, { ...call, body: { chain, ...body } });
        codes.push(reply.json.code);
        if (reply.json.code !== 'provider_unavailable') continue;
        expect(reply.status).toBe(503);
        expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
        expect(reply.json).toMatchObject({ hint: expect.stringContaining('/v1/gateways') });
      }
      return codes;
    };
    const before = test.clock.now();
    const sees = await refusals('solana');
    expect(sees).not.toContain('provider_unavailable');
    await turnBlind(test);
    expect(await refusals('solana')).toEqual(paths.map(() => 'provider_unavailable'));
    expect(await refusals('ton')).toEqual(sees);
    const gateway = await gatewaysOf(test);
    expect(gateway('solana')).toMatchObject({
      available: false,
      unavailable_since: before,
      simulate_only: false,
    });
    expect(gateway('ton')).toMatchObject({ available: true, unavailable_since: null, simulate_only: false });
    answer(test, 'solana');
    expect((await gatewaysOf(test))('solana')).toMatchObject({ available: true, unavailable_since: null });
    expect(await refusals('solana')).toEqual(sees);
  });

  test('is simulated only in demo mode, and says so', async () => {
    verifies('blind-refused', 'blind-shown');
    const { test, merchant } = await open(database);
    const { id: unit_id } = await createUnit({ test, merchant });
    await turnBlind(test);
    expect((await gatewaysOf(test))('solana')).toMatchObject({ available: false, simulate_only: true });
    const { id } = await create(test, merchant, 'solana');
    const page = await test.fetch('GET', `/pay/${id}?lang=en`, { headers: HTML });
    expect(page.text).toContain('Simulation only: we can’t see the Solana network');
    const chooser = await test.fetch('GET', `/v1/units/${unit_id}/page?lang=en`, { headers: HTML });
    expect(chooser.text).toContain('Simulation only');
    expect(chooser.text).not.toMatch(/<button[^>]* disabled/);
    const simulated = await test.fetch('POST', `/v1/invoices/${id}/simulate`, { key: merchant.key });
    expect(simulated.json.status).toBe('confirmed');
  });

  test('is named in every language by the chooser and by pages that wait, at once on those that are open', async () => {
    verifies('blind-shown', 'readiness');
    const { test, merchant } = await open(database, { demo: false });
    const { id: unit_id } = await createUnit({ test, merchant });
    const { id } = await create(test, merchant, 'solana');
    const gone = new AbortController();
    onTestFinished(() => gone.abort());
    const { body } = await test.app.checkout.follow(id, { ip: '127.0.0.1', closing: gone.signal });
    const reader = body.stream().getReader();
    const versionNow = async () => {
      const { value } = await reader.read();
      return /"version":"([^"]+)"/.exec(Buffer.from(value ?? []).toString())?.[1];
    };
    expect(await versionNow()).not.toContain('blind');
    const open_page = await test.fetch('GET', `/pay/${id}?lang=en`, { headers: HTML });
    expect(open_page.text).toContain('updates automatically');
    await turnBlind(test);
    expect(await versionNow()).toContain('blind');
    for (const code of Object.keys(languages) as LanguageCode[]) {
      const lang = languageOf(code);
      const page = await test.fetch('GET', `/pay/${id}?lang=${code}`, { headers: HTML });
      const sentence = plain(lang.say('blind', { network: 'Solana' }));
      expect(plain(page.text), code).toContain(sentence);
      expect(page.text).toContain('http-equiv="refresh"');
      const chooser = await test.fetch('GET', `/v1/units/${unit_id}/page?lang=${code}`, { headers: HTML });
      expect(chooser.text, code).toContain(lang.say('unavailable'));
      expect(chooser.text).toMatch(/<button[^>]* value="solana" disabled/);
      expect(chooser.text).not.toMatch(/<button[^>]* value="ton" disabled/);
    }
    const blind_page = await test.fetch('GET', `/pay/${id}?lang=en`, { headers: HTML });
    expect(blind_page.text).not.toContain('updates automatically');
    answer(test, 'solana');
    await until(
      'the open page hears of it',
      async () => !(await versionNow())?.includes('blind') || undefined,
    );
  });

  test('without an invoice and with a provider that answers is idle at every door, and well', async () => {
    verifies('sight-one-rule');
    const { test } = await open(database);
    const { token } = await test.superuser();
    const words = async () => {
      const ready = await test.fetch('GET', '/readyz');
      const seen = await test.fetch('GET', '/api/v1/admin/observers', { token });
      const wordsOf = (list: { blockchain: string; status: string }[]) =>
        Object.fromEntries(list.map(({ blockchain, status }) => [blockchain, status]));
      const doors = [wordsOf(ready.json.blockchains), wordsOf(seen.json.observers)];
      expect(doors[0]).toEqual(doors[1]);
      return new Set(Object.values(doors[0] ?? {}));
    };
    expect(await words()).toEqual(new Set(['starting']));
    for (const { blockchain } of test.app.observer.status()) answer(test, blockchain);
    expect(await words()).toEqual(new Set(['idle']));
    await turnBlind(test);
    expect(await words()).toEqual(new Set(['blind', 'idle']));
  });

  test('is shown by readiness, which it leaves as it is, with how far each was read', async () => {
    verifies('readiness');
    const { test, merchant } = await open(database);
    await turnBlind(test);
    await create(test, merchant, 'ton');
    const { status, json } = await test.fetch('GET', '/readyz');
    expect(status).toBe(200);
    expect(json).toMatchObject({ ready: true, database: 'ok', migrations: 'ok', draining: false });
    const of = (blockchain: string) =>
      json.blockchains.find((one: { blockchain: string }) => one.blockchain === blockchain);
    expect(of('solana')).toMatchObject({ status: 'blind', unavailable_since: expect.any(Number) });
    expect(of('ton')).toMatchObject({ status: 'starting', unavailable_since: null, lag_seconds: null });
    await test.app.db.query
      .updateTable('cursors')
      .set({ last_ok_at: test.clock.now() - 7, tip_time: test.clock.now() - 900 })
      .where('blockchain', '=', 'ton')
      .execute();
    const later = await test.fetch('GET', '/readyz');
    if (database === 'postgres')
      expect(later.json.blockchains).toContainEqual({
        blockchain: 'ton',
        status: 'ok',
        unavailable_since: null,
        lag_seconds: 7,
        tip_age_seconds: 900,
      });
    test.app.instance.drain();
    expect(await test.fetch('GET', '/readyz')).toMatchObject({
      status: 503,
      json: { code: 'draining', ready: false, draining: true, database: 'ok' },
    });
    expect((await test.fetch('GET', '/livez')).status).toBe(200);
    await test.app.db.close();
    expect(await test.fetch('GET', '/readyz')).toMatchObject({
      status: 503,
      json: { ready: false, database: 'unreachable', migrations: 'unknown' },
    });
    expect((await test.fetch('GET', '/livez')).status).toBe(200);
  });
});

test('pages of what is paid or over do not speak of it', async () => {
  verifies('blind-shown');
  const { test, merchant } = await open('sqlite', { demo: false });
  const ids = await everyState({ test, merchant });
  await turnBlind(test);
  const speaking: string[] = [];
  for (const state of checkoutStates) {
    const { text } = await test.fetch('GET', `/pay/${ids[state]}?lang=en`, { headers: HTML });
    if (plain(text).includes('see the Solana network'))
      speaking.push(/data-state="(\w+)"/.exec(text)?.[1] ?? '');
  }
  expect([...new Set(speaking)].sort()).toEqual(['closing', 'orphaned', 'seen', 'underpaid', 'waiting']);
});
