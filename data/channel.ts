// A word to the daemons that share a database; it changes no row.
import { CompiledQuery } from 'kysely';
import type { Channel, Executor } from './db/database.ts';

/** Sends to all that listen now; `payload` of up to 8,000 bytes. */
export async function sendMessage(query: Executor, channel: Channel, payload: string): Promise<void> {
  await query.executeQuery(CompiledQuery.raw(channel.send, [payload]));
}
