// Sealed values open only where and with what they were sealed; keys and passwords are what they say.
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { hashPassword, verifyPassword } from '../../../daemon/accounts/passwords.ts';
import { apiKeyPurpose, createSecrets, webhookSecretPurpose } from '../../../daemon/process/secrets.ts';
import { formatKey, hashKey, isKey, KEY_BYTES, PLATFORM_KEY_PATTERN } from '../../../src/keys.ts';
import { verifies } from '../../requirements.ts';

// These tests are about what hashing costs.
vi.unmock('@node-rs/argon2');

describe('a sealed value', () => {
  const secrets = createSecrets('a secret of enough length');
  test('opens as it was, whatever it is, and is never sealed the same twice', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const sealed = secrets.seal(text, 'x');
        expect(secrets.open(sealed, 'x')).toBe(text);
        expect(secrets.seal(text, 'x')).not.toBe(sealed);
      }),
    );
  });

  test('opens neither in another row, nor in another column, nor under another secret', () => {
    const sealed = secrets.seal('gw_key', apiKeyPurpose('a'));
    expect(() => secrets.open(sealed, apiKeyPurpose('b'))).toThrow();
    expect(() => secrets.open(sealed, webhookSecretPurpose('a'))).toThrow();
    expect(() => createSecrets('another secret of length').open(sealed, apiKeyPurpose('a'))).toThrow();
  });

  test('opens no more once any of it was changed', () => {
    const sealed = secrets.seal('gw_key', 'x');
    const bytes = Buffer.from(sealed.slice(3), 'base64url');
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => secrets.open(`v1.${changed.toString('base64url')}`, 'x')).toThrow();
    }
    for (const text of ['', 'v1.', sealed.slice(3), sealed.slice(0, -2)])
      expect(() => secrets.open(text, 'x')).toThrow();
  });

  test('shows nothing of the secret: what is derived from it differs by use', () => {
    const again = createSecrets('a secret of enough length');
    expect([again.check, again.token_key]).toEqual([secrets.check, secrets.token_key]);
    expect(Buffer.from(secrets.token_key).toString('hex')).not.toContain(secrets.check);
    expect(() => createSecrets('short')).toThrow(RangeError);
  });
});

describe('a key', () => {
  test('is known by its checksum, and any single change of it is noticed', () => {
    verifies('key-form');
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: KEY_BYTES, maxLength: KEY_BYTES }),
        fc.nat(),
        fc.nat(),
        (bytes, at, other) => {
          const key = formatKey(bytes);
          expect(key).toMatch(/^gw_[1-9A-HJ-NP-Za-km-z]{40,60}$/);
          expect(isKey(key)).toBe(true);
          expect(key).toMatch(PLATFORM_KEY_PATTERN);
          const position = 3 + (at % (key.length - 3));
          const letter = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'[other % 58] ?? '';
          const changed = key.slice(0, position) + letter + key.slice(position + 1);
          expect(isKey(changed)).toBe(changed === key);
        },
      ),
    );
  });

  test('is nothing else', () => {
    for (const text of [
      '',
      'gw_',
      'x',
      formatKey(randomBytes(KEY_BYTES)).slice(3),
      `gw_${'1'.repeat(10_000)}`,
    ])
      expect(isKey(text)).toBe(false);
    expect(() => formatKey(new Uint8Array(31))).toThrow(RangeError);
  });

  test('is looked up by its SHA-256', () => {
    verifies('key-form');
    expect(hashKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});

describe('a password', () => {
  test('is stored as argon2id and matches only itself', async () => {
    verifies('passwords-argon2');
    const hash = await hashPassword('correct horse');
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await verifyPassword(hash, 'correct horse')).toBe(true);
    expect(await verifyPassword(hash, 'correct hors')).toBe(false);
    expect(await hashPassword('correct horse')).not.toBe(hash);
  });

  test('of no one never matches, not even the one that is hashed in its place', async () => {
    expect(await verifyPassword(null, 'the password of no one')).toBe(false);
    expect(await verifyPassword(null, '')).toBe(false);
  });

  test('many at once wait their turn, and too many are asked to come back', async () => {
    const hash = await hashPassword('x');
    const results = await Promise.allSettled(Array.from({ length: 150 }, () => verifyPassword(hash, 'x')));
    const served = results.filter((result) => result.status === 'fulfilled');
    expect(served).toHaveLength(102);
    expect(served.every((result) => result.value)).toBe(true);
    for (const result of results)
      if (result.status === 'rejected')
        expect(result.reason).toMatchObject({ code: 'rate_limited', retry_after: 2 });
    expect(await verifyPassword(hash, 'x')).toBe(true);
  });

  test('of one caller one waits, so that no one is refused because of him', async () => {
    verifies('passwords-in-turn');
    const hash = await hashPassword('x');
    const often = Promise.allSettled(Array.from({ length: 150 }, () => verifyPassword(hash, 'x', 'one')));
    const others = Array.from({ length: 99 }, (_, at) => verifyPassword(hash, 'x', `other ${at}`));
    expect(await Promise.all(others)).toEqual(others.map(() => true));
    const served = (await often).filter(({ status }) => status === 'fulfilled');
    // Two at work, one that waits.
    expect(served).toHaveLength(3);
    expect(await hashPassword('x', 'one')).toContain('$argon2id$');
  });
});
