// Which invoices may wait for blocks where seconds are meant: those that were made by then. The daemon knows what each gateway asks for.
import { type Kysely, sql } from 'kysely';

export const compatible = false;

export async function up(query: Kysely<never>): Promise<void> {
  await sql`insert into meta (name, value) select 'untimed_until', cast(max(created_at) as text) from invoices
    having max(created_at) is not null`.execute(query);
}
