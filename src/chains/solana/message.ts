// An unsigned transaction as wallets and nodes read it: a legacy message that its payer alone signs.
import { base58 } from '@scure/base';

export interface AccountUse {
  key: string;
  writable?: boolean;
}

export interface NewInstruction {
  program: string;
  /** The payer among them signs, no one else. */
  accounts: readonly AccountUse[];
  data: Uint8Array;
}

const SIGNATURE_BYTES = 64;
/** A key is named by one byte. */
const MAX_ACCOUNTS = 256;

/** The transaction with an empty signature where the payer's will stand; the payer pays the fee. */
export function encodeTransaction(
  payer: string,
  blockhash: string,
  instructions: readonly NewInstruction[],
): Uint8Array {
  const { keys, read_only } = accountsOf(payer, instructions);
  const indexOf = (key: string): number => keys.indexOf(key);
  // One signature; no signer is read only.
  const message = [
    Uint8Array.of(1, 0, read_only),
    lengthOf(keys.length),
    ...keys.map((key) => base58.decode(key)),
    base58.decode(blockhash),
    lengthOf(instructions.length),
    ...instructions.flatMap(({ program, accounts, data }) => [
      Uint8Array.of(indexOf(program)),
      lengthOf(accounts.length),
      Uint8Array.from(accounts, ({ key }) => indexOf(key)),
      lengthOf(data.length),
      data,
    ]),
  ];
  return Buffer.concat([lengthOf(1), new Uint8Array(SIGNATURE_BYTES), ...message]);
}

/** Each key once: the payer, then what is written, then what is only read. */
function accountsOf(
  payer: string,
  instructions: readonly NewInstruction[],
): { keys: string[]; read_only: number } {
  const written = new Map<string, boolean>();
  for (const { program, accounts } of instructions)
    for (const { key, writable = false } of [...accounts, { key: program }])
      written.set(key, written.get(key) || writable);
  written.delete(payer);
  const others = [...written];
  const pick = (wanted: boolean) => others.flatMap(([key, writable]) => (writable === wanted ? [key] : []));
  const keys = [payer, ...pick(true), ...pick(false)];
  if (keys.length > MAX_ACCOUNTS) throw new RangeError('too many accounts for one transaction');
  return { keys, read_only: pick(false).length };
}

const SEVEN_BITS = 0x7f;
const MORE = 0x80;

/** Seven bits a byte, the lowest first. */
function lengthOf(count: number): Uint8Array {
  const bytes: number[] = [];
  let left = count;
  while (left > SEVEN_BITS) {
    bytes.push((left & SEVEN_BITS) | MORE);
    left >>>= 7;
  }
  return Uint8Array.of(...bytes, left);
}

/** An integer of a size in bytes, the lowest first. */
export function littleEndian(value: bigint, size: number): Uint8Array {
  if (value < 0n || value >= 1n << BigInt(size * 8))
    throw new RangeError(`${value} does not fit ${size} bytes`);
  return Uint8Array.from({ length: size }, (_, at) => Number((value >> BigInt(at * 8)) & 0xffn));
}
