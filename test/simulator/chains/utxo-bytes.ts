// Transactions and blocks of Bitcoin and Litecoin as bytes, with a proof of work that passes at regtest's difficulty.
import { createHash, scryptSync } from 'node:crypto';

/** The easiest target that nodes know: every second hash is below it. */
export const REGTEST_BITS = 0x207fffff;
const REGTEST_TARGET = 0x7fffffn << 232n;
const VERSION = 2;
const FINAL_SEQUENCE = 0xfffffffd;
const NO_OUTPUT = 0xffffffff;
const TAG = 4;

export type Work = 'sha256d' | 'scrypt';

export interface Output {
  /** The scriptPubKey in hex. */
  script: string;
  amount: bigint;
}

export interface Transaction {
  txid: string;
  bytes: Buffer;
  /** What it spends, as `txid:vout`. */
  inputs: readonly string[];
  outputs: readonly Output[];
}

export interface Block {
  hash: string;
  previous: string;
  height: number;
  /** Unix seconds. */
  time: number;
  bytes: Buffer;
  /** The coinbase first. */
  transactions: readonly Transaction[];
}

export const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();
const doubleHash = (bytes: Uint8Array): Buffer => sha256(sha256(bytes));
/** Hashes are shown in reverse byte order by every explorer and node. */
const shown = (hash: Uint8Array): string => Buffer.from(hash).reverse().toString('hex');
const hidden = (hash: string): Buffer => Buffer.from(hash, 'hex').reverse();

function uint(value: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntLE(value, 0, bytes);
  return buffer;
}

function amountBytes(amount: bigint): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeBigUInt64LE(amount);
  return buffer;
}

const count = (value: number): Buffer =>
  value < 0xfd ? uint(value, 1) : Buffer.concat([uint(0xfd, 1), uint(value, 2)]);

export function makeTransaction(
  inputs: readonly string[],
  outputs: readonly Output[],
  { script = '', lock_time = 0 }: { script?: string; lock_time?: number } = {},
): Transaction {
  const parts = [uint(VERSION, 4), count(inputs.length)];
  for (const input of inputs) {
    const [txid = '', vout = '0'] = input.split(':');
    parts.push(hidden(txid), uint(Number(vout), 4), count(script.length / 2), Buffer.from(script, 'hex'));
    parts.push(uint(FINAL_SEQUENCE, 4));
  }
  parts.push(count(outputs.length));
  for (const output of outputs) {
    const code = Buffer.from(output.script, 'hex');
    parts.push(amountBytes(output.amount), count(code.length), code);
  }
  parts.push(uint(lock_time, 4));
  const bytes = Buffer.concat(parts);
  return { txid: shown(doubleHash(bytes)), bytes, inputs, outputs };
}

/** A coinbase carries its height, so that no two are equal; `tag` tells those of one height apart. */
export function makeCoinbase(height: number, tag: number, output: Output): Transaction {
  const script = Buffer.concat([uint(TAG, 1), uint(height, 4), uint(TAG, 1), uint(tag, 4)]).toString('hex');
  return makeTransaction([`${'0'.repeat(64)}:${NO_OUTPUT}`], [output], { script });
}

export interface BlockTemplate {
  previous: string;
  height: number;
  time: number;
  transactions: readonly Transaction[];
  work: Work;
  /** False makes one whose proof of work does not pass. */
  passes?: boolean;
}

/** Tries nonces until the proof of work is as asked. */
export function makeBlock({
  previous,
  height,
  time,
  transactions,
  work,
  passes = true,
}: BlockTemplate): Block {
  const root = merkleRoot(transactions.map(({ txid }) => hidden(txid)));
  const header = Buffer.concat([
    uint(VERSION, 4),
    hidden(previous),
    root,
    uint(time, 4),
    uint(REGTEST_BITS, 4),
    uint(0, 4),
  ]);
  for (let nonce = 0; ; nonce++) {
    header.writeUInt32LE(nonce, 76);
    if (isBelowTarget(header, work) === passes) break;
  }
  const bytes = Buffer.concat([
    header,
    count(transactions.length),
    ...transactions.map((each) => each.bytes),
  ]);
  return { hash: shown(doubleHash(header)), previous, height, time, bytes, transactions };
}

export const headerOf = ({ bytes }: Block): Buffer => bytes.subarray(0, 80);

/** Litecoin proves its work by scrypt; blocks are named by the double SHA-256 all the same. */
function isBelowTarget(header: Buffer, work: Work): boolean {
  const hash =
    work === 'sha256d' ? doubleHash(header) : scryptSync(header, header, 32, { N: 1024, r: 1, p: 1 });
  return BigInt(`0x${shown(hash)}`) <= REGTEST_TARGET;
}

function merkleRoot(hashes: Buffer[]): Buffer {
  let level = hashes;
  while (level.length > 1)
    level = Array.from({ length: Math.ceil(level.length / 2) }, (_, at) => {
      const left = level[2 * at] as Buffer;
      return doubleHash(Buffer.concat([left, level[2 * at + 1] ?? left]));
    });
  return level[0] as Buffer;
}
