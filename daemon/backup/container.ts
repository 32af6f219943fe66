// The file of a backup: a header in clear, then frames, which a passphrase encrypts and which show any change, cut or swap.
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  randomBytes,
  type ScryptOptions,
  scrypt,
} from 'node:crypto';
import { promisify } from 'node:util';
import { z } from 'zod';
import { CommandError, EXIT } from '../process/failure.ts';

const MAGIC = 'gatewayd backup 1\n';
const MAX_HEADER_BYTES = 64 * 1024;
/** What is encrypted at a time. */
const FRAME_BYTES = 64 * 1024;
const MAX_FRAME_BYTES = FRAME_BYTES + 64;
const LENGTH_BYTES = 4;
/** Set in the length of the last frame. */
const LAST = 0x80000000;
const KEY_BYTES = 32;
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** 128 MiB for each guess. */
const SCRYPT = { n: 2 ** 17, r: 8, p: 1 } as const;
/** A file is not believed when it asks for more. */
const MAX_SCRYPT_N = 2 ** 20;
const MAX_SCRYPT_R = 8;
const MAX_SCRYPT_P = 4;

/** The last second that four digits of a year can name. */
const MAX_TIME = 253_402_300_799;

const headerSchema = z.object({
  /** Unix seconds. */
  created_at: z.int().min(0).max(MAX_TIME),
  /** Version of the program. */
  gatewayd: z.string(),
  /** What the frames hold: a file of SQLite, or rows of PostgreSQL. */
  kind: z.enum(['sqlite', 'postgres']),
  network: z.string(),
  /** The migrations that made it. */
  schema: z.array(z.string()).min(1),
  /** Whose it is; earlier versions wrote none. */
  deployment: z.string().optional(),
  /** How the key is made from the passphrase; null where nothing is encrypted. */
  scrypt: z
    .object({
      salt: z.string(),
      n: z
        .int()
        .min(2)
        .max(MAX_SCRYPT_N)
        .refine((n) => Number.isInteger(Math.log2(n))),
      r: z.int().min(1).max(MAX_SCRYPT_R),
      p: z.int().min(1).max(MAX_SCRYPT_P),
    })
    .nullable(),
});

export type Header = z.output<typeof headerSchema>;

/** A new header; its key is to be made with `keyOf`. */
export const newHeader = (about: Omit<Header, 'scrypt'>, is_encrypted: boolean): Header => ({
  ...about,
  scrypt: is_encrypted ? { salt: randomBytes(SALT_BYTES).toString('base64'), ...SCRYPT } : null,
});

/** The key of a passphrase; null where the backup is not encrypted. Throws CommandError where a passphrase is missing. */
export async function keyOf(header: Header, passphrase: string | undefined): Promise<Buffer | null> {
  if (header.scrypt === null) return null;
  if (passphrase === undefined)
    throw new CommandError(
      'the backup is encrypted: give its passphrase in backup.passphrase (GATEWAYD_BACKUP_PASSPHRASE) or with --passphrase-stdin',
      EXIT.config,
    );
  const { salt, n, r, p } = header.scrypt;
  const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);
  return derive(passphrase.normalize('NFKC'), Buffer.from(salt, 'base64'), KEY_BYTES, {
    N: n,
    r,
    p,
    maxmem: 256 * n * r,
  });
}

interface Frames {
  seal(body: Buffer, is_last: boolean): Buffer;
  /** Throws where the frame is not what was sealed at this place. */
  open(frame: Buffer, is_last: boolean): Buffer;
}

/** Each frame is bound to the header, its place and whether it is the last. */
function encrypted(key: Buffer, head: Buffer): Frames {
  let count = 0n;
  const next = (is_last: boolean) => {
    const nonce = Buffer.alloc(NONCE_BYTES);
    nonce.writeBigUInt64BE(count++, NONCE_BYTES - 8);
    return { nonce, bound: Buffer.concat([head, Buffer.of(is_last ? 1 : 0)]) };
  };
  return {
    seal(body, is_last) {
      const { nonce, bound } = next(is_last);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(bound);
      return Buffer.concat([cipher.update(body), cipher.final(), cipher.getAuthTag()]);
    },
    open(frame, is_last) {
      const { nonce, bound } = next(is_last);
      if (frame.length < TAG_BYTES) throw new Error('a frame is too short');
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(bound).setAuthTag(frame.subarray(-TAG_BYTES));
      return Buffer.concat([decipher.update(frame.subarray(0, -TAG_BYTES)), decipher.final()]);
    },
  };
}

/** In clear: every frame brings the digest of all that came before and of itself. It shows damage, not a forger. */
function plain(head: Buffer): Frames {
  const digest = createHash('sha256').update(head);
  const next = (body: Buffer, is_last: boolean) =>
    digest
      .update(body)
      .update(Buffer.of(is_last ? 1 : 0))
      .copy()
      .digest()
      .subarray(0, TAG_BYTES);
  return {
    seal: (body, is_last) => Buffer.concat([body, next(body, is_last)]),
    open(frame, is_last) {
      const body = frame.subarray(0, -TAG_BYTES);
      if (!next(body, is_last).equals(frame.subarray(-TAG_BYTES))) throw new Error('a frame was changed');
      return body;
    },
  };
}

