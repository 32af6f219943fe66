// The instructions of a Solana transaction in the order they ran: memos and transfers, inner ones included.

import { base58 } from '@scure/base';
import { cleanText } from '../../clean.ts';
import { MEMO_PROGRAMS, SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './address.ts';
import type { SolanaInstruction, SolanaTransaction } from './providers/rpc.ts';

/** A memo, or money sent to an account: lamports where `program` is the system program, else token units. */
export type Instruction =
  | { kind: 'memo'; text: string }
  | { kind: 'transfer'; program: string; destination: string; amount: bigint; source: string | null };

/** Longest memo stored; a transaction cannot carry a longer one than its own bytes: 1232, and 4096 since version 1. */
const MEMO_CHARACTERS = 4096;

/** The memos and transfers of a transaction in execution order: each instruction, then those it called. */
export function stepsOf({ meta, transaction }: SolanaTransaction): Instruction[] {
  const steps: Instruction[] = [];
  transaction.message.instructions.forEach((instruction, index) => {
    const inner = (meta.innerInstructions ?? []).filter((called) => called.index === index);
    for (const each of [instruction, ...inner.flatMap((called) => called.instructions)]) {
      const step = stepOf(each);
      if (step) steps.push(step);
    }
  });
  return steps;
}

/** Whether it can be included at any time: it uses up a nonce, and what stands for its blockhash does not expire. */
export function isDurable({ transaction }: SolanaTransaction): boolean {
  const [first] = transaction.message.instructions;
  return (
    first?.programId === SYSTEM_PROGRAM && isRecord(first.parsed) && first.parsed.type === 'advanceNonce'
  );
}

function stepOf(instruction: SolanaInstruction): Instruction | undefined {
  const { programId } = instruction;
  if (MEMO_PROGRAMS.includes(programId)) {
    const text = memoText(instruction);
    return text ? { kind: 'memo', text } : undefined;
  }
  if (programId === SYSTEM_PROGRAM || programId === TOKEN_PROGRAM || programId === TOKEN_2022_PROGRAM) {
    return transferStep(programId, instruction.parsed);
  }
  return undefined;
}

/** Nodes parse the two older memo programs; of the newest they give the bytes. Null where it cannot be read. */
function memoText({ parsed, data }: SolanaInstruction): string | null {
  try {
    const text =
      typeof parsed === 'string'
        ? parsed
        : new TextDecoder('utf-8', { fatal: true }).decode(base58.decode(data ?? ''));
    return cleanText(text).slice(0, MEMO_CHARACTERS) || null;
  } catch {
    return null;
  }
}

/** `transfer`, `transferWithSeed`, `transferChecked` and `transferCheckedWithFee` as nodes parse them. */
function transferStep(program: string, parsed: unknown): Instruction | undefined {
  if (!isRecord(parsed) || !isRecord(parsed.info)) return undefined;
  if (typeof parsed.type !== 'string' || !parsed.type.startsWith('transfer')) return undefined;
  const { info } = parsed;
  const gross = integer(info.lamports ?? info.amount ?? unitsOf(info.tokenAmount));
  if (gross === undefined || typeof info.destination !== 'string') return undefined;
  const amount = gross - (integer(unitsOf(info.feeAmount)) ?? 0n);
  const source = typeof info.source === 'string' ? info.source : null;
  return { kind: 'transfer', program, destination: info.destination, amount, source };
}

const unitsOf = (value: unknown) => (isRecord(value) ? value.amount : undefined);

function integer(value: unknown): bigint | undefined {
  if (typeof value === 'string' && /^\d{1,20}$/.test(value)) return BigInt(value);
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : undefined;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
