// What of the observers' reply a person should know besides the table: a wrong clock, accounts and assets in trouble.

import type { CallReply } from '../../src/api/client/call.ts';
import type { listObservers } from '../../src/api/endpoints/admin.ts';
import { clean } from './text.ts';
import { relative } from './value.ts';

type Reply = CallReply<typeof listObservers>;
type Observer = Reply['observers'][number];

/** Accounts and addresses that are named of each observer; `--json` has all. */
const NAMED = 8;

/** The trouble of one observer, a line each. `now_s`: Unix seconds. */
export function troubleOf(observer: Observer, now_s: number): string[] {
  const { accounts_behind, unreadable_assets, shared_addresses, contradictions } = observer;
  const rest = (all: readonly unknown[]) =>
    all.length > NAMED ? [`  and ${all.length - NAMED} more: --json accounts_behind,shared_addresses`] : [];
  return [
    ...unreadable_assets.map(({ chain, reason }) => `${chain} cannot be read: ${reason}`),
    ...accounts_behind.slice(0, NAMED).map(({ chain, address_key, read_through, trouble }) => {
      const read = read_through === null ? 'never' : relative(read_through, now_s);
      return `${chain} of ${address_key} is behind (read ${read}): ${trouble}`;
    }),
    ...rest(accounts_behind),
    ...shared_addresses
      .slice(0, NAMED)
      .map(({ address_key, owner_ids }) => `${address_key} is used by ${owner_ids.length} accounts`),
    ...rest(shared_addresses),
    ...(contradictions > 0 ? [`${contradictions} contradictions: gw admin contradictions`] : []),
  ].map(clean);
}

/** What came that is too little to be listed. */
function dustOf({ dust }: Observer): string[] {
  const count = dust.reduce((sum, day) => sum + day.count, 0);
  return count === 0 ? [] : [`${count} transfers below a cent are counted and not listed: --json dust`];
}

/** The same of all, and of the clock. */
export const observerNotes = ({ clock, observers }: Reply, now_s: number): string[] => [
  ...(clock.message === null ? [] : [clean(clock.message)]),
  ...observers.flatMap((observer) =>
    [...troubleOf(observer, now_s), ...dustOf(observer)].map((line) => `${observer.blockchain}: ${line}`),
  ),
];
