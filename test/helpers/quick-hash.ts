// Passwords of the tests cost a hundredth of what they cost users; what that cost is, tests that unmock it know.
import { vi } from 'vitest';

const QUICK = { memoryCost: 64, timeCost: 1 };

vi.mock('@node-rs/argon2', async (importOriginal) => {
  const argon2 = await importOriginal<typeof import('@node-rs/argon2')>();
  const hash: typeof argon2.hash = (password, options, signal) =>
    argon2.hash(password, { ...options, ...QUICK }, signal);
  return { ...argon2, hash };
});
