// Message bodies: comments and jetton transfers. Nothing here throws on what a stranger put on the chain.

import { type Address, BitReader, BitString, Cell, type Slice } from '@ton/core';
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
/** What each serialized tree of cells begins with, and the bits up to the size of its counts. */
const GENERIC_MAGIC = 0xb5ee9c72;
const GENERIC_MAGIC_BITS = 37;
/** Longer comments name no invoice; reading stops there. */
const MEMO_LIMIT_BYTES = 1024;
/** A full cell holds 127 bytes; writers that put fewer into each need more cells. */
const MEMO_LIMIT_CELLS = 64;

/** The chain's own limits of a message, and what its form adds to each cell. */
const MOST_CELLS = 8_192;
const MOST_BYTES = 2 ** 21 / 8 + MOST_CELLS * 16;

/** The parsed body; null where it is not one ordinary cell, or more than any message on the chain. */
export function parseBody(base64: string): Cell | null {
  try {
    const cell = cellIn(base64);
    return cell.isExotic ? null : cell;
  } catch {
    return null;
  }
}

/** Throws where it is none, or larger than any message: each cell costs a hash, and a false count of them a million. */
export function cellIn(base64: string): Cell {
  if (base64.length > (MOST_BYTES * 4) / 3) throw new Error('too large');
  const bytes = Buffer.from(base64, 'base64');
  const reader = new BitReader(new BitString(bytes, 0, bytes.length * BYTE_BITS));
  reader.skip(GENERIC_MAGIC_BITS);
  const size_bits = reader.loadUint(3) * BYTE_BITS;
  reader.skip(BYTE_BITS);
  const [cells, roots] = [reader.loadUint(size_bits), reader.loadUint(size_bits)];
  if (bytes.readUInt32BE() !== GENERIC_MAGIC || roots !== 1 || cells > MOST_CELLS)
    throw new Error('no message');
  return Cell.fromBase64(base64);
}

/** The first 32 bits; null for a body without any. */
export function opOf(body: Cell): number | null {
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
export function readInternalTransfer(body: Cell): InternalTransfer | null {
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
