// What providers were found to take at once, so that a start does not learn it by refusals again.
import { type Kysely, sql } from 'kysely';

export const compatible = false;

export async function up(query: Kysely<never>): Promise<void> {
  await sql
    .raw(`create table provider_limits (
      blockchain text not null,
      provider text not null,
      name text not null,
      value integer not null check (value >= 1),
      learnt_at integer not null,
      primary key (blockchain, provider, name)
    )`)
    .execute(query);
}
