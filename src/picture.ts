// Pictures that merchants upload: what a data URL holds, by its own bytes. Nothing is fetched and nothing is guessed.

export const MAX_PICTURE_BYTES = 64 * 1024;
/** The longest data URL of one: base64 and its beginning. */
export const MAX_PICTURE_URL = Math.ceil(MAX_PICTURE_BYTES / 3) * 4 + 64;
/** In pixels, each way: what unpacks to more would cost its viewer memory. */
const MAX_SIDE = 2048;

const types = ['image/png', 'image/jpeg', 'image/webp'] as const;
export type PictureType = (typeof types)[number];

export interface Picture {
  type: PictureType;
  /** In base64. */
  data: string;
}

/** As pictures are named where they are served: what they are made of, and their kind. */
export const PICTURE_ID = /^[0-9a-f]{32}\.(?:png|jpg|webp)$/;

/** The address that a picture is served at; `base` is the public URL, or a path. */
export const pictureAddress = (base: string, id: string): string => `${base}/pictures/${id}`;

interface Size {
  width: number;
  height: number;
}

const DATA_URL = /^data:(image\/(?:png|jpeg|webp));base64,([A-Za-z0-9+/]+={0,2})$/;

const beginnings: readonly [PictureType, string][] = [
  ['image/png', '\u0089PNG'],
  ['image/jpeg', '\u00ff\u00d8'],
  ['image/webp', 'RIFF'],
];

/** The data URL of a file, of the type that it begins as; null where that is none of ours. */
export function dataUrlOf(file: Uint8Array): string | null {
  const text = Array.from(file, (byte) => String.fromCharCode(byte)).join('');
  const [type] = beginnings.find(([, begins]) => text.startsWith(begins)) ?? [];
  return type === undefined ? null : `data:${type};base64,${btoa(text)}`;
}

/** The picture of a data URL, or why it is none. */
export function readPicture(url: string): Picture | string {
  if (url.length > MAX_PICTURE_URL) return `it is larger than ${MAX_PICTURE_BYTES / 1024} kB`;
  const [, type, data = ''] = DATA_URL.exec(url) ?? [];
  if (type === undefined) return 'it must be data:image/png;base64,…, or the same with jpeg or webp';
  const bytes = decoded(data);
  if (bytes === null) return 'it is not base64';
  if (bytes.length > MAX_PICTURE_BYTES) return `it is larger than ${MAX_PICTURE_BYTES / 1024} kB`;
  const size = readers[type as PictureType](new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  if (size === null) return `its bytes are not a whole ${type}`;
  if (size.width < 1 || size.height < 1 || size.width > MAX_SIDE || size.height > MAX_SIDE)
    return `it is ${size.width} × ${size.height} pixels; at most ${MAX_SIDE} × ${MAX_SIDE} are allowed`;
  return { type: type as PictureType, data };
}

/** Null where it is not the one way to write its bytes. */
function decoded(data: string): Uint8Array | null {
  try {
    const text = atob(data);
    return btoa(text) === data ? Uint8Array.from(text, (letter) => letter.charCodeAt(0)) : null;
  } catch {
    return null;
  }
}

/** Each reads a whole file, from its first byte to its last, and answers null for any other. */
const readers: Record<PictureType, (file: DataView) => Size | null> = {
  'image/png': readPng,
  'image/jpeg': readJpeg,
  'image/webp': readWebp,
};

const word = (file: DataView, at: number): string =>
  String.fromCharCode(...new Uint8Array(file.buffer, file.byteOffset + at, 4));

/** Chunks one after the other: length, name, data, checksum. The last is IEND, and nothing follows it. */
function readPng(file: DataView): Size | null {
  if (file.byteLength < 45 || file.getUint32(0) !== 0x89504e47 || file.getUint32(4) !== 0x0d0a1a0a)
    return null;
  if (file.getUint32(8) !== 13 || word(file, 12) !== 'IHDR') return null;
  const size = { width: file.getUint32(16), height: file.getUint32(20) };
  for (let at = 8; at + 12 <= file.byteLength; ) {
    const next = at + 12 + file.getUint32(at);
    if (word(file, at + 4) === 'IEND') return next === file.byteLength ? size : null;
    at = next;
  }
  return null;
}

/** Segments up to the frame header, which has the size; the last two bytes are its end mark. */
function readJpeg(file: DataView): Size | null {
  const end = file.byteLength - 2;
  if (end < 4 || file.getUint16(0) !== 0xffd8 || file.getUint16(end) !== 0xffd9) return null;
  for (let at = 2; at + 9 <= end; ) {
    if (file.getUint8(at) !== 0xff) return null;
    const marker = file.getUint8(at + 1);
    const is_frame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (is_frame) return { height: file.getUint16(at + 5), width: file.getUint16(at + 7) };
    if (marker < 0xc0 || marker === 0xd9 || marker === 0xda) return null;
    at += 2 + file.getUint16(at + 2);
  }
  return null;
}

/** One RIFF file as long as it says, of any of the three kinds of WebP. */
function readWebp(file: DataView): Size | null {
  if (file.byteLength < 30 || word(file, 0) !== 'RIFF' || word(file, 8) !== 'WEBP') return null;
  if (file.getUint32(4, true) + 8 !== file.byteLength) return null;
  const kind = word(file, 12);
  if (kind === 'VP8 ' && file.getUint16(23) === 0x9d01 && file.getUint8(25) === 0x2a)
    return { width: file.getUint16(26, true) & 0x3fff, height: file.getUint16(28, true) & 0x3fff };
  if (kind === 'VP8L' && file.getUint8(20) === 0x2f) {
    const bits = file.getUint32(21, true);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  const three = (at: number): number => file.getUint16(at, true) | (file.getUint8(at + 2) << 16);
  return kind === 'VP8X' ? { width: three(24) + 1, height: three(27) + 1 } : null;
}
