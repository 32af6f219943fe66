// Compares addresses that are given as wallets with the chain: jetton wallets, token accounts and mints are none, and of some
// that are their owner should know something.
import type { Logger } from 'pino';
import type { WalletInUse } from '../../data/merchants.ts';
import type { Blockchain } from '../../src/chains/catalogue.ts';
import { ProviderError } from '../../src/chains/family.ts';
import { Refusal } from '../../src/errors.ts';
import { boundedCache } from '../cache.ts';
import type { SteadyClock } from '../clock.ts';
import type { Observer } from '../observer/observer.ts';
import type { Runtime } from '../process/runtime.ts';
import type { Config } from '../settings/config.ts';

/** A caller that sets a wallet waits so long for the chain; what it says later is heeded when invoices are made. */
const WAIT_MS = 5_000;
/** How long an answer of the chain counts, for the invoices that ask again … */
const ANSWER_MS = 60_000;
/** … and how long it is left alone that did not answer. */
const SILENCE_MS = 5_000;
/** Addresses that this process has cached; evicting one costs a request. */
const MAX_ADDRESSES = 10_000;

interface Answer {
  /** Why it is no wallet; null where it is one; undefined where the chain could not be asked. */
  refused: string | null | undefined;
  at_ms: number;
}

export interface WalletCheck {
  /**
   * Refuses with `invalid_address` what the chain knows to be no wallet. Accepts what it cannot be asked about in time:
   * invoices to such an address ask again. Returns what its owner should know of it; null where nothing is known.
   */
  refuseNoWallet(blockchain: Blockchain, address_key: string): Promise<string | null>;
  /**
   * Why an address that is in use is no wallet, null where nothing is known against it. The chain is asked only where
   * nothing was ever proved read there, or it could not be asked when the wallet was set.
   */
  whyNoWallet(wallet: Pick<WalletInUse, 'blockchain' | 'address_key' | 'unread'>): Promise<string | null>;
}

export interface WalletCheckOptions {
  observer: Pick<Observer, 'inspectAddress' | 'warnOfAddress'>;
  clock: SteadyClock;
  runtime: Runtime;
  config: Pick<Config, 'network' | 'chains'>;
  log: Logger;
}

export function openWalletCheck({ observer, clock, runtime, config, log }: WalletCheckOptions): WalletCheck {
  const answers = boundedCache<string, Answer>(MAX_ADDRESSES);

  /** What the chain says; undefined where it does not in time. */
  async function inTime<T>(asked: Promise<T>): Promise<T | undefined> {
    const called_off = new AbortController();
    const known = asked.catch((error: unknown) => {
      if (error instanceof ProviderError) return undefined;
      throw error;
    });
    const waited = runtime.sleep(WAIT_MS, called_off.signal).then(() => undefined);
    return Promise.race([known, waited]).finally(() => called_off.abort());
  }

  async function inspect(blockchain: string, address_key: string): Promise<string | null | undefined> {
    // Not every chain has addresses that are no wallets.
    if (!config.chains.find(blockchain)?.family.inspectAddress) return null;
    const note = (refused: Answer['refused']) =>
      answers.set(keyOf(blockchain, address_key), { refused, at_ms: clock.monotonic_ms() });
    // Those who come meanwhile do not ask as well.
    note(undefined);
    const refused = await inTime(observer.inspectAddress(blockchain, address_key));
    note(refused);
    return refused;
  }

  async function warn(blockchain: string, address_key: string): Promise<string | null> {
    if (!config.chains.find(blockchain)?.family.warnOfAddress) return null;
    return (await inTime(observer.warnOfAddress(blockchain, address_key))) ?? null;
  }

  return {
    async refuseNoWallet({ id, name }, address_key) {
      const [refused, warning] = await Promise.all([inspect(id, address_key), warn(id, address_key)]);
      if (refused === undefined)
        log.warn(
          { blockchain: id, address_key },
          'a wallet was set although the chain could not be asked about it',
        );
      if (refused)
        throw new Refusal('invalid_address', {
          detail: `Invalid ${name} ${config.network} address: ${refused}`,
        });
      if (warning) log.info({ blockchain: id, address_key, warning }, 'a wallet that is set has a warning');
      return warning;
    },
    async whyNoWallet({ blockchain, address_key, unread }) {
      const known = answers.get(keyOf(blockchain, address_key));
      if (!unread && (!known || known.refused === null)) return null;
      const counts_ms = known?.refused === undefined ? SILENCE_MS : ANSWER_MS;
      if (known && clock.monotonic_ms() - known.at_ms < counts_ms) return known.refused ?? null;
      return (await inspect(blockchain, address_key)) ?? null;
    },
  };
}

const keyOf = (blockchain: string, address_key: string): string => `${blockchain} ${address_key}`;
