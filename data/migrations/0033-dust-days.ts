// Dust of look-alike tokens is in no sum, and days that are older than the retention can be found to be added up.
import { type Kysely, sql } from 'kysely';
import type { Dialect } from '../db/database.ts';

/** As the columns were when this step was written. */
interface Counted {
  blockchain: string;
  chain: string;
  address_key: string;
  day: number;
  amount_atomic: string;
}

export const compatible = false;

export async function up(query: Kysely<never>, _dialect: Dialect): Promise<void> {
  await sql`create index transfers_dust on transfers (blockchain, address_key, chain, dust_day)
    where dust_day is not null`.execute(query);
  await sql`create index dust_by_age on dust (day)`.execute(query);
  const { rows } = await sql<Counted>`select blockchain, chain, address_key, dust_day as day, amount_atomic
    from transfers where dust_day is not null and ambiguous is not null and state <> 'gone'`.execute(query);
  const sums = new Map<string, Omit<Counted, 'amount_atomic'> & { count: number; amount: bigint }>();
  for (const { amount_atomic, ...of } of rows) {
    const key = JSON.stringify(of);
    const sum = sums.get(key) ?? { ...of, count: 0, amount: 0n };
    sums.set(key, { ...sum, count: sum.count + 1, amount: sum.amount + BigInt(amount_atomic) });
  }
  for (const { blockchain, chain, address_key, day, count, amount } of sums.values()) {
    const at = sql`blockchain = ${blockchain} and chain = ${chain} and address_key = ${address_key} and day = ${day}`;
    const { rows: found } = await sql<{
      amount_atomic: string;
    }>`select amount_atomic from dust where ${at}`.execute(query);
    const left = BigInt(found[0]?.amount_atomic ?? 0) - amount;
    await sql`update dust set count = count - ${count}, amount_atomic = ${left.toString()} where ${at}`.execute(
      query,
    );
  }
}
