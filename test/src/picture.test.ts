// Which uploads are pictures: by their bytes, from the first to the last.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { MAX_PICTURE_BYTES, readPicture } from '../../src/picture.ts';
import { verifies } from '../requirements.ts';

const png = readFileSync(new URL('../../daemon/checkout/assets/favicon.png', import.meta.url));
const webp = Buffer.from('UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAAwA0JaQAA3AA/vuUAAA=', 'base64');
const jpeg = Buffer.from(
  '/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA//9k=',
  'base64',
);
const url = (type: string, bytes: Buffer) => `data:image/${type};base64,${bytes.toString('base64')}`;
const changed = (bytes: Buffer, at: number, ...to: number[]) => {
  const copy = Buffer.from(bytes);
  copy.set(to, at);
  return copy;
};

test('PNG, JPEG and WebP are stored as they are', () => {
  for (const [type, bytes] of [
    ['png', png],
    ['jpeg', jpeg],
    ['webp', webp],
  ] as const)
    expect(readPicture(url(type, bytes)), type).toEqual({
      type: `image/${type}`,
      data: bytes.toString('base64'),
    });
});

test.each([
  ['an address elsewhere', 'https://shop.example/a.png'],
  ['an address inside', 'http://169.254.169.254/latest/meta-data'],
  ['a file', 'file:///etc/passwd'],
  ['SVG, which may hold scripts', `data:image/svg+xml;base64,${Buffer.from('<svg/>').toString('base64')}`],
  ['HTML', `data:text/html;base64,${png.toString('base64')}`],
  ['GIF', url('gif', Buffer.from('GIF89a'))],
  ['a text that is no base64', 'data:image/png;base64,????'],
  ['base64 without its padding', url('png', png).replace(/=+$/, '').slice(0, -1)],
  ['PNG called JPEG', url('jpeg', png)],
  ['JPEG called PNG', url('png', jpeg)],
  ['HTML behind a PNG', url('png', Buffer.concat([png, Buffer.from('<script>')]))],
  ['HTML behind a JPEG', url('jpeg', Buffer.concat([jpeg, Buffer.from('<script>')]))],
  ['HTML behind a WebP', url('webp', Buffer.concat([webp, Buffer.from('<script>')]))],
  ['half a PNG', url('png', png.subarray(0, png.length / 2))],
  ['half a WebP', url('webp', webp.subarray(0, 31))],
  ['nothing', url('png', Buffer.alloc(0))],
  ['a PNG that unpacks to gigabytes', url('png', changed(png, 16, 0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff))],
  ['a PNG without width', url('png', changed(png, 16, 0, 0, 0, 0))],
  ['a PNG whose chunk has no end', url('png', changed(png, 33, 0xff, 0xff, 0xff, 0xff))],
  ['a JPEG whose segment is empty', url('jpeg', changed(jpeg, 4, 0, 0))],
  ['too much', url('png', Buffer.concat([png, Buffer.alloc(MAX_PICTURE_BYTES)]))],
])('%s is refused', (_, text) => {
  verifies('pictures-stored');
  expect(readPicture(text)).toEqual(expect.any(String));
});

test('no bytes at all make it fail or run on', () => {
  for (let length = 0; length < 200; length++)
    for (const [type, bytes] of [
      ['png', png],
      ['jpeg', jpeg],
      ['webp', webp],
    ] as const) {
      const cut = bytes.subarray(0, length);
      if (length < bytes.length) expect(readPicture(url(type, cut))).toEqual(expect.any(String));
    }
});
