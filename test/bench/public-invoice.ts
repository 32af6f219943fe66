// Public invoices read per second, against a bare h3 route with one prepared select.
import { compare } from './measure.ts';
import { createBenchInvoice, startFloor, startWorld } from './world.ts';

export async function benchPublicInvoice(): Promise<void> {
  const floor = await startFloor();
  const world = await startWorld();
  const { home, daemon } = world;
  const { id } = await createBenchInvoice(world);
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
