// Public invoices read per second, against a bare h3 route with one prepared select.
import { compare } from './measure.ts';
import { startFloor, startWorld } from './world.ts';

export async function benchPublicInvoice(): Promise<void> {
  const floor = await startFloor();
  const { home, daemon, key } = await startWorld();
  const created = await fetch(`${daemon.url}/v1/invoices`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ chain: 'ton', amount: '12.50' }),
  });
  const { id } = (await created.json()) as { id: string };
  await compare(
    {
      name: 'GET /v1/public/invoices/{id}',
      url: daemon.url,
      method: 'GET',
      path: `/v1/public/invoices/${id}`,
    },
    { name: 'h3 with one prepared select', url: floor.url, method: 'GET', path: '/select' },
  );
  await home.remove();
  await floor.stop();
}
