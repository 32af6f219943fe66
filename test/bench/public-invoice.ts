// Public invoices read per second and answers of the health check, against a bare h3 route with one prepared select.
import { compare } from './measure.ts';
import { createBenchInvoice, startFloor, startWorld } from './world.ts';

export async function benchPublicInvoice(): Promise<void> {
  const floor = await startFloor();
  const world = await startWorld();
  const { home, daemon } = world;
  const { id } = await createBenchInvoice(world);
  const against = {
    name: 'h3 with one prepared select',
    url: floor.url,
    method: 'GET',
    path: '/select',
  } as const;
  for (const path of [`/v1/public/invoices/${id}`, '/health'])
    await compare(
      { name: `GET ${path.replace(id, '{id}')}`, url: daemon.url, method: 'GET', path },
      against,
      { ratio: 0.8 },
    );
  await home.remove();
  await floor.stop();
}
