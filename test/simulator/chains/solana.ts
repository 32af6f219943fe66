// A model of Solana: slots, balances that every transaction continues, confirmed transactions that a fork may undo.
import { base58 } from '@scure/base';
import { associatedTokenAccount, SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../../../src/chains/solana/address.ts';
import type { Random } from '../random.ts';

/** As on the network since Alpenglow … */
const SLOT_MS = 200;
/** … but for the slots until a block is final, which is the harder case: it stands for a while where a fork may undo it. */
const FINAL_SLOTS = 32;
/** Slots that a blockhash lives. */
export const BLOCKHASH_SLOTS = 150;
const FIRST_SLOT = 300_000_000;
const SIGNATURE_BYTES = 64;
const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';
/** What any account but those that are followed holds, before and after. */
const OTHERS_LAMPORTS = 5_000_000_000;
export const TOKEN_ACCOUNT_LAMPORTS = 2_039_280;

/** What takes the place of instructions about the budget since version 1. */
const CONFIG = {
  computeUnitLimit: 200_000,
  heapSize: null,
  loadedAccountsDataSizeLimit: null,
  priorityFee: 1_000,
};

export interface SolanaOptions {
  random: Random;
  /** True time, Unix milliseconds. */
  now(): number;
  slot_ms?: number;
  /** Slots until the network calls a block final. */
  final_slots?: number;
}

/** Moves money of one asset to or from the followed account of an owner. */
export interface Change {
  owner: string;
  /** Null for SOL. */
  mint: string | null;
  /** Negative takes away. */
  amount: bigint;
}

export interface SolanaTransaction {
  signature: string;
  payer: string;
  slot: number;
  /** Order in its slot. */
  position: number;
  failed: boolean;
  changes: readonly Change[];
  memo: string | null;
  references: readonly string[];
  blockhash: string;
  blockhash_slot: number;
  /** True times from which a provider lists it, and from which it gives it; infinite: never. */
  listed_at_ms: number;
  given_at_ms: number;
  /** A fork has undone it. */
  undone: boolean;
}

export interface Send {
  payer: string;
  changes: readonly Change[];
  memo?: string | null;
  references?: readonly string[];
  failed?: boolean;
  /** Until a block takes it in. */
  delay_ms?: number;
  list_delay_ms?: number;
  give_delay_ms?: number;
  /** Owners who sign. */
  signed_by?: string;
}

interface LedgerLine {
  transaction: SolanaTransaction;
  delta: bigint;
  after: bigint;
}

export interface SolanaAccount {
  owner: string;
  mint: string | null;
  entries: LedgerLine[];
}

export class SolanaChain {
  readonly #options: SolanaOptions;
  readonly #start_ms: number;
  readonly slot_ms: number;
  readonly final_slots: number;
  readonly #waiting: { slot: number; order: number; transaction: SolanaTransaction }[] = [];
  readonly #accounts = new Map<string, SolanaAccount>();
  /** Signatures by reference key. */
  readonly #referenced = new Map<string, SolanaTransaction[]>();
  readonly #transactions = new Map<string, SolanaTransaction>();
  readonly #mints = new Set<string>();
  readonly #token_accounts = new Map<string, string>();
  readonly #blockhashes = new Map<string, number>();
  #order = 0;

  constructor(options: SolanaOptions) {
    this.#options = options;
    this.#start_ms = options.now();
    this.slot_ms = options.slot_ms ?? SLOT_MS;
    this.final_slots = options.final_slots ?? FINAL_SLOTS;
  }

  slotAt(at_ms: number): number {
    return FIRST_SLOT + Math.floor((at_ms - this.#start_ms) / this.slot_ms);
  }

  /** Unix milliseconds. */
  timeOf(slot: number): number {
    return this.#start_ms + (slot - FIRST_SLOT) * this.slot_ms;
  }

  addMint(mint: string): void {
    this.#mints.add(mint);
  }

  isMint(key: string): boolean {
    return this.#mints.has(key);
  }

  /** The account that holds an owner's money in an asset. */
  accountKey(owner: string, mint: string | null): string {
    if (mint === null) return owner;
    const id = `${owner} ${mint}`;
    const known = this.#token_accounts.get(id);
    if (known !== undefined) return known;
    const made = associatedTokenAccount(owner, TOKEN_PROGRAM, mint);
    this.#token_accounts.set(id, made);
    return made;
  }

  /** The account behind a key, as far as anything was ever sent to it. */
  account(key: string): SolanaAccount | undefined {
    this.#catchUp();
    return this.#accounts.get(key);
  }

  transaction(signature: string): SolanaTransaction | undefined {
    this.#catchUp();
    return this.#transactions.get(signature);
  }

  /** The slot in which a blockhash was made; undefined for one of another chain. */
  slotOfBlockhash(blockhash: string): number | undefined {
    return this.#blockhashes.get(blockhash);
  }

  send(send: Send): SolanaTransaction {
    const { random, now } = this.#options;
    const at_ms = now();
    const slot = this.slotAt(at_ms + (send.delay_ms ?? 0)) + 1;
    const blockhash_slot = Math.max(FIRST_SLOT, this.slotAt(at_ms) - random.int(2, 20));
    const blockhash = base58.encode(random.bytes(32));
    this.#blockhashes.set(blockhash, blockhash_slot);
    const in_block_ms = this.timeOf(slot + 1);
    const transaction: SolanaTransaction = {
      signature: base58.encode(random.bytes(SIGNATURE_BYTES)),
      payer: send.payer,
      slot,
      position: 0,
      failed: send.failed ?? false,
      changes: send.changes,
      memo: send.memo ?? null,
      references: send.references ?? [],
      blockhash,
      blockhash_slot,
      listed_at_ms: in_block_ms + (send.list_delay_ms ?? 0),
      given_at_ms: in_block_ms + (send.give_delay_ms ?? 0),
      undone: false,
    };
    this.#wait(transaction);
    return transaction;
  }

  #wait(transaction: SolanaTransaction): void {
    const waiting = { slot: transaction.slot, order: this.#order++, transaction };
    let at = this.#waiting.length;
    while (at > 0 && (this.#waiting[at - 1] as typeof waiting).slot > waiting.slot) at--;
    this.#waiting.splice(at, 0, waiting);
  }

  /** Puts into their slots what was due by now. */
  #catchUp(): void {
    const slot = this.slotAt(this.#options.now());
    while (this.#waiting.length > 0 && (this.#waiting[0]?.slot ?? 0) <= slot) {
      const { transaction, order } = this.#waiting.shift() as {
        transaction: SolanaTransaction;
        order: number;
      };
      transaction.position = order;
      this.#include(transaction);
    }
  }

  #include(transaction: SolanaTransaction): void {
    this.#transactions.set(transaction.signature, transaction);
    for (const key of transaction.references)
      this.#referenced.set(key, [...(this.#referenced.get(key) ?? []), transaction]);
    for (const { owner, mint, amount } of transaction.changes) {
      const key = this.accountKey(owner, mint);
      const account = this.#accounts.get(key) ?? { owner, mint, entries: [] };
      this.#accounts.set(key, account);
      const before = account.entries.at(-1)?.after ?? 0n;
      const delta = transaction.failed ? 0n : amount;
      account.entries.push({ transaction, delta, after: before + delta });
      // The mint's owner is named in its transactions, but a token account that exists is all that they touch.
    }
  }

  /**
   * A fork leaves out a transaction that was confirmed and is not final yet; it comes again in a later slot, or never.
   * False where it is too late for that.
   */
  undo(signature: string, again_after_ms: number | null): boolean {
    this.#catchUp();
    const transaction = this.#transactions.get(signature);
    if (!transaction || this.slotAt(this.#options.now()) - transaction.slot >= this.final_slots - 2)
      return false;
    this.#transactions.delete(signature);
    for (const { owner, mint } of transaction.changes) {
      const account = this.#accounts.get(this.accountKey(owner, mint));
      if (!account) continue;
      account.entries = account.entries.filter((entry) => entry.transaction !== transaction);
      let after = 0n;
      for (const entry of account.entries) {
        after += entry.delta;
        entry.after = after;
      }
    }
    for (const key of transaction.references)
      this.#referenced.set(
        key,
        (this.#referenced.get(key) ?? []).filter((each) => each !== transaction),
      );
    transaction.undone = true;
    if (again_after_ms === null) return true;
    const at_ms = this.#options.now() + again_after_ms;
    if (this.slotAt(at_ms) > transaction.blockhash_slot + BLOCKHASH_SLOTS) return true;
    transaction.undone = false;
    transaction.slot = this.slotAt(at_ms) + 1;
    transaction.listed_at_ms = Math.max(transaction.listed_at_ms, this.timeOf(transaction.slot + 1));
    transaction.given_at_ms = Math.max(transaction.given_at_ms, this.timeOf(transaction.slot + 1));
    this.#wait(transaction);
    return true;
  }

  /** What an account holds in a slot; null where it does not exist yet. */
  heldAt(key: string, slot: number): bigint | null {
    const entries = this.account(key)?.entries ?? [];
    for (let at = entries.length - 1; at >= 0; at--) {
      const entry = entries[at] as LedgerLine;
      if (entry.transaction.slot <= slot) return entry.after;
    }
    return null;
  }

  /** The transactions that name a key, oldest first. */
  naming(key: string): readonly SolanaTransaction[] {
    this.#catchUp();
    return (
      this.#accounts.get(key)?.entries.map(({ transaction }) => transaction) ??
      this.#referenced.get(key) ??
      []
    );
  }

  /** A transaction in the JSON of nodes (`jsonParsed`). */
  toJson(transaction: SolanaTransaction): Record<string, unknown> {
    const { payer, changes, memo, references, failed, slot, blockhash } = transaction;
    const signers = new Set([
      payer,
      ...changes.filter(({ amount }) => amount < 0n).map(({ owner }) => owner),
    ]);
    const touched = changes.map((change) => this.#touched(transaction, change));
    const keys = [
      ...new Set([
        ...signers,
        ...touched.map(({ key }) => key),
        ...references,
        SYSTEM_PROGRAM,
        ...(changes.some(({ mint }) => mint !== null) ? [TOKEN_PROGRAM] : []),
        ...(memo === null ? [] : [MEMO_PROGRAM]),
      ]),
    ];
    const writable = new Set([...signers, ...touched.map(({ key }) => key)]);
    const lamports = (side: 'before' | 'after') =>
      keys.map((key) => {
        const change = touched.find((each) => each.key === key);
        if (!change) return OTHERS_LAMPORTS;
        return change.mint === null ? Number(change[side]) : TOKEN_ACCOUNT_LAMPORTS;
      });
    const tokens = (side: 'before' | 'after') =>
      touched.flatMap((change) =>
        change.mint === null
          ? []
          : {
              accountIndex: keys.indexOf(change.key),
              mint: change.mint,
              owner: change.owner,
              programId: TOKEN_PROGRAM,
              uiTokenAmount: { amount: String(change[side]), decimals: 6 },
            },
      );
    const version = versionOf(transaction);
    return {
      slot,
      blockTime: Math.floor(this.timeOf(slot) / 1000),
      version,
      transactionIndex: transaction.position,
      meta: {
        costUnits: 1_481,
        err: failed ? { InstructionError: [0, 'Custom'] } : null,
        fee: 5000,
        preBalances: lamports('before'),
        postBalances: lamports('after'),
        preTokenBalances: tokens('before'),
        postTokenBalances: tokens('after'),
        innerInstructions: [],
      },
      transaction: {
        signatures: [transaction.signature],
        message: {
          recentBlockhash: blockhash,
          ...(version === 1 ? { transactionConfig: CONFIG } : {}),
          accountKeys: keys.map((pubkey) => ({
            pubkey,
            signer: signers.has(pubkey),
            writable: writable.has(pubkey),
          })),
          instructions: [
            ...(memo === null ? [] : [{ programId: MEMO_PROGRAM, parsed: memo }]),
            ...touched.map((change) => instructionOf(change, payer)),
          ],
        },
      },
    };
  }

  #touched(transaction: SolanaTransaction, { owner, mint, amount }: Change) {
    const key = this.accountKey(owner, mint);
    const entry = this.#accounts.get(key)?.entries.find((each) => each.transaction === transaction);
    const after = entry?.after ?? 0n;
    return { key, owner, mint, amount, before: after - (entry?.delta ?? 0n), after };
  }
}

/** Of two transactions one is of version 1. */
export const versionOf = ({ signature }: SolanaTransaction): number => signature.charCodeAt(0) % 2;

function instructionOf(
  { key, owner, mint, amount }: { key: string; owner: string; mint: string | null; amount: bigint },
  payer: string,
) {
  const size = amount < 0n ? -amount : amount;
  const [source, destination] = amount < 0n ? [key, payer] : [payer, key];
  if (mint === null)
    return {
      programId: SYSTEM_PROGRAM,
      program: 'system',
      parsed: { type: 'transfer', info: { source, destination, lamports: Number(size) } },
    };
  return {
    programId: TOKEN_PROGRAM,
    program: 'spl-token',
    parsed: {
      type: 'transferChecked',
      info: {
        source,
        destination,
        mint,
        authority: owner,
        tokenAmount: { amount: String(size), decimals: 6 },
      },
    },
  };
}
