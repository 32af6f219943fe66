// A service that reads a real TON chain, its operator, and a merchant who is paid there.
import { onTestFinished } from 'vitest';
import { startTonChain } from '../../chains/ton-chain.ts';
import { startApp } from '../../helpers/app.ts';
import { testClock } from '../../helpers/clock.ts';
import type { Database } from '../../helpers/database.ts';
import { setWallet } from '../../helpers/people.ts';

/** What the wallets are given at first is older than anything watched by so many seconds. */
const SETTLED_SECONDS = 600;

/** Both clocks stand still; everything is stopped when the test ends. */
export async function openTonShop(database: Database) {
  const chain = await startTonChain({ clock: 'manual' });
  onTestFinished(() => chain.stop());
  const clock = testClock(chain.now());
  const service = await startApp({
    database,
    clock,
    settings: { 'blockchains.ton.url': chain.url, 'gateways.ton-usdt.enabled': false },
  });
  onTestFinished(() => service.stop());
  const [operator, merchant] = [await service.superuser(), await service.merchant()];
  const [shop, payer] = [await chain.createWallet(), await chain.createWallet()];
  chain.advanceTime(SETTLED_SECONDS);
  clock.set(chain.now());
  await setWallet(service.app, merchant.id, 'ton', shop.address);
  return { chain, clock, service, operator, merchant, shop, payer };
}
