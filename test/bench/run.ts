// `npm run bench [-- NAME …]`: speed as ratios against a floor that is measured in the same run. `fleet` and `mixed` run only
// when they are named: `npm run bench -- mixed --minutes 10 --svg mixed.svg`. `-- --against DIR [PART …]` compares with a peer instead,
// whose built checkout is in a directory.
import { parseArgs } from 'node:util';

import { benchAgainst } from './against.ts';
import { benchCreate } from './create.ts';
import { benchDaemons } from './daemons.ts';
import { benchDust } from './dust.ts';
import { benchDustStored } from './dust-stored.ts';
import { benchFleet } from './fleet.ts';
import { benchHints } from './hints.ts';
import { benchListings } from './listings.ts';
import { misses } from './measure.ts';
import { benchMemory, benchTools } from './memory.ts';
import { benchMixed } from './mixed.ts';
import { benchObserver } from './observer.ts';
import { benchPayPage } from './pay-page.ts';
import { benchPublicInvoice } from './public-invoice.ts';
import { benchRequests } from './requests.ts';
import { benchScreens } from './screens.ts';
import { benchSearch } from './search.ts';
import { benchBurst, benchSettlement } from './settlement.ts';
import { benchStart } from './start.ts';
import { benchVerify } from './verify.ts';
import { benchWebhooks } from './webhooks.ts';

/** By name, in the order they run. */
const benches: Record<string, () => Promise<void>> = {
  start: benchStart,
  create: benchCreate,
  daemons: benchDaemons,
  'public-invoice': benchPublicInvoice,
  'pay-page': benchPayPage,
  search: benchSearch,
  screens: benchScreens,
  observer: benchObserver,
  settlement: benchSettlement,
  burst: benchBurst,
  webhooks: benchWebhooks,
  memory: benchMemory,
  tools: benchTools,
  requests: benchRequests,
  dust: benchDust,
  'dust-stored': benchDustStored,
  hints: benchHints,
  listings: benchListings,
  verify: benchVerify,
};

const { values: flags, positionals: asked } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: '10' },
    merchants: { type: 'string', default: '100000' },
    svg: { type: 'string' },
    against: { type: 'string' },
  },
});
if (flags.against !== undefined) {
  await benchAgainst(flags.against, asked);
  process.exit();
}
/** Those that take as long as they are asked to. */
const long: Record<string, () => Promise<void>> = {
  fleet: () => benchFleet({ merchants: Number(flags.merchants) }),
  mixed: () => benchMixed({ minutes: Number(flags.minutes), svg: flags.svg }),
};
const known = { ...benches, ...long };
const unknown = asked.filter((name) => !(name in known));
if (unknown.length > 0) {
  console.error(`no bench ${unknown.join(', ')}; there are ${Object.keys(known).join(', ')}`);
  process.exit(2);
}
for (const [name, bench] of Object.entries(known)) {
  if (asked.length > 0 ? !asked.includes(name) : name in long) continue;
  console.log(`\n${name}`);
  await bench();
}
if (misses.length > 0) {
  console.error(`\nmissed by more than the spread of the run:\n  ${misses.join('\n  ')}`);
  process.exitCode = 1;
}
