// Message bodies: comments and jetton transfers. Nothing here throws on what a stranger put on the chain.

import { type Address, BitReader, BitString, type Cell, crc32c, Slice } from '@ton/core';
import { cleanText } from '../../clean.ts';

export const OP = {
  text_comment: 0,
  transfer: 0x0f8a7ea5,
  internal_transfer: 0x178d4519,
  transfer_notification: 0x7362d09c,
  excesses: 0xd53276db,
  bounced: 0xffffffff,
} as const;

const OP_BITS = 32;
const BYTE_BITS = 8;
/** What each serialized tree of cells begins with. */
const GENERIC_MAGIC = 0xb5ee9c72;
/** Longer comments name no invoice; reading stops there. */
const MEMO_LIMIT_BYTES = 1024;
/** A full cell holds 127 bytes; writers that put fewer into each need more cells. */
const MEMO_LIMIT_CELLS = 64;

/** The chain's own limits of a message, and what its form adds to each cell. */
const MOST_CELLS = 8_192;
const MOST_BYTES = 2 ** 21 / 8 + MOST_CELLS * 16;

/** What is read of a cell. */
export type Part = Pick<Cell, 'bits' | 'isExotic' | 'beginParse'>;

/** The parsed body; null where it is not one ordinary cell, or more than any message on the chain. */
export function parseBody(base64: string): Part | null {
  try {
    const cell = cellIn(base64);
    return cell.isExotic ? null : cell;
  } catch {
    return null;
  }
}

/** Throws where it is none, or larger than any message. No cell is hashed: nothing here is known by its hash, and strangers send thousands. */
export function cellIn(base64: string): Part {
  if (base64.length > (MOST_BYTES * 4) / 3) throw new Error('too large');
  const bytes = Buffer.from(base64, 'base64');
  let at = 0;
  const number = (length: number): number => {
    at += length;
    return bytes.readUIntBE(at - length, length);
  };
  if (number(4) !== GENERIC_MAGIC) throw new Error('no cells');
  const flags = number(1);
  const size = flags % 8;
  const offset_size = number(1);
  const [cells, roots] = [number(size), number(size)];
  if (roots !== 1 || cells > MOST_CELLS) throw new Error('no message');
  at += size + offset_size;
  const root = number(size);
  if (flags & WITH_INDEX) at += cells * offset_size;
  const read = Array.from({ length: cells }, (_, index) => {
    const cell = readCell(bytes, at, size);
    // Or they would lead in a circle.
    if (cell.refs.some((ref) => ref <= index || ref >= cells)) throw new Error('a reference leads back');
    at = cell.end;
    return cell;
  });
  if (flags & WITH_CHECKSUM && !crc32c(bytes.subarray(0, at)).equals(bytes.subarray(at, at + CHECKSUM_BYTES)))
    throw new Error('the checksum is wrong');
  return partOf(read, root);
}

const WITH_INDEX = 128;
const WITH_CHECKSUM = 64;
const CHECKSUM_BYTES = 4;
/** Of the first byte of a cell: whether it is exotic, whether hashes are stored with it, and of how many levels. */
const EXOTIC = 8;
const WITH_HASHES = 16;
const LEVELS = [32, 64, 128];
const HASH_AND_DEPTH_BYTES = 32 + 2;
const MOST_REFS = 4;

interface StoredCell {
  bits: BitString;
  /** Positions of others in the list, after its own. */
  refs: readonly number[];
  isExotic: boolean;
  /** Where the next one begins. */
  end: number;
}

function readCell(bytes: Buffer, at: number, size: number): StoredCell {
  const [first, second] = [bytes.readUInt8(at), bytes.readUInt8(at + 1)];
  const count = first % EXOTIC;
  if (count > MOST_REFS) throw new Error('too many references');
  const hashes = first & WITH_HASHES ? 1 + LEVELS.filter((level) => first & level).length : 0;
  const from = at + 2 + hashes * HASH_AND_DEPTH_BYTES;
  const to = from + Math.ceil(second / 2);
  const refs: number[] = [];
  for (let ref = 0; ref < count; ref++) refs.push(bytes.readUIntBE(to + ref * size, size));
  const end = to + count * size;
  if (end > bytes.length) throw new Error('it ends before its cells do');
  // An odd length says that its last bit set only ends it.
  const padding = second % 2 === 0 ? 0 : paddingOf(bytes.readUInt8(to - 1));
  const bits = new BitString(bytes, from * BYTE_BITS, (to - from) * BYTE_BITS - padding);
  return { bits, refs, isExotic: (first & EXOTIC) !== 0, end };
}

