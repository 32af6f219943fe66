// Holds addresses that are given as wallets against the chain: jetton wallets, token accounts and mints are none.
import type { WalletInUse } from '../../data/merchants.ts';
import { ProviderError } from '../../src/chains/family.ts';
import { type Blockchain, findBlockchain } from '../../src/chains/gateways.ts';
import { Refusal } from '../../src/errors.ts';
import type { App } from '../context.ts';

/** Who sets a wallet waits so long for the chain; what it says later is heeded when invoices are made. */
const WAIT_MS = 5_000;
/** How long an answer of the chain counts, for the invoices that ask again … */
const ANSWER_MS = 60_000;
/** … and how long it is left alone that did not answer. */
const SILENCE_MS = 5_000;
/** Addresses remembered by this process; forgetting one costs a request. */
const ADDRESSES_KNOWN = 10_000;

type WalletApp = Pick<App, 'db' | 'observer' | 'clock' | 'runtime' | 'config' | 'log'>;

interface Answer {
  /** Why it is no wallet; null where it is one; undefined where the chain could not be asked. */
  refused: string | null | undefined;
  at_ms: number;
}

const answers = new WeakMap<App['db'], Map<string, Answer>>();
const answersOf = ({ db }: WalletApp): Map<string, Answer> => {
  const known = answers.get(db) ?? new Map<string, Answer>();
  answers.set(db, known);
  return known;
};
const keyOf = (blockchain: string, address_key: string): string => `${blockchain} ${address_key}`;

/**
 * Refuses with `invalid_address` what the chain knows to be no wallet. Accepts what it cannot be asked about in time:
 * invoices to such an address ask again.
 */
export async function refuseNoWallet(
  app: WalletApp,
  { id, name }: Blockchain,
  address_key: string,
): Promise<void> {
  const refused = await inspect(app, id, address_key);
  if (refused === undefined)
    app.log.warn({ blockchain: id, address_key }, 'a wallet was set that the chain could not be asked about');
  if (refused)
    throw new Refusal('invalid_address', {
      detail: `Invalid ${name} ${app.config.network} address: ${refused}`,
    });
}

/**
 * Why an address that is in use is no wallet, null where nothing is known against it. The chain is asked only where
 * nothing was ever proved read there, or it could not be asked when the wallet was set.
 */
export async function whyNoWallet(
  app: WalletApp,
  { blockchain, address_key, unread }: Pick<WalletInUse, 'blockchain' | 'address_key' | 'unread'>,
): Promise<string | null> {
  const known = answersOf(app).get(keyOf(blockchain, address_key));
  if (!unread && (!known || known.refused === null)) return null;
  const counts_ms = known?.refused === undefined ? SILENCE_MS : ANSWER_MS;
  if (known && app.clock.monotonic_ms() - known.at_ms < counts_ms) return known.refused ?? null;
  return (await inspect(app, blockchain, address_key)) ?? null;
}

async function inspect(
  app: WalletApp,
  blockchain: string,
  address_key: string,
): Promise<string | null | undefined> {
  // Not every chain has addresses that are no wallets.
  if (!findBlockchain(blockchain)?.family.inspectAddress) return null;
  const note = (refused: Answer['refused']) => {
    const known = answersOf(app);
    if (known.size >= ADDRESSES_KNOWN) known.clear();
    known.set(keyOf(blockchain, address_key), { refused, at_ms: app.clock.monotonic_ms() });
  };
  // Those who come meanwhile do not ask as well.
  note(undefined);
  const called_off = new AbortController();
  const asked = app.observer.inspectAddress(blockchain, address_key).catch((error: unknown) => {
    if (error instanceof ProviderError) return undefined;
    throw error;
  });
  const waited = app.runtime.sleep(WAIT_MS, called_off.signal).then(() => undefined);
  const refused = await Promise.race([asked, waited]).finally(() => called_off.abort());
  note(refused);
  return refused;
}
