// `gatewayd verify`: sound books break no law; each law that is broken by hand is named by its number.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { verifyInput } from '../../../daemon/verify/books.ts';
import { openSnapshot } from '../../../data/db/snapshot.ts';
import { lawNumbers, verifyLaws } from '../../../data/verify/verify.ts';
import { databases } from '../../helpers/database.ts';
import { verifies } from '../../requirements.ts';
import { breakBooks, breaks } from '../helpers/broken-books.ts';
import { makeSoundBooks, type SoundBooks } from '../helpers/sound-books.ts';

const MINUTE_MS = 60_000;

describe.each(databases)('verify on %s', (database) => {
  let books: SoundBooks;
  beforeAll(async () => {
    books = await makeSoundBooks(database);
  }, MINUTE_MS);
  afterAll(() => books.remove());

  const check = async (url: string) => {
    const snapshot = await openSnapshot(url);
    try {
      return await verifyLaws(await verifyInput(snapshot, books.config, books.now));
    } finally {
      await snapshot.close();
    }
  };

  test('nothing is wrong with what the daemon itself has written', async () => {
    verifies('verify-laws');
    const results = await check(books.url);
    expect(results.filter(({ ok }) => !ok)).toEqual([]);
    expect(results).toHaveLength(21);
  });

  test.each(breaks.filter(({ on = database }) => on === database))(
    'law $law is named where it alone is broken: $says',
    async (breaking) => {
      verifies('verify-laws');
      const copy = await breakBooks(books, breaking);
      onTestFinished(() => copy.remove());
      const broken = (await check(copy.url)).filter(({ ok }) => !ok);
      expect(broken.map(({ law }) => law)).toEqual([breaking.law]);
      const part = broken[0]?.broken.find(({ says }) => says.includes(breaking.says));
      expect(part, JSON.stringify(broken)).toMatchObject({ advice: expect.stringMatching(/.{20}/) });
      expect(part?.rows.length).toBe(Math.min(part?.count ?? 0, 20));
    },
  );

  test('an amount that waits for a blockchain that cannot be read is no broken law', async () => {
    verifies('verify-laws');
    const reserved = breaks.find(({ says }) => says === 'longer than it had to be');
    const copy = await breakBooks(books, {
      law: 15,
      says: '',
      async by({ run, now }) {
        if (typeof reserved?.by === 'string') await run(reserved.by);
        await run(`update invoices set watch_until = ${now + 5500} where reserved_until is not null`);
        await run(`update cursors set read_through = ${now - 5500} where blockchain = 'bitcoin'`);
      },
    });
    onTestFinished(() => copy.remove());
    const { broken } = (await check(copy.url)).find(({ law }) => law === 15) ?? {};
    expect(broken).toEqual([]);
  });

  test('every law is broken by at least one of these', () => {
    verifies('verify-laws');
    expect([...new Set(breaks.map(({ law }) => law))]).toEqual(lawNumbers);
  });
});
