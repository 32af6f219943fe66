// The ranges that were read: what overlaps or touches is one, on both databases.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addRange } from '../../data/cursors.ts';
import { startApp, type TestApp } from '../helpers/app.ts';
import { databases } from '../helpers/database.ts';

describe.each(databases)('ranges read, on %s', (database) => {
  let test: TestApp;

  beforeAll(async () => {
    test = await startApp({ database });
  });
  afterAll(() => test.stop());

  let scopes = 0;
  /** What is recorded after these ranges, in their order. */
  async function recorded(...ranges: [from: number, to: number][]): Promise<[number, number][]> {
    const scope = `scope ${++scopes}`;
    const { db } = test.app;
    for (const [from, to] of ranges)
      await db.transaction((tx) => addRange(tx, 'bitcoin', { scope, from, to }, test.clock.now()));
    const rows = await db.query
      .selectFrom('read_ranges')
      .selectAll()
      .where('scope', '=', scope)
      .orderBy('from_position')
      .execute();
    return rows.map((row) => [row.from_position, row.to_position]);
  }

  it('grow at their end and at their beginning', async () => {
    expect(await recorded([5, 5], [6, 6], [6, 9])).toEqual([[5, 9]]);
    expect(await recorded([5, 9], [1, 4])).toEqual([[1, 9]]);
  });

  it('stay apart over a gap', async () => {
    expect(await recorded([1, 3], [7, 9])).toEqual([
      [1, 3],
      [7, 9],
    ]);
  });

  it('join when the gap between them is filled, or all of them are read again', async () => {
    expect(await recorded([1, 3], [7, 9], [4, 6])).toEqual([[1, 9]]);
    expect(await recorded([1, 3], [7, 9], [12, 13], [2, 20])).toEqual([[1, 20]]);
    expect(await recorded([1, 3], [7, 9], [1, 7])).toEqual([[1, 9]]);
  });

  it('never shrink when a part of them is read again', async () => {
    expect(await recorded([1, 9], [1, 4], [3, 9], [5, 6])).toEqual([[1, 9]]);
  });
});
