// Solana transactions for the tests: instructions, legacy and version 0 messages, signing.
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { ATA_PROGRAM, SYSTEM_PROGRAM } from '../../src/chains/solana/address.ts';

export interface Keypair {
  address: string;
  secret: Uint8Array;
}

interface AccountMeta {
  key: string;
  signer?: boolean;
  writable?: boolean;
}

export interface Instruction {
  program: string;
  accounts: AccountMeta[];
  data: Uint8Array;
}

/** An address lookup table on the chain. */
export interface LookupTable {
  key: string;
  addresses: string[];
}

const COMPUTE_BUDGET = 'ComputeBudget111111111111111111111111111111';

export function newKeypair(secret: Uint8Array = ed25519.utils.randomSecretKey()): Keypair {
  return { address: base58.encode(ed25519.getPublicKey(secret)), secret };
}

const u32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};
export const u64 = (value: bigint | number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};
const referenceMetas = (references: readonly string[] = []) => references.map((key) => ({ key }));

/** Gives every transaction its own signature, whatever else it holds. */
export const computeLimit = (units: number): Instruction => ({
  program: COMPUTE_BUDGET,
  accounts: [],
  data: Buffer.concat([Buffer.of(2), u32(units)]),
});

export const memoInstruction = (program: string, text: string): Instruction => ({
  program,
  accounts: [],
  data: Buffer.from(text),
});

export const systemTransfer = (
  from: string,
  to: string,
  lamports: bigint,
  references?: readonly string[],
): Instruction => ({
  program: SYSTEM_PROGRAM,
  accounts: [
    { key: from, signer: true, writable: true },
    { key: to, writable: true },
    ...referenceMetas(references),
  ],
  data: Buffer.concat([u32(2), u64(lamports)]),
});

export const createAccount = (
  payer: string,
  account: string,
  lamports: bigint,
  space: number,
  owner: string,
): Instruction => ({
  program: SYSTEM_PROGRAM,
  accounts: [
    { key: payer, signer: true, writable: true },
    { key: account, signer: true, writable: true },
  ],
  data: Buffer.concat([u32(0), u64(lamports), u64(space), base58.decode(owner)]),
});

export const createTokenAccount = (
  payer: string,
  account: string,
  owner: string,
  mint: string,
  tokenProgram: string,
): Instruction => ({
  program: ATA_PROGRAM,
  accounts: [
    { key: payer, signer: true, writable: true },
    { key: account, writable: true },
    { key: owner },
    { key: mint },
    { key: SYSTEM_PROGRAM },
    { key: tokenProgram },
  ],
  // 1: create, or leave it if it is there.
  data: Buffer.of(1),
});

export const initializeTokenAccount = (
  tokenProgram: string,
  account: string,
  mint: string,
  owner: string,
): Instruction => ({
  program: tokenProgram,
  accounts: [{ key: account, writable: true }, { key: mint }],
  data: Buffer.concat([Buffer.of(18), base58.decode(owner)]),
});

export const mintTo = (
  tokenProgram: string,
  mint: string,
  account: string,
  authority: string,
  amount: bigint,
): Instruction => ({
  program: tokenProgram,
  accounts: [
    { key: mint, writable: true },
    { key: account, writable: true },
    { key: authority, signer: true },
  ],
  data: Buffer.concat([Buffer.of(7), u64(amount)]),
});

export const tokenTransfer = (
  tokenProgram: string,
  { from, to, mint, authority }: { from: string; to: string; mint: string; authority: string },
  amount: bigint,
  decimals: number,
  references?: readonly string[],
): Instruction => ({
  program: tokenProgram,
  accounts: [
    { key: from, writable: true },
    { key: mint },
    { key: to, writable: true },
    { key: authority, signer: true },
    ...referenceMetas(references),
  ],
  data: Buffer.concat([Buffer.of(12), u64(amount), Buffer.of(decimals)]),
});

