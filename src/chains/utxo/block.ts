// Reads blocks and transactions from their bytes: one parser for every provider, exact to the last unit.
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes } from '@noble/hashes/utils.js';
import { atOnce, type Steps } from '../steps.ts';

const HEADER_BYTES = 80;
const HASH_BYTES = 32;
/** What each takes at least: a spent output, its length of a script and its sequence; an amount and a length; both with version and lock time. */
const INPUT_BYTES = 41;
const OUTPUT_BYTES = 9;
const TRANSACTION_BYTES = 10;
/** The limit of a block, by the rules of both chains. */
const MOST_TRANSACTION_BYTES = 4_000_000;
/** With its header; what Litecoin appends comes after. */
const MOST_BLOCK_BYTES = MOST_TRANSACTION_BYTES + 100;
/** Flag bits after the empty-input marker: BIP144 witnesses, and Litecoin's MimbleWimble extension. */
const FLAG_WITNESS = 1;
const FLAG_MWEB = 8;
const NO_HASH = '0'.repeat(2 * HASH_BYTES);

interface Output {
  /** The scriptPubKey in hex. */
  script: string;
  amount: bigint;
}

export interface Transaction {
  txid: string;
  coinbase: boolean;
  /** What it spends, as `txid:vout`. */
  inputs: string[];
  outputs: Output[];
}

export interface Header {
  hash: string;
  previous: string;
  merkle_root: string;
  /** Unix seconds. */
  time: number;
  /** The target that its hash must not exceed, in the compact form of the chain (`nBits`). */
  bits: number;
  /** The 80 bytes that its work is proved by. */
  bytes: Uint8Array;
}

export interface Block extends Header {
  transactions: Transaction[];
}

/** Bytes that are not what they should be: truncated, foreign or tampered with. */
export class MalformedBytes extends Error {
  override name = 'MalformedBytes';
}

class Reader {
  readonly bytes: Uint8Array;
  offset = 0;
  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  take(length: number): Uint8Array {
    const end = this.offset + length;
    if (end > this.bytes.length) throw new MalformedBytes(`ends after ${this.bytes.length} bytes`);
    const part = this.bytes.subarray(this.offset, end);
    this.offset = end;
    return part;
  }

  /** Little-endian, up to 6 bytes: exact in a number. */
  number(length: number): number {
    const bytes = this.take(length);
    let value = 0;
    for (let at = length - 1; at >= 0; at--) value = value * 256 + (bytes[at] as number);
    return value;
  }

  amount(): bigint {
    return BigInt(this.number(4)) + (BigInt(this.number(4)) << 32n);
  }

  /** A count or length; what it counts takes at least so many bytes each, so that it cannot exceed what is left. */
  count(least_bytes = 1): number {
    const first = this.number(1);
    const value =
      first < 0xfd ? first : first === 0xfd ? this.number(2) : first === 0xfe ? this.number(4) : Infinity;
    if (value * least_bytes > this.bytes.length - this.offset)
      throw new MalformedBytes('a length exceeds what is left');
    return value;
  }

  hash(): string {
    return reversedHex(this.take(HASH_BYTES));
  }
}

/** Hashes are shown in reverse byte order by every explorer and node. */
const reversedHex = (bytes: Uint8Array) => Buffer.from(bytes).reverse().toString('hex');
const hexOf = ({ buffer, byteOffset, length }: Uint8Array) =>
  Buffer.from(buffer, byteOffset, length).toString('hex');
/** SHA-256 twice: the identity of transactions and blocks, and Bitcoin's proof of work. */
export const doubleHash = (...parts: Uint8Array[]) => sha256(sha256(concatBytes(...parts)));

interface Body {
  flags: number;
  /** Version, then inputs and outputs: what the txid is made of, but for the lock time. */
  hashed: Uint8Array[];
  coinbase: boolean;
  inputs: string[];
  outputs: Output[];
}

/** Inputs, outputs or transactions that are read in one step: each takes some microseconds. */
const PER_STEP = 100;

/** So many of what is read from the bytes, in steps. */
function* repeated<T>(count: number, read: () => T): Steps<T[]> {
  const found: T[] = [];
  while (found.length < count) {
    found.push(read());
    if (found.length % PER_STEP === 0) yield;
  }
  return found;
}

