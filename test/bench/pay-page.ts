// Pay pages rendered per second, against a bare h3 route with one prepared select.
import { compare } from './measure.ts';
import { createBenchInvoice, startFloor, startWorld } from './world.ts';

export async function benchPayPage(): Promise<void> {
  const floor = await startFloor();
  const world = await startWorld();
  const { id } = await createBenchInvoice(world);
  const against = {
    name: 'h3 with one prepared select',
    url: floor.url,
    method: 'GET',
    path: '/select',
  } as const;
  const page = { url: world.daemon.url, method: 'GET', path: `/pay/${id}` } as const;
  await compare({ ...page, name: 'GET /pay/{id}' }, against);
  await compare({ ...page, name: 'GET /pay/{id}, gzip', headers: { 'accept-encoding': 'gzip' } }, against);
  await world.home.remove();
  await floor.stop();
}
