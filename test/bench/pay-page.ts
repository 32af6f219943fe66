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
  await compare({ ...page, name: 'GET /pay/{id}' }, against, { ratio: 0.5 });
  const gzip = { ...page, name: 'GET /pay/{id}, gzip', headers: { 'accept-encoding': 'gzip' } };
  await compare(gzip, against, { ratio: 0.5 });
  // No page is asked for twice within a second, so each is rendered.
  const languages = ['en', 'de', 'fr', 'es', 'pt', 'tr', 'ru', 'ar', 'fa', 'hi', 'zh', 'ja'];
  const path = (request: number) =>
    `/v1/pay/${id}/page?width=${300 + (request % 900)}&lang=${languages[Math.floor(request / 900) % languages.length]}`;
  await compare({ ...page, name: 'GET /v1/pay/{id}/page, rendered each time', path }, against);
  await world.home.remove();
  await floor.stop();
}
