// Writes PNG files: rows of pixels as they are, packed.
import { crc32 } from 'node:zlib';

const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
/** Grey, or red, green and blue. */
const COLOR_TYPES = { grey: 0, rgb: 2 };

export interface PngHead {
  width: number;
  height: number;
  color: keyof typeof COLOR_TYPES;
  /** Of each channel. */
  bits: 1 | 8;
}

/** A PNG of rows that are packed by deflate, each with a byte 0 before it: they are not filtered. */
export function pngOf({ width, height, color, bits }: PngHead, packed: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width);
  header.writeUInt32BE(height, 4);
  header.set([bits, COLOR_TYPES[color]], 8);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', packed),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(name: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name), content]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(content.length);
  ends.writeUInt32BE(crc32(named), 4);
  return Buffer.concat([ends.subarray(0, 4), named, ends.subarray(4)]);
}
