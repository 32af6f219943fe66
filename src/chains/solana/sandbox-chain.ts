// A Solana of one machine: slots by the clock, payments that become final, and forks that leave one out.
import { base58 } from '@scure/base';

/** Four times as fast as the network itself: final in 3 s. */
const SLOT_MS = 100;
/** Slots until a payment is final. */
export const FINAL_SLOTS = 32;
/** Slots for which a payment can be taken in after it was signed. */
const BLOCKHASH_SLOTS = 150;
/** A fork skips so many: what it left out can never come back. */
const SKIPPED_SLOTS = 400;
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;

/** A payment as it stands on the chain. */
export interface Payment {
  signature: string;
  /** The account that holds the money: a wallet, or its token account. */
  account: string;
  owner: string;
  /** Null for the coin. */
  mint: string | null;
  amount: bigint;
  memo: string | null;
  payer: string;
  blockhash: string;
  slot: number;
  made_at_ms: number;
}

/** A slot, and when it was made. */
export interface Point {
  slot: number;
  at_ms: number;
}

export interface Chain {
  pay(order: Pick<Payment, 'account' | 'owner' | 'mint' | 'amount' | 'memo'>): string;
  /** Nothing becomes final until it is released: two forks stand against each other. */
  stall(): void;
  release(): void;
  /** The fork without this payment wins. False where it is final already. */
  leaveOut(signature: string): boolean;
  /** The newest slot that most of the network has voted for. */
  confirmed(): Point;
  final(): Point;
  /** Of one account up to a slot, or of all; oldest first. */
  payments(slot: number, account?: string): readonly Payment[];
  find(signature: string): Payment | undefined;
  isFresh(blockhash: string, slot: number): boolean;
}

/** What is stored between runs. */
export interface Stored {
  skipped: number;
  payments: (Omit<Payment, 'amount'> & { amount: string })[];
}

export interface ChainOptions {
  stored: Stored | undefined;
  /** Called with all of it after each change. */
  save(stored: Stored): void;
  /** Unix milliseconds. */
  now(): number;
  random(bytes: number): Uint8Array;
}

export function openChain({ stored, save, now, random }: ChainOptions): Chain {
  let skipped = stored?.skipped ?? 0;
  let payments: Payment[] = (stored?.payments ?? []).map((each) => ({
    ...each,
    amount: BigInt(each.amount),
  }));
  let stalled: Point | undefined;
  const slotNow = () => Math.floor(now() / SLOT_MS) + skipped;
  const before = (slots: number): Point => ({ slot: slotNow() - slots, at_ms: now() - slots * SLOT_MS });
  const final = () => stalled ?? before(FINAL_SLOTS);
  const changed = () =>
    save({ skipped, payments: payments.map((each) => ({ ...each, amount: String(each.amount) })) });
  const key = () => base58.encode(random(KEY_BYTES));
  return {
    pay(order) {
      const signature = base58.encode(random(SIGNATURE_BYTES));
      const made = { signature, payer: key(), blockhash: key(), slot: slotNow() + 1, made_at_ms: now() };
      payments.push({ ...order, ...made });
      changed();
      return signature;
    },
    stall() {
      stalled ??= final();
    },
    release() {
      stalled = undefined;
    },
    leaveOut(signature) {
      const found = payments.find((each) => each.signature === signature);
      if (!found || found.slot <= final().slot) return false;
      payments = payments.filter((each) => each !== found);
      skipped += SKIPPED_SLOTS;
      changed();
      return true;
    },
    confirmed: () => before(1),
    final,
    payments: (slot, account) =>
      payments.filter((each) => each.slot <= slot && (account === undefined || each.account === account)),
    find: (signature) => payments.find((each) => each.signature === signature),
    isFresh(blockhash, slot) {
      const found = payments.find((each) => each.blockhash === blockhash);
      return found !== undefined && slot <= found.slot + BLOCKHASH_SLOTS;
    },
  };
}
