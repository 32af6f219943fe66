// What providers were found to take at once: by blockchain, provider as messages name it, and limit.
import type { Executor } from './db/database.ts';
import type { ProviderLimitRow } from './schema/tables.ts';

/** Rows that are read and stored of one blockchain: a few for each provider that it ever had. */
const MOST_ROWS = 200;

/** The newest first. */
export const providerLimits = (query: Executor, blockchain: string): Promise<ProviderLimitRow[]> =>
  query
    .selectFrom('provider_limits')
    .selectAll()
    .where('blockchain', '=', blockchain)
    .orderBy('learnt_at', 'desc')
    .orderBy('provider')
    .orderBy('name')
    .limit(MOST_ROWS)
    .execute();

/** Stores one; providers that the settings name no more make room. */
export async function noteProviderLimit(query: Executor, row: ProviderLimitRow): Promise<void> {
  const { value, learnt_at } = row;
  await query
    .insertInto('provider_limits')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['blockchain', 'provider', 'name']).doUpdateSet({ value, learnt_at }),
    )
    .execute();
  const stored = await providerLimits(query, row.blockchain);
  const oldest = stored.length === MOST_ROWS ? stored.at(-1) : undefined;
  if (oldest)
    await query
      .deleteFrom('provider_limits')
      .where('blockchain', '=', row.blockchain)
      .where('learnt_at', '<', oldest.learnt_at)
      .execute();
}
