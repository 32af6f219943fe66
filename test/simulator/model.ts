// What every model of a blockchain offers to payers, to providers and to the check of the books at the end.
import type { Front } from './chains/front.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

export interface Wallet {
  /** As a merchant pastes it. */
  address: string;
  /** As the daemon's tables name it. */
  key: string;
}

/** One version of a payment: a fee bump makes another. */
export interface Version {
  /** In the form that the daemon stores. */
  txid: string;
  amount: bigint;
}

/** What an invoice asks for, and what truly happened to it. */
export interface Bill {
  id: string;
  merchant: number;
  kind: 'sale' | 'refill';
  chain: string;
  blockchain: string;
  wallet: Wallet;
  amount: bigint;
  memo: string | null;
  reference: string | null;
  /** USD micros. */
  volume_micros: bigint;
  /** True time, Unix milliseconds: when it was asked for at the earliest, when that was answered, and when its time is over. */
  asked_ms: number;
  created_ms: number;
  ends_ms: number;
  /** How long it had at first: a part that is paid in time gives it so much more, once. */
  usual_ms: number;
  payments: Payment[];
  /** The same invoice in each coin that it was ever asked for in, which all of these share; the first is what it was made with. */
  offers: Bill[];
  /** Changes of its coin that were asked for and are not answered: no one knows what it asks for. */
  changes: { unanswered: number };
  /** Asked for by someone: what comes of it is no longer the payers' doing alone. */
  cancelled: boolean;
  resolved: boolean;
}

/** A payment that was truly made to a watched address. */
export interface Payment {
  serial: number;
  /** What its payer did, for reports. */
  kind: string;
  blockchain: string;
  chain: string;
  wallet: Wallet;
  /** When its payer sent its first version, true time, Unix milliseconds. */
  sent_ms: number;
  /** The bill that it was meant for; null: none. */
  bill: Bill | null;
  /** The bill that asks for just this on another network at the same address; null: none. */
  elsewhere: Bill | null;
  /** Whether it names that bill as the payer was asked to. */
  names_it: boolean;
  /** The last one is the newest. */
  versions: Version[];
  /** Whether it may still be replaced by a payment to another. */
  may_vanish: boolean;
}

export interface Order {
  chain: string;
  wallet: Wallet;
  amount: bigint;
  memo: string | null;
  reference: string | null;
}

/** How one payment is made; what a chain has not is not done there. */
export interface Manner {
  /** The receiver sends it on at once. */
  forwards?: boolean;
}

export interface Model {
  blockchain: string;
  /** Models with the same word here share their addresses; its own id by default. */
  space?: string;
  /** Gateway ids that can be paid here. */
  chains: readonly string[];
  /** Providers, by host. */
  hosts: ReadonlyMap<string, Front>;
  /** Settings that make the daemon read here. */
  settings: Record<string, string | boolean>;
  newWallet(): Wallet;
  /** Sends a payment; its first version. */
  pay(order: Order, manner?: Manner): Version;
  /** All of these in one transaction, of one gateway; null where that cannot be. */
  payMany?(orders: readonly Order[]): Version[] | null;
  /** Replaces the newest version by one with another amount that pays more to the miner; null where that cannot be. */
  bump(payment: Payment, amount: bigint): Version | null;
  /** Sends the same money elsewhere; false where that cannot be. */
  takeBack(payment: Payment): boolean;
  /** When it was made by the word of the chain, or was sent first where the chain has no time of its own; true milliseconds. */
  madeAt(payment: Payment): number;
  /** Where a payment may be mined more than once, when that was first; `madeAt` is when it was last. */
  firstAt?(payment: Payment): number;
  /** The version that stands on the chain for good; null: none does (yet). */
  standing(payment: Payment): Version | null;
  /** Whether the version can no longer vanish, whatever the model does. */
  isSettled(payment: Payment): boolean;
  /** Whether its wallet sends on in the coin what comes, so that only what is searched for while an invoice is open is found. */
  passesOn?(payment: Payment): boolean;
  /** Addresses that are well-formed and no wallets: another's token account, a jetton master. */
  traps(wallet: Wallet): Wallet[];
  /** A stranger sends a little to a wallet; null where the provider will never show how much that was. */
  dust(wallet: Wallet): { chain: string; version: Version } | null;
  /** Small payments that a stranger can afford to send within a minute; 0: no more than `dust` sends. */
  flood: number;
  /** When a good provider shows it, true Unix milliseconds; null: not known, or it has changed since. */
  shownAt(payment: Payment): number | null;
  /** The provider tells for so long of a payment that never was, as far as its word can be checked. */
  lie(order: Order, duration_ms: number): void;
  /**
   * For so long the provider gives a payment that never was to anyone who names it, in a block that no one else has, deep in the
   * chain; its name, null where that cannot be.
   */
  invent?(order: Order, duration_ms: number): string | null;
  /** Begins what happens on the chain without anyone's doing. */
  start(): void;
  /** From now on nothing goes wrong. */
  calm(): void;
}

export interface ModelOptions {
  world: World;
  random: Random;
  /** Whether the daemon has stored a transaction by now. */
  knows(txid: string): boolean;
}
