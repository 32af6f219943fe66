// Blockchains that cannot be read: when they count as blind, who hears of it, and that they come back.
import { describe, expect, onTestFinished, test } from 'vitest';
import type { BlindnessChange } from '../../../daemon/observer/blindness.ts';
import type { RpcSource } from '../../../daemon/observer/providers/rpc.ts';
import { type Page, ProviderError } from '../../../src/chains/family.ts';
import { startApp, type TestApp, type TestAppOptions } from '../../helpers/app.ts';
import { systemClock } from '../../helpers/clock.ts';
import { type Database, databases, newDatabase } from '../../helpers/database.ts';
import { doubleFamily } from '../../helpers/family.ts';
import { create, fundedMerchant } from '../../helpers/payments.ts';
import { hasPostgres } from '../../helpers/postgres.ts';
import { silent, unreachable } from '../../helpers/reading.ts';
import { until } from '../../helpers/until.ts';
import { verifies } from '../../requirements.ts';

/** A provider that is there or away, as the test says. */
function provider() {
  const state = { is_away: false };
  const source: RpcSource = {
    ...silent,
    use: (work) => (state.is_away ? unreachable.use(work) : silent.use(work)),
  };
  return { state, source };
}

async function openDatabase(database: Database): Promise<string> {
  const { url, remove } = await newDatabase(database);
  onTestFinished(remove);
  return url;
}

async function daemon(database_url: string, options: TestAppOptions): Promise<TestApp> {
  const test = await startApp({ database_url, ...options });
  onTestFinished(() => test.stop());
  return test;
}

/** Time passes for a daemon that runs. */
async function pass({ app, clock }: TestApp, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    clock.advance(1);
    await app.observer.watchReading();
  }
}

/** A reading that breaks off after its first page. */
function cutOff(page: Page): Page[] {
  function* pages() {
    yield page;
    throw new ProviderError('unreachable', 'cut off');
  }
  return Object.assign([page], { [Symbol.iterator]: pages });
}

const changesOf = ({ app }: TestApp): BlindnessChange[] => {
  const changes: BlindnessChange[] = [];
  app.blindness.onChange((change) => changes.push(change));
  return changes;
};