/** The bits of a last byte from the last one that is set on. */
function paddingOf(byte: number): number {
  if (byte === 0) throw new Error('its last bit is missing');
  const zeros = 31 - Math.clz32(byte & -byte);
  return zeros + 1;
}

/** One of the cells, whose references are followed as far as somebody reads. */
function partOf(cells: readonly StoredCell[], at: number): Part {
  const cell = cells[at];
  if (!cell) throw new Error('no such cell');
  const { bits, refs, isExotic } = cell;
  return {
    bits,
    isExotic,
    beginParse() {
      if (isExotic) throw new Error('an exotic cell');
      const parts = refs.map((ref) => partOf(cells, ref));
      // A slice hands its references out, and does nothing else with them.
      return new Slice(new BitReader(bits), parts as Cell[]);
    },
  };
}

/** The first 32 bits; null for a body without any. */
export function opOf(body: Part): number | null {
  return body.bits.length < OP_BITS ? null : body.beginParse().preloadUint(OP_BITS);
}

/** The text comment at the slice, cleaned; null where there is none, or it is encrypted, too long or not UTF-8. */
export function readComment(slice: Slice): string | null {
  if (slice.remainingBits < OP_BITS || slice.preloadUint(OP_BITS) !== OP.text_comment) return null;
  slice.skip(OP_BITS);
  const bytes = readSnake(slice);
  if (!bytes) return null;
  try {
    return cleanText(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) || null;
  } catch {
    return null;
  }
}

/** Bytes of the cell followed by those of its first reference, and so on. */
function readSnake(start: Slice): Uint8Array | null {
  const chunks: Buffer[] = [];
  let length = 0;
  let slice = start;
  for (let cells = 0; cells < MEMO_LIMIT_CELLS; cells++) {
    if (slice.remainingBits % BYTE_BITS !== 0) return null;
    const chunk = slice.loadBuffer(slice.remainingBits / BYTE_BITS);
    length += chunk.length;
    if (length > MEMO_LIMIT_BYTES) return null;
    chunks.push(chunk);
    if (slice.remainingRefs === 0) return Buffer.concat(chunks);
    const next = slice.loadRef();
    if (next.isExotic) return null;
    slice = next.beginParse();
  }
  return null;
}

export interface InternalTransfer {
  amount_atomic: bigint;
  /** The owner who sent; null for a mint that names none. */
  from: Address | null;
  memo: string | null;
}

/** A TEP-74 `internal_transfer`; null where the body is none. Its forward payload is read even if nothing was forwarded. */
export function readInternalTransfer(body: Part): InternalTransfer | null {
  try {
    const slice = body.beginParse();
    if (slice.loadUint(OP_BITS) !== OP.internal_transfer) return null;
    slice.skip(64); // query_id
    const amount_atomic = slice.loadCoins();
    return { amount_atomic, ...readOrigin(slice) };
  } catch {
    return null;
  }
}

function readOrigin(slice: Slice): { from: Address | null; memo: string | null } {
  let from: Address | null = null;
  try {
    from = slice.loadMaybeAddress();
    slice.loadMaybeAddress(); // response_destination
    slice.loadCoins(); // forward_ton_amount
    return { from, memo: readForwardPayload(slice) };
  } catch {
    return { from, memo: null };
  }
}

/** `Either`: 0 and the payload follows, 1 and it is in a reference; mints may leave out even the bit. */
function readForwardPayload(slice: Slice): string | null {
  if (slice.remainingBits === 0) return null;
  if (!slice.loadBit()) return readComment(slice);
  const payload = slice.loadRef();
  return payload.isExotic ? null : readComment(payload.beginParse());
}
