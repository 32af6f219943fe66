// A picture in a file as the data URL that the service takes; what it would refuse is refused before anything is sent.
import { readFileSync, statSync } from 'node:fs';
import { dataUrlOf, MAX_PICTURE_BYTES, readPicture } from '../../src/picture.ts';
import { usage } from './errors.ts';

/** `path` is of a PNG, JPEG or WebP; throws GwError where it cannot be read or is none. */
export function pictureUrl(flag: string, path: string): string {
  const refuse = (why: string) => usage(`--${flag} @${path}: ${why}`, 'a PNG, JPEG or WebP of at most 64 kB');
  let bytes: Buffer;
  try {
    // What never ends, or fills the memory, is not read at all.
    const found = statSync(path);
    if (!found.isFile()) throw new Error('it is no file');
    if (found.size > MAX_PICTURE_BYTES) throw new Error(`it is larger than ${MAX_PICTURE_BYTES / 1024} kB`);
    bytes = readFileSync(path);
  } catch (error) {
    throw refuse((error as Error).message);
  }
  const url = dataUrlOf(bytes);
  if (url === null) throw refuse('it is no PNG, JPEG or WebP');
  const picture = readPicture(url);
  if (typeof picture === 'string') throw refuse(picture);
  return url;
}
