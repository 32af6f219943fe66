// Transfers below any price worth asking that name no invoice: stored and counted, and listed to no one one by one.
import { countDust, uncountDust } from '../../data/dust.ts';
import type { TransferRow } from '../../data/schema/tables.ts';
import { amountsAsked, smallAmountsOpen } from '../../data/terms.ts';
import { countOfInvoice, insertDust } from '../../data/transfers.ts';
import type { Gateway, Transfer } from '../../src/chains/family.ts';
import { dayOf, dustBelow } from '../../src/dust.ts';
import { Refusal } from '../../src/errors.ts';
import { tenTo } from '../../src/money.ts';
import type { Recording, SettleDeps } from './step.ts';

/** What was read, and would be listed with this reason. */
export interface Unnamed {
  transfer: Transfer;
  gateway: Gateway;
  reason: string;
}

/** Stores those of them that are dust and counts them; returns the others. */
export async function storeDust(recording: Recording, unnamed: readonly Unnamed[]): Promise<Unnamed[]> {
  const { tx, deps, blockchain, now, placed_version } = recording;
  const small: Unnamed[] = [];
  for (const each of unnamed) if (await isSmall(recording, each)) small.push(each);
  const meant = await askedElsewhere(recording, small);
  const dust = small.filter((each) => !meant.has(each));
  const rows = await insertDust(
    tx,
    blockchain,
    dust.map(({ transfer }) => ({
      transfer,
      // No one waits for it to be deep: it is asked about only while it is in no block.
      state: transfer.height === null ? 'pending' : 'final',
      dust_day: dayOf(transfer.latest_at),
    })),
    { unread: recording.is_looked_up ? 1 : null, placed_version, now },
  );
  await countDust(tx, deps.db.dialect, rows, now);
  const stored = new Set(dust);
  return unnamed.filter((each) => !stored.has(each));
}

/** So many transfers below a cent may name one invoice, or one address what it does not take: what more there are is counted. */
const NAMING_AT_MOST = 100;

/** Whether so much dust names the same already that one more would only be a row to read for the one who settles it. */
export async function isOneTooMany(
  recording: Recording,
  each: Unnamed,
  invoice_id: string | null,
): Promise<boolean> {
  if (!(await isSmall(recording, each))) return false;
  const { small_named, tx } = recording;
  const { address_key, chain } = each.transfer;
  const key = invoice_id ?? `${address_key} ${chain}`;
  const named =
    small_named.get(key) ?? (invoice_id === null ? 0 : await countOfInvoice(tx, invoice_id, NAMING_AT_MOST));
  small_named.set(key, named + 1);
  return named >= NAMING_AT_MOST;
}

/** One of the transfers that are counted left the chain, or is back on it. */
export async function followDust(
  { tx, deps, now }: Pick<Recording, 'tx' | 'deps' | 'now'>,
  before: TransferRow,
  after: TransferRow,
): Promise<void> {
  if (after.dust_day === null || (before.state === 'gone') === (after.state === 'gone')) return;
  const follow = after.state === 'gone' ? uncountDust : countDust;
  await follow(tx, deps.db.dialect, [after], now);
}

/** Below a cent, and below all that open invoices at its address ask for. */
async function isSmall(recording: Recording, { transfer, gateway }: Unnamed): Promise<boolean> {
  const below = dustBelow(gateway, usdNanos(recording.deps, gateway.currency));
  if (transfer.amount_atomic >= below) return false;
  const { small_open, tx, deps } = recording;
  const key = `${transfer.address_key} ${transfer.chain}`;
  let amounts = small_open.get(key);
  if (!amounts) {
    amounts = await smallAmountsOpen(tx, deps.db.dialect, transfer, below);
    small_open.set(key, amounts);
  }
  return amounts.every((amount) => transfer.amount_atomic < amount);
}

function usdNanos({ rates }: Pick<SettleDeps, 'rates'>, currency: string): bigint | null {
  try {
    return rates.rate(currency).usd_nanos;
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

/** Those of exactly what an invoice asks for at the same address, in the same asset on another blockchain. */
async function askedElsewhere(
  { tx, deps }: Recording,
  small: readonly Unnamed[],
): Promise<ReadonlySet<Unnamed>> {
  const meant = new Set<Unnamed>();
  const slots = new Map<string, Unnamed[]>();
  for (const each of small) {
    const key = `${each.transfer.address_key} ${each.transfer.chain}`;
    slots.set(key, [...(slots.get(key) ?? []), each]);
  }
  for (const here of slots.values()) {
    const [first] = here;
    if (!first) continue;
    const { address_key, chain } = first.transfer;
    for (const there of deps.config.chains.sameAssetElsewhere(chain)) {
      const amounts = new Map(here.map((each) => [scaled(each, there.decimals), each]));
      amounts.delete(null);
      const slot = { blockchain: there.blockchain, address_key, chain: there.chain };
      const asked = await amountsAsked(tx, slot, [...amounts.keys()] as string[]);
      for (const each of here) if (asked.has(scaled(each, there.decimals) ?? '')) meant.add(each);
    }
  }
  return meant;
}

/** The amount in units of another blockchain; null where that has none so small. */
function scaled({ transfer, gateway }: Unnamed, decimals: number): string | null {
  const units = transfer.amount_atomic * tenTo(decimals);
  const own = tenTo(gateway.decimals);
  return units % own === 0n ? (units / own).toString() : null;
}
