// What looks like a secret is known by its form, wherever it stands, at once and in any length.
import { describe, expect, test } from 'vitest';
import { looksSecret } from '../../src/secret-text.ts';

describe('a text', () => {
  test.each([
    'gw_live51H8xExampleKey',
    'my key is gw_abcdefgh12345678, thanks',
    'GW_ABCDEFGH12345678',
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln',
    'https://me:secret@example.com/path',
    'postgres://gatewayd:pw@db/x',
    'https://rpc.example.com/?api_key=abc',
    'Bearer abc',
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    'L1aW4aubDFB7yfras2S1mN3bqg9nwySY8nkoLmJebSLD5BWv3ENZ',
    '123456789:AAExampleExampleExampleExampleExamp',
    'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about',
    '-----BEGIN PRIVATE KEY-----',
    `${' '.repeat(900)}gw_abcdefgh12345678`,
  ])('%s looks like a secret', (text) => {
    expect(looksSecret(text)).toBe(true);
  });

  test.each([
    '',
    'ton',
    'not-a-uuid',
    '12.50',
    'A T-shirt in three colours, with a hood',
    'https://example.com/hook?order=1',
    'ada@example.com',
    '6b2f0e0c-3c3a-7d43-8e4e-0e5a7c8f2a11',
    'x'.repeat(2000),
    'gw_',
  ])('%s does not', (text) => {
    expect(looksSecret(text)).toBe(false);
  });

  test('of any length takes no time', () => {
    const began = performance.now();
    for (const piece of ['a-', '://', 'eyJ', 'bearer ', 'gw_', 'word ', '&key'])
      looksSecret(piece.repeat(100_000));
    expect(performance.now() - began).toBeLessThan(200);
  });
});
