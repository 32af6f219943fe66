// QR codes decode to what they were drawn from, whatever their length.
import { expect, test } from 'vitest';
import { drawQrPng, drawQrSvg } from '../../../daemon/checkout/qr.ts';
import { readPng, readQr } from '../../helpers/png.ts';
import { verifies } from '../../requirements.ts';

const payloads = [
  'bitcoin:tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx?amount=0.00012345',
  ...[40, 63, 90, 123, 180, 260, 333, 480, 640].map((length) => `ton://transfer/${'x'.repeat(length)}`),
];

test.each(payloads)('the PNG of %s has 392 × 392 pixels and decodes', async (payload) => {
  verifies('get-qr-png');
  const file = await drawQrPng(payload);
  const { width, height } = readPng(file);
  expect([width, height]).toEqual([392, 392]);
  expect(readQr(file)).toBe(payload);
});

test('the PNG has one bit for each pixel, and takes few bytes', async () => {
  verifies('picture-drawn-once');
  const file = await drawQrPng(payloads[4] as string);
  const [bits, grey] = [file[24], file[25]];
  expect([bits, grey]).toEqual([1, 0]);
  expect(file.byteLength).toBeLessThan(2_000);
});

test('the SVG is one element with a white ground and a dark path', async () => {
  verifies('get-qr-svg');
  const svg = await drawQrSvg(payloads[0] as string);
  expect(svg).toMatch(
    /^<svg [^>]+><path fill="#ffffff" d="[^"]+"\/><path stroke="#000000" d="[^"]+"\/><\/svg>$/,
  );
});