/** Compiles, signs and serializes; the first signer pays the fee. Version 0 if lookup tables are given. */
export function buildTransaction(
  instructions: readonly Instruction[],
  signers: readonly Keypair[],
  blockhash: string,
  tables?: readonly LookupTable[],
): Buffer {
  const { message, order } = compile(instructions, signers, blockhash, tables);
  const secrets = new Map(signers.map(({ address, secret }) => [address, secret]));
  const signatures = order.map((address) => {
    const secret = secrets.get(address);
    if (!secret) throw new Error(`no one signs for ${address}`);
    return ed25519.sign(message, secret);
  });
  return Buffer.concat([compactLength(signatures.length), ...signatures, message]);
}

const SIGNATURE_BYTES = 64;

/** Puts the one signature that a transaction lacks where it belongs. */
export function signTransaction(transaction: Uint8Array, { secret }: Keypair): Buffer {
  if (transaction[0] !== 1) throw new Error(`${transaction[0]} signatures are asked for`);
  const message = transaction.subarray(1 + SIGNATURE_BYTES);
  return Buffer.concat([Uint8Array.of(1), ed25519.sign(message, secret), message]);
}

function compile(
  instructions: readonly Instruction[],
  signers: readonly Keypair[],
  blockhash: string,
  tables?: readonly LookupTable[],
): { message: Buffer; order: string[] } {
  const metas = new Map<string, { signer: boolean; writable: boolean; program: boolean }>();
  const note = (key: string, { signer = false, writable = false, program = false }) => {
    const known = metas.get(key) ?? { signer: false, writable: false, program: false };
    metas.set(key, {
      signer: known.signer || signer,
      writable: known.writable || writable,
      program: known.program || program,
    });
  };
  signers.forEach(({ address }, index) => {
    note(address, { signer: true, writable: index === 0 });
  });
  for (const { program, accounts } of instructions) {
    for (const account of accounts) note(account.key, account);
    note(program, { program: true });
  }
  const all = [...metas];
  const inTable = ([key, meta]: (typeof all)[number]) =>
    !meta.signer && !meta.program && (tables ?? []).some((table) => table.addresses.includes(key));
  const pick = (signer: boolean, writable: boolean) =>
    all.filter((each) => !inTable(each) && each[1].signer === signer && each[1].writable === writable);
  const groups = [pick(true, true), pick(true, false), pick(false, true), pick(false, false)];
  const stated = groups.flat().map(([key]) => key);
  const lookups = (tables ?? []).map((table) => {
    const found = (writable: boolean) =>
      all.filter(
        (each) => inTable(each) && each[1].writable === writable && table.addresses.includes(each[0]),
      );
    return { table, writable: found(true).map(([key]) => key), readonly: found(false).map(([key]) => key) };
  });
  const keys = [
    ...stated,
    ...lookups.flatMap((each) => each.writable),
    ...lookups.flatMap((each) => each.readonly),
  ];
  const position = (key: string) => keys.indexOf(key);
  const [signed = [], signedReadonly = [], , readonly = []] = groups;
  const message = Buffer.concat([
    tables ? Buffer.of(0x80) : Buffer.alloc(0),
    Buffer.of(signed.length + signedReadonly.length, signedReadonly.length, readonly.length),
    list(stated.map((key) => base58.decode(key))),
    base58.decode(blockhash),
    list(
      instructions.map(({ program, accounts, data }) =>
        Buffer.concat([
          Buffer.of(position(program)),
          list(accounts.map(({ key }) => Buffer.of(position(key)))),
          compactLength(data.length),
          data,
        ]),
      ),
    ),
    tables
      ? list(
          lookups.map(({ table, writable, readonly: read }) => {
            const indexes = (found: string[]) =>
              list(found.map((key) => Buffer.of(table.addresses.indexOf(key))));
            return Buffer.concat([base58.decode(table.key), indexes(writable), indexes(read)]);
          }),
        )
      : Buffer.alloc(0),
  ]);
  return { message, order: [...signed, ...signedReadonly].map(([key]) => key) };
}

const list = (items: readonly Uint8Array[]) => Buffer.concat([compactLength(items.length), ...items]);

/** Seven bits a byte, the lowest first. */
function compactLength(length: number): Buffer {
  const bytes: number[] = [];
  for (let rest = length; ; rest >>= 7) {
    if (rest < 0x80) return Buffer.from([...bytes, rest]);
    bytes.push((rest & 0x7f) | 0x80);
  }
}