function* readBody(reader: Reader): Steps<Body> {
  const version = reader.take(4);
  let flags = 0;
  if (reader.bytes[reader.offset] === 0) {
    reader.take(1);
    flags = reader.number(1);
    if (flags === 0 || flags & ~(FLAG_WITNESS | FLAG_MWEB)) throw new MalformedBytes(`flags ${flags}`);
  }
  const start = reader.offset;
  const inputs = yield* repeated(reader.count(INPUT_BYTES), () => {
    const spent = `${reader.hash()}:${reader.number(4)}`;
    reader.take(reader.count());
    reader.take(4);
    return spent;
  });
  const outputs = yield* repeated(reader.count(OUTPUT_BYTES), () => {
    const amount = reader.amount();
    return { amount, script: hexOf(reader.take(reader.count())) };
  });
  const coinbase = inputs.length === 1 && inputs[0]?.startsWith(NO_HASH) === true;
  return { flags, hashed: [version, reader.bytes.subarray(start, reader.offset)], coinbase, inputs, outputs };
}

function* readTransaction(reader: Reader): Steps<{ raw_id: Uint8Array; transaction: Transaction }> {
  const { flags, hashed, ...rest } = yield* readBody(reader);
  if (flags & FLAG_WITNESS) {
    for (let input = 0; input < rest.inputs.length; input++) {
      for (let items = reader.count(); items > 0; items--) reader.take(reader.count());
      if (input % PER_STEP === PER_STEP - 1) yield;
    }
  }
  // A block keeps MimbleWimble data in its own part; what remains of it here is the empty mark of the HogEx.
  if (flags & FLAG_MWEB && reader.number(1) !== 0) throw new MalformedBytes('unexpected MWEB data');
  const raw_id = doubleHash(...hashed, reader.take(4));
  return { raw_id, transaction: { txid: reversedHex(raw_id), ...rest } };
}

/** One transaction as a mempool holds it. Whatever follows the outputs is not needed; the lock time ends it. */
export const parseTransaction = (bytes: Uint8Array): Transaction => atOnce(readAlone(bytes));

/** The same, in steps. */
export function* readAlone(bytes: Uint8Array): Steps<Transaction> {
  if (bytes.length > MOST_TRANSACTION_BYTES)
    throw new MalformedBytes(`larger than any block: ${bytes.length} bytes`);
  const { hashed, flags: _, ...rest } = yield* readBody(new Reader(bytes));
  return { txid: reversedHex(doubleHash(...hashed, bytes.subarray(-4))), ...rest };
}

/** The first 80 bytes of a block. */
export function parseHeader(bytes: Uint8Array): Header {
  const reader = new Reader(bytes);
  const header = Uint8Array.from(reader.take(HEADER_BYTES));
  reader.offset = 4;
  const previous = reader.hash();
  const merkle_root = reader.hash();
  const time = reader.number(4);
  const bits = reader.number(4);
  return { hash: reversedHex(doubleHash(header)), previous, merkle_root, time, bits, bytes: header };
}

/**
 * A whole block. The transactions are proved complete and unchanged by the header's merkle root; what
 * Litecoin appends to them (the MimbleWimble part) pays no address and is left unread.
 */
export const parseBlock = (bytes: Uint8Array): Block => atOnce(readBlock(bytes));

/** The same, in steps. */
export function* readBlock(bytes: Uint8Array): Steps<Block> {
  const header = parseHeader(bytes);
  const reader = new Reader(bytes);
  reader.offset = HEADER_BYTES;
  const count = reader.count(TRANSACTION_BYTES);
  const read: { raw_id: Uint8Array; transaction: Transaction }[] = [];
  while (read.length < count) {
    read.push(yield* readTransaction(reader));
    if (reader.offset > MOST_BLOCK_BYTES) throw new MalformedBytes('larger than any block');
    if (read.length % PER_STEP === 0) yield;
  }
  if ((yield* merkleRoot(read.map(({ raw_id }) => raw_id))) !== header.merkle_root) {
    throw new MalformedBytes('the transactions are not those of the block header');
  }
  return { ...header, transactions: read.map(({ transaction }) => transaction) };
}

function* merkleRoot(hashes: Uint8Array[]): Steps<string> {
  let level = hashes;
  while (level.length > 1) {
    const next: Uint8Array[] = [];
    for (let i = 0; i < level.length; i += 2) {
      const left = level[i] as Uint8Array;
      const right = level[i + 1];
      // Repeating the last transactions leaves the root unchanged (CVE-2012-2459): not a real block.
      if (right && Buffer.compare(left, right) === 0) throw new MalformedBytes('repeated transactions');
      next.push(doubleHash(left, right ?? left));
      if (next.length % PER_STEP === 0) yield;
    }
    level = next;
  }
  return level[0] ? reversedHex(level[0]) : '';
}
