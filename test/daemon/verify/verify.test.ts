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

  test.each([
    ['its blockchain', `update cursors set last_error_at = last_ok_at - 1`],
    [
      'its account',
      `insert into account_proofs (blockchain, address_key, chain, account, read_through, failures, updated_at)
        select i.blockchain, i.address_key, i.chain, i.address_key, c.last_ok_at, 0, c.last_ok_at
        from invoices i join cursors c on c.blockchain = i.blockchain where i.id = OVERDUE`,
    ],
  ])('an invoice is not open for too long where %s is read again only now', async (_, read) => {
    verifies('verify-laws');
    const overdue = breaks.find(({ says }) => says === 'read past its end');
    const brokenBy = async (more: readonly string[]) => {
      const copy = await breakBooks(books, {
        law: 12,
        says: '',
        async by({ run, id }) {
          if (typeof overdue?.by === 'string') await run(overdue.by);
          const is_overdue = `(select id from invoices where status = 'created' order by expires_at limit 1)`;
          const name = `'${await id(is_overdue)}'`;
          for (const statement of more) await run(statement.replaceAll('OVERDUE', name));
        },
      });
      onTestFinished(() => copy.remove());
      const { broken } = (await check(copy.url)).find(({ law }) => law === 12) ?? {};
      return broken?.map(({ says }) => says);
    };
    expect(await brokenBy([read])).toEqual([]);
    // What the clock has ended after it shows that the account is proved for long.
    const neighbour = `update invoices set blockchain = o.blockchain, chain = o.chain, address_key = o.address_key,
        expires_at = o.expires_at, created_at = o.created_at
      from (select * from invoices where id = OVERDUE) o where invoices.status = 'expired'`;
    const of_clock = `update payment_logs set created_at = (select max(last_ok_at) from cursors) - 1500
      where actor = 'clock' and to_status = 'expired'`;
    expect(await brokenBy([read, neighbour, of_clock])).toEqual([
      expect.stringContaining('read past its end'),
    ]);
  });

  test('every law is broken by at least one of these', () => {
    verifies('verify-laws');
    expect([...new Set(breaks.map(({ law }) => law))]).toEqual(lawNumbers);
  });
});
