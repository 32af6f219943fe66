// Whether a balancer should send its callers here.
import { ping } from '../../data/meta.ts';
import { Refusal } from '../../src/errors.ts';
import type { App } from '../context.ts';

/** How soon another daemon has its place. */
const RETRY_SECONDS = 5;

/** Refuses with `draining`, and throws what the database throws where that cannot be read. */
export async function assertHealthy({ db, instance }: Pick<App, 'db' | 'instance'>): Promise<void> {
  if (instance.draining()) throw new Refusal('draining', { retry_after: RETRY_SECONDS });
  await ping(db);
}
