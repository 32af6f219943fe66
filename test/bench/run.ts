// `npm run bench [-- NAME …]`: speed as ratios against a floor that is measured in the same run.
import { benchCreate } from './create.ts';
import { benchDust } from './dust.ts';
import { benchListings } from './listings.ts';
import { misses } from './measure.ts';
import { benchObserver } from './observer.ts';
import { benchPayPage } from './pay-page.ts';
import { benchPublicInvoice } from './public-invoice.ts';
import { benchRequests } from './requests.ts';
import { benchSearch } from './search.ts';
import { benchStart } from './start.ts';
import { benchVerify } from './verify.ts';

/** By name, in the order they run. */
const benches: Record<string, () => Promise<void>> = {
  start: benchStart,
  create: benchCreate,
  'public-invoice': benchPublicInvoice,
  'pay-page': benchPayPage,
  search: benchSearch,
  observer: benchObserver,
  requests: benchRequests,
  dust: benchDust,
  listings: benchListings,
  verify: benchVerify,
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !(name in benches));
if (unknown.length > 0) {
  console.error(`no bench ${unknown.join(', ')}; there are ${Object.keys(benches).join(', ')}`);
  process.exit(2);
}
for (const [name, bench] of Object.entries(benches)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  console.log(`\n${name}`);
  await bench();
}
if (misses.length > 0) {
  console.error(`\nmissed by more than the spread of the run:\n  ${misses.join('\n  ')}`);
  process.exitCode = 1;
}
