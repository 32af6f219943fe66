// Invoices created per second, against a bare h3 route with one durable raw insert.
import { compare } from './measure.ts';
import { startFloor, startWorld } from './world.ts';

export async function benchCreate(): Promise<void> {
  const floor = await startFloor();
  const { home, daemon, key } = await startWorld();
  const body = JSON.stringify({ chain: 'ton', amount: '12.50', external_ref: 'order-1' });
  const headers = { 'content-type': 'application/json' };
  await compare(
    {
      name: 'POST /v1/invoices',
      url: daemon.url,
      method: 'POST',
      path: '/v1/invoices',
      headers: { ...headers, 'x-api-key': key },
      body,
    },
    {
      name: 'h3 with one durable insert',
      url: floor.url,
      method: 'POST',
      path: '/insert',
      headers,
      body: JSON.stringify({ text: 'x'.repeat(1200) }),
    },
    { ratio: 1, p99_ratio: 3 },
  );
  await home.remove();
  await floor.stop();
}