const framesOf = (key: Buffer | null, headText: string): Frames => {
  const head = createHash('sha256').update(headText).digest();
  return key === null ? plain(head) : encrypted(key, head);
};

const headTextOf = (header: Header): string => `${MAGIC}${JSON.stringify(header)}\n`;

/** The bytes of a backup: `first` is the first frame, and what `source` yields is in the others. */
export async function* sealBackup(
  header: Header,
  key: Buffer | null,
  { first, source }: { first: Buffer; source: AsyncIterable<Buffer> },
): AsyncGenerator<Buffer> {
  const text = headTextOf(header);
  const frames = framesOf(key, text);
  const frame = (body: Buffer, is_last: boolean) => {
    const sealed = frames.seal(body, is_last);
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32BE(sealed.length + (is_last ? LAST : 0));
    return Buffer.concat([length, sealed]);
  };
  yield Buffer.from(text);
  yield frame(first, false);
  let left: Buffer = Buffer.alloc(0);
  for await (const chunk of source) {
    left = left.length === 0 ? chunk : Buffer.concat([left, chunk]);
    while (left.length > FRAME_BYTES) {
      yield frame(left.subarray(0, FRAME_BYTES), false);
      left = left.subarray(FRAME_BYTES);
    }
  }
  yield frame(left, true);
}

export const damaged = (what: string) =>
  new CommandError(`the backup is damaged or incomplete: ${what}`, EXIT.broken_data);

export interface OpenBackup {
  header: Header;
  /** Gives the key; then the first frame is opened. */
  unlock(key: Buffer | null): Promise<{ first: Buffer; rest: AsyncGenerator<Buffer> }>;
}

/** Reads the header of a backup. Throws CommandError for what is none, for a wrong key, and for any change, when it is met. */
export async function readBackup(source: AsyncIterable<Buffer>): Promise<OpenBackup> {
  const take = takerOf(source);
  const magic = await take(MAGIC.length);
  if (magic?.toString('latin1') !== MAGIC)
    throw new CommandError('this is no backup made by `gatewayd backup`', EXIT.broken_data);
  const line: Buffer[] = [];
  for (let byte = await take(1); byte?.[0] !== 0x0a; byte = await take(1)) {
    if (byte === null || line.length >= MAX_HEADER_BYTES) throw damaged('its header does not end');
    line.push(byte);
  }
  const text = Buffer.concat(line).toString('utf8');
  const header = headerOf(text);
  async function* frames(key: Buffer | null): AsyncGenerator<Buffer> {
    const opener = framesOf(key, `${MAGIC}${text}\n`);
    for (let count = 0; ; count++) {
      const length = (await take(LENGTH_BYTES))?.readUInt32BE();
      if (length === undefined) throw damaged('its end is missing');
      const is_last = length >= LAST;
      const size = is_last ? length - LAST : length;
      const frame = size > MAX_FRAME_BYTES ? null : await take(size);
      if (frame === null) throw damaged('its end is missing');
      yield openFrame(opener, frame, { is_last, is_first: count === 0, is_encrypted: key !== null });
      if (is_last) break;
    }
    if ((await take(1)) !== null) throw damaged('something follows its end');
  }
  return {
    header,
    async unlock(key) {
      const rest = frames(key);
      const { value } = await rest.next();
      if (!value) throw damaged('it is empty');
      return { first: value, rest };
    },
  };
}

function headerOf(text: string): Header {
  try {
    return headerSchema.parse(JSON.parse(text));
  } catch {
    throw damaged('its header cannot be read');
  }
}

function openFrame(
  frames: Frames,
  frame: Buffer,
  is: { is_last: boolean; is_first: boolean; is_encrypted: boolean },
): Buffer {
  try {
    return frames.open(frame, is.is_last);
  } catch {
    if (is.is_first && is.is_encrypted)
      throw new CommandError(
        'the passphrase is not the one of this backup, or the file was changed',
        EXIT.broken_data,
      );
    throw damaged('a part of it is not what was written');
  }
}

/** Takes exactly so many bytes; null where fewer are left. */
function takerOf(source: AsyncIterable<Buffer>): (size: number) => Promise<Buffer | null> {
  const chunks = source[Symbol.asyncIterator]();
  let left: Buffer = Buffer.alloc(0);
  return async (size) => {
    while (left.length < size) {
      const { value, done } = await chunks.next();
      if (done) return null;
      left = left.length === 0 ? value : Buffer.concat([left, value]);
    }
    const taken = left.subarray(0, size);
    left = left.subarray(size);
    return taken;
  };
}