describe.each(databases)('a blockchain on %s', (database) => {
  const open = async (options: TestAppOptions = {}) => {
    const test = await daemon(await openDatabase(database), options);
    await test.app.observer.watchReading();
    return test;
  };

  test('is blind after a minute without a reading, three pauses where those are longer, and back with the next', async () => {
    verifies('blind-chain', 'blind-start');
    const test = await open({
      source: () => silent,
      settings: { 'gateways.bitcoin.poll_interval_seconds': '60' },
    });
    const changes = changesOf(test);
    const { blindness, observer } = test.app;
    const began = test.clock.now();
    await pass(test, 55);
    await observer.poll('solana');
    await pass(test, 4);
    expect(blindness.all()).toEqual([]);
    // A daemon that reads nothing on its own waits for the others' word, too.
    await pass(test, database === 'sqlite' ? 2 : 22);
    expect(blindness.of('ton')).toBe(began);
    expect(blindness.of('solana')).toBeNull();
    expect(blindness.of('bitcoin')).toBeNull();
    await pass(test, 190);
    expect(blindness.of('bitcoin')).toBe(began);
    expect(blindness.of('solana')).toBe(began + 55);
    await observer.poll('ton');
    expect(blindness.of('ton')).toBeNull();
    expect(changes.filter(({ blockchain }) => blockchain === 'ton')).toEqual([
      { blockchain: 'ton', since: began, is_blind: true },
      { blockchain: 'ton', since: began, is_blind: false },
    ]);
    const alerts = test.log.filter((line) => line.includes('"alert":"blind"') && line.includes('"ton"'));
    expect(alerts).toHaveLength(2);
  });

  test('is neither blinded nor hidden by a clock that is set, nor blinded while the process stands still', async () => {
    verifies('blind-clock');
    const test = await open();
    const { blindness } = test.app;
    for (const seconds of [-86_400, 2 * 86_400, -86_400]) {
      test.clock.step(seconds);
      await pass(test, 10);
    }
    test.clock.freeze(3_600);
    await test.app.observer.watchReading();
    expect(blindness.all()).toEqual([]);
    for (let minute = 0; minute < 4; minute++) {
      test.clock.step(-60);
      await pass(test, 15);
    }
    expect(blindness.of('ton')).not.toBeNull();
  });

  test('that was blind stays so over a start until it is read', async () => {
    verifies('blind-start');
    const url = await openDatabase(database);
    const settings = { blind_after_seconds: '1', 'gateways.ton.poll_interval_seconds': '1' };
    const before = await startApp({ database_url: url, database, settings, clock: systemClock, start: true });
    const since = await until('it is blind', async () => before.app.blindness.of('ton') ?? undefined);
    await until('the others could know', async () =>
      before.app.db.query
        .selectFrom('cursors')
        .select('blind_since')
        .where('blockchain', '=', 'ton')
        .executeTakeFirst(),
    );
    await before.stop();
    const after = await daemon(url, { database, settings, clock: systemClock, source: () => silent });
    expect(after.app.blindness.of('ton')).toBe(since);
    after.app.start();
    await until('it is read', async () => after.app.blindness.of('ton') === null || undefined);
  });

  test('whose provider gives its tip and no more is blind, and one that reads far back is not', async () => {
    verifies('blind-chain');
    const ton = doubleFamily('ton');
    const test = await open({ source: () => ton.source });
    await create(test, await fundedMerchant(test), 'ton');
    const tip = { height: 1, hash: null, time: test.clock.now() };
    let cursor: number | undefined = 1;
    ton.read = async () =>
      cutOff(cursor === undefined ? { transfers: [], tip } : { transfers: [], tip, cursor });
    const readAndPass = async () => {
      for (let each = 0; each < 16; each++) {
        await expect(test.app.observer.poll('ton')).rejects.toThrow('cut off');
        await pass(test, 5);
      }
    };
    await readAndPass();
    expect(test.app.blindness.of('ton')).toBeNull();
    cursor = undefined;
    await readAndPass();
    expect(test.app.blindness.of('ton')).not.toBeNull();
  });
});

test.skipIf(!hasPostgres)(
  'daemons on one database agree, whichever of them reads, and one that joins knows at once',
  async () => {
    verifies('blind-chain', 'blind-start');
    const url = await openDatabase('postgres');
    const { state, source } = provider();
    const options: TestAppOptions = {
      clock: systemClock,
      source: () => source,
      start: true,
      settings: {
        blind_after_seconds: '2',
        'gateways.ton.poll_interval_seconds': '1',
        'gateways.ton-usdt.poll_interval_seconds': '1',
      },
    };
    const daemons = [await daemon(url, options), await daemon(url, options)];
    const answers = () => daemons.map(({ app }) => app.blindness.of('ton'));
    const reads = () => daemons.map(({ app }) => app.observer.reads().includes('ton'));
    await until('one reads', async () => reads().filter(Boolean).length === 1 || undefined);
    const changes = daemons.map(changesOf);
    state.is_away = true;
    await until('all know', async () => answers().every((since) => since !== null) || undefined);
    await until('all say the same', async () => new Set(answers()).size === 1 || undefined);
    const joined = await daemon(url, { ...options, start: false });
    expect(joined.app.blindness.of('ton')).toBe(answers()[0]);
    state.is_away = false;
    await until('all are back', async () => answers().every((since) => since === null) || undefined);
    for (const each of changes)
      expect(each.filter(({ blockchain }) => blockchain === 'ton').map(({ is_blind }) => is_blind)).toEqual([
        true,
        false,
      ]);
  },
  60_000,
);
