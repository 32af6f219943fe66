// Web Crypto answers from a pool of threads, at times that no seed decides: here HMAC is computed in place.
import { createHmac, timingSafeEqual } from 'node:crypto';

const HASHES: Record<string, string> = { 'SHA-256': 'sha256', 'SHA-384': 'sha384', 'SHA-512': 'sha512' };

/** Replaces signing and verifying by HMAC for this process; returns how to undo that. */
export function hmacInPlace(): () => void {
  const { subtle } = globalThis.crypto;
  const original = { importKey: subtle.importKey, sign: subtle.sign, verify: subtle.verify };
  const secrets = new WeakMap<object, { secret: Uint8Array; hash: string }>();
  const digest = (key: object, data: BufferSource): Buffer => {
    const { secret, hash } = secrets.get(key) as { secret: Uint8Array; hash: string };
    return createHmac(HASHES[hash] ?? hash, secret)
      .update(data as Uint8Array)
      .digest();
  };
  Object.assign(subtle, {
    async importKey(format: string, secret: Uint8Array, algorithm: { name: string; hash: string }) {
      if (format !== 'raw' || algorithm.name !== 'HMAC') throw new Error('only keys of HMAC are expected');
      const key = {
        type: 'secret',
        algorithm: { name: 'HMAC', hash: { name: algorithm.hash } },
        usages: ['sign', 'verify'],
      };
      secrets.set(key, { secret, hash: algorithm.hash });
      return key;
    },
    sign: async (_: unknown, key: object, data: BufferSource) => new Uint8Array(digest(key, data)).buffer,
    verify: async (_: unknown, key: object, signature: Uint8Array, data: BufferSource) => {
      const made = digest(key, data);
      return made.length === signature.byteLength && timingSafeEqual(made, new Uint8Array(signature));
    },
  });
  return () => Object.assign(subtle, original);
}
