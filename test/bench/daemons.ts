// Invoices created per second through three daemons of one PostgreSQL database, against one of them: the database is the limit.
import { join } from 'node:path';
import { type Daemon, makeHome } from '../daemon/helpers/process.ts';
import { shopkeeper, wallets } from '../helpers/people.ts';
import { postgresBinaries, startPostgres } from '../helpers/postgres-server.ts';
import { serviceAt } from '../helpers/service.ts';
import { compare, say } from './measure.ts';

const DAEMONS = 3;

export async function benchDaemons(): Promise<void> {
  const binaries = postgresBinaries();
  if (!binaries) return say('left out: no PostgreSQL for this platform');
  const server = await startPostgres(binaries, { fsync: 'on' });
  const home = makeHome();
  const daemons: Daemon[] = [];
  for (let each = 0; each < DAEMONS; each++)
    daemons.push(
      await home.start({
        env: { GATEWAYD_DATABASE_URL: server.url },
        log_file: join(home.dir, `gatewayd-${each}.log`),
      }),
    );
  const urls = daemons.map(({ url }) => url);
  const one = urls.slice(0, 1);
  const { key } = await shopkeeper(serviceAt({ base_url: one[0] as string }), { wallets });
  const creation = {
    method: 'POST',
    path: '/v1/invoices',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: JSON.stringify({ chain: 'ton', amount: '12.50', external_ref: 'order-1' }),
  } as const;
  await compare(
    { name: `${DAEMONS} daemons on PostgreSQL`, url: urls, ...creation },
    { name: 'one of them', url: one, ...creation },
    { ratio: 0.95 },
  );
  await home.remove();
  await server.stop();
}
