// Cuts what was read into slices: each is stored in a transaction of its own, and what waits meanwhile has its turn.
import type { Transfer, TransferUpdate } from '../../src/chains/family.ts';
import { mapInSteps, type Steps } from '../../src/chains/steps.ts';
import type { Bundle } from './match.ts';

/** Rows of one slice: as long as these take, nothing else is done. */
export const ROWS_PER_SLICE = 32;
/** Credits of one transaction to one address that may pay an invoice together: they are stored together, too. */
export const ADDED_UP_AT_MOST = 64;

export interface Slice {
  transfers: Bundle[];
  /** What something else than reading has shown: it counts only where it is not stored. */
  unread: Bundle[];
  updates: TransferUpdate[];
}

const newSlice = (): Slice => ({ transfers: [], unread: [], updates: [] });

/**
 * In the order of a page: first what came, then what became of the rest, so that no invoice loses a payment before it has
 * what took its place. At least one slice.
 */
export function* slicesOf({
  transfers,
  unread = [],
  updates = [],
}: {
  transfers: readonly Transfer[];
  unread?: readonly Transfer[];
  updates?: readonly TransferUpdate[];
}): Steps<Slice[]> {
  let slice = newSlice();
  const slices = [slice];
  let rows = 0;
  const roomFor = (more: number): Slice => {
    if (rows > 0 && rows + more > ROWS_PER_SLICE) {
      slice = newSlice();
      slices.push(slice);
      rows = 0;
    }
    rows += more;
    return slice;
  };
  const bundles = yield* bundlesOf(transfers);
  yield* mapInSteps(bundles, (each) => roomFor(each.transfers.length).transfers.push(each));
  const others = yield* bundlesOf(unread);
  yield* mapInSteps(others, (each) => roomFor(each.transfers.length).unread.push(each));
  yield* mapInSteps(updates, (each) => roomFor(1).updates.push(each));
  return slices;
}

/** Credits of one transaction to one address in one asset; of too many each stands for itself. */
function* bundlesOf(transfers: readonly Transfer[]): Steps<Bundle[]> {
  const bundles = new Map<string, Map<string, Transfer>>();
  yield* mapInSteps(transfers, (transfer) => {
    const key = `${transfer.txid} ${transfer.address_key} ${transfer.chain}`;
    const bundle = bundles.get(key) ?? new Map<string, Transfer>();
    bundles.set(key, bundle);
    // Listed twice is paid once: it must not add up with itself.
    if (!bundle.has(transfer.index)) bundle.set(transfer.index, transfer);
  });
  const cut = yield* mapInSteps(bundles.values(), (bundle): Bundle[] => {
    const all = [...bundle.values()];
    if (all.length <= ADDED_UP_AT_MOST) return [{ transfers: all, adds_up: true }];
    const parts: Bundle[] = [];
    for (let from = 0; from < all.length; from += ROWS_PER_SLICE)
      parts.push({ transfers: all.slice(from, from + ROWS_PER_SLICE), adds_up: false });
    return parts;
  });
  return cut.flat();
}
