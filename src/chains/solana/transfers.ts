// What one Solana transaction credited to one wallet: balance differences, named by memos and references.
import type { Gateway, Interval, Transfer } from '../family.ts';
import { MEMO_PROGRAMS, SYSTEM_PROGRAM } from './address.ts';
import { type Instruction, isDurable, stepsOf } from './instructions.ts';
import type { SolanaTransaction, TokenBalance } from './providers/rpc.ts';

/** What a finalized transaction counts as: the network calls a block final after so many. */
export const FINAL_CONFIRMATIONS = 32;

/** An enabled gateway with what the chain says of its mint. `mint` is null for SOL. */
export interface Asset {
  gateway: Gateway;
  mint: string | null;
  /** The token program that owns the mint; the system program for SOL. */
  program: string;
}

export interface Seen {
  signature: string;
  made: Interval;
  confirmations: number;
  final: boolean;
}

/** A part of a credit that one memo names. */
interface Share {
  memo: string | null;
  amount: bigint;
}

/**
 * The credits of a successful transaction to `owner`, one per asset and memo. Amounts are what the balances
 * gained, so a fee that the token itself takes is already off. What the owner signed is not a payment to it.
 */
export function transfersOf(
  transaction: SolanaTransaction,
  seen: Seen,
  owner: string,
  assets: readonly Asset[],
): Transfer[] {
  const { accountKeys } = transaction.transaction.message;
  if (transaction.meta.err !== null || accountKeys.some((key) => key.signer && key.pubkey === owner))
    return [];
  const steps = stepsOf(transaction);
  const references = referencesOf(transaction, owner);
  const blockhash = isDurable(transaction) ? null : transaction.transaction.message.recentBlockhash;
  return assets.flatMap((asset) => {
    const credit = creditOf(transaction, owner, asset);
    if (credit.amount <= 0n) return [];
    const { shares, ambiguous = credit.inexact } = sharesOf(steps, credit);
    const sender = credit.sender ?? sourceOf(steps, credit) ?? accountKeys[0]?.pubkey ?? null;
    return shares.map(
      ({ memo, amount }, index): Transfer => ({
        chain: asset.gateway.chain,
        address_key: owner,
        txid: seen.signature,
        index: `${owner}:${asset.mint ?? 'SOL'}:${index}`,
        amount_atomic: amount,
        memo,
        references,
        sender,
        height: transaction.slot,
        block_hash: null,
        ...seen.made,
        inputs: [],
        blockhash,
        confirmations: seen.confirmations,
        final: seen.final,
        ...(ambiguous ? { ambiguous } : {}),
      }),
    );
  });
}

interface Credit {
  amount: bigint;
  /** The accounts that took part of it. */
  accounts: ReadonlySet<string>;
  program: string;
  sender: string | null;
  inexact?: string;
}

function creditOf(transaction: SolanaTransaction, owner: string, { mint, program }: Asset): Credit {
  return mint === null ? lamportCredit(transaction, owner) : tokenCredit(transaction, owner, mint, program);
}

function lamportCredit({ meta, transaction }: SolanaTransaction, owner: string): Credit {
  const position = transaction.message.accountKeys.findIndex((key) => key.pubkey === owner);
  const before = meta.preBalances[position] ?? 0;
  const after = meta.postBalances[position] ?? 0;
  const exact = Number.isSafeInteger(before) && Number.isSafeInteger(after);
  return {
    amount: BigInt(after) - BigInt(before),
    accounts: new Set([owner]),
    program: SYSTEM_PROGRAM,
    sender: null,
    ...(exact ? {} : { inexact: 'the balance is beyond what a JSON number holds exactly' }),
  };
}

function tokenCredit(
  { meta, transaction }: SolanaTransaction,
  owner: string,
  mint: string,
  program: string,
): Credit {
  const gains = new Map<string, bigint>();
  const accounts = new Set<string>();
  const count = (balances: readonly TokenBalance[] | null | undefined, sign: bigint) => {
    for (const balance of balances ?? []) {
      if (balance.mint !== mint || balance.programId !== program || !balance.owner) continue;
      const gained = sign * BigInt(balance.uiTokenAmount.amount);
      gains.set(balance.owner, (gains.get(balance.owner) ?? 0n) + gained);
      const account = transaction.message.accountKeys[balance.accountIndex]?.pubkey;
      if (balance.owner === owner && account) accounts.add(account);
    }
  };
  count(meta.preTokenBalances, -1n);
  count(meta.postTokenBalances, 1n);
  const [payer] = [...gains].sort(([, a], [, b]) => (a < b ? -1 : a > b ? 1 : 0));
  return {
    amount: gains.get(owner) ?? 0n,
    accounts,
    program,
    sender: payer && payer[1] < 0n ? payer[0] : null,
  };
}

const isPart = (step: Instruction, credit: Credit) =>
  step.kind === 'transfer' && step.program === credit.program && credit.accounts.has(step.destination);

function sourceOf(steps: readonly Instruction[], credit: Credit): string | null {
  const transfer = steps.find((step) => isPart(step, credit));
  return transfer?.kind === 'transfer' ? transfer.source : null;
}

/**
 * Divides a credit among the memos of its transaction. One memo names all of it. Several name the transfers
 * that follow them (Solana Pay puts the memo right before its transfer), if that adds up to the unit.
 */
function sharesOf(steps: readonly Instruction[], credit: Credit): { shares: Share[]; ambiguous?: string } {
  const memos = [...new Set(steps.flatMap((step) => (step.kind === 'memo' ? [step.text] : [])))];
  if (memos.length < 2) return { shares: [{ memo: memos[0] ?? null, amount: credit.amount }] };
  const named = new Map<string, bigint>();
  let current: string | undefined;
  let total = 0n;
  for (const step of steps) {
    if (step.kind === 'memo') current = step.text;
    else if (current !== undefined && isPart(step, credit)) {
      named.set(current, (named.get(current) ?? 0n) + step.amount);
      total += step.amount;
    }
  }
  if (total === credit.amount) {
    return {
      shares: [...named].filter(([, amount]) => amount > 0n).map(([memo, amount]) => ({ memo, amount })),
    };
  }
  return {
    shares: [{ memo: memos.join('; '), amount: credit.amount }],
    ambiguous: `${memos.length} memos in one transaction and its transfers do not add up to the credit`,
  };
}

/** Every key that can be a Solana Pay reference: neither signed, nor written, nor a part of the transfer itself. */
function referencesOf({ meta, transaction }: SolanaTransaction, owner: string): string[] {
  const { accountKeys, instructions } = transaction.message;
  const inner = (meta.innerInstructions ?? []).flatMap((called) => called.instructions);
  const balances = [...(meta.preTokenBalances ?? []), ...(meta.postTokenBalances ?? [])];
  const known = new Set([
    owner,
    SYSTEM_PROGRAM,
    ...MEMO_PROGRAMS,
    ...[...instructions, ...inner].map((instruction) => instruction.programId),
    ...balances.flatMap(({ mint, owner: holder }) => [mint, holder ?? '']),
  ]);
  return accountKeys
    .filter((key) => !key.signer && !key.writable && !known.has(key.pubkey) && !isSysvar(key.pubkey))
    .map((key) => key.pubkey);
}

const isSysvar = (key: string) => key.startsWith('Sysvar');
