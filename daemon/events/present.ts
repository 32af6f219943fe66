// Events as the wire shows them.
import type { z } from 'zod';
import { deliveriesOf } from '../../data/deliveries.ts';
import type { EventRow } from '../../data/schema/tables.ts';
import type { EventPublic } from '../../src/api/schemas/event.ts';
import type { App } from '../context.ts';

/** EventPublic of each, with the attempts to deliver it. */
export async function presentEvents(
  app: Pick<App, 'db'>,
  rows: readonly EventRow[],
): Promise<z.input<typeof EventPublic>[]> {
  const deliveries = await deliveriesOf(
    app.db.query,
    rows.map((row) => row.id),
  );
  return rows.map((row) => ({
    id: row.id,
    // What was sent, or would be; written by `webhookBody`.
    ...(JSON.parse(row.body) as Omit<z.input<typeof EventPublic>, 'id' | 'deliveries'>),
    deliveries: deliveries
      .filter((delivery) => delivery.event_id === row.id)
      .map(({ id, kind, url, status, http_status, error, duration_ms, created_at, finished_at }) => ({
        id,
        kind,
        url,
        status,
        http_status,
        error,
        duration_ms,
        created_at,
        finished_at,
      })),
  }));
}
