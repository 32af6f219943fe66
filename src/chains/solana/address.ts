// Solana keys: the programs that matter, wallet addresses, and the token accounts derived from them.

import { ed25519 } from '@noble/curves/ed25519.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { base58 } from '@scure/base';
import { cleanText } from '../../clean.ts';
import { AddressError, type ChainAddress } from '../family.ts';

export const SYSTEM_PROGRAM = '11111111111111111111111111111111';
export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
export const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
export const ATA_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
export const CLOCK_SYSVAR = 'SysvarC1ock11111111111111111111111111111111';
/** The one that wallets write to. */
export const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';
/** All three are in use; nodes parse only the first two. */
export const MEMO_PROGRAMS: readonly string[] = [
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
  MEMO_PROGRAM,
  'Memo4c2pN8afCj432Lb7RMVKi9PbQnnW7ewFFaV3oAH',
];

/** Mints and programs are made from key pairs, so the curve does not tell them from wallets. */
const NOT_WALLETS = new Set([
  TOKEN_PROGRAM,
  TOKEN_2022_PROGRAM,
  ATA_PROGRAM,
  ...MEMO_PROGRAMS,
  'So11111111111111111111111111111111111111112',
  'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
  'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB',
  'EJwZgeZrdC8TXTQbQBoL6bfuAnFUUy1PVCMB4DYPzVaS',
]);

const KEY_BYTES = 32;
const BUMP_MAX = 255;

/**
 * A wallet's address. There is no checksum, so everything that no key pair can have is refused: other lengths,
 * points off the curve (token accounts, vaults) or outside the prime-order group, known mints and programs.
 * @throws AddressError
 */
export function normalizeSolanaAddress(text: string): ChainAddress {
  const address = cleanText(text);
  const key = decodeKey(address);
  if (!key) throw new AddressError('A Solana address is 32 bytes in base58 (32 to 44 characters)');
  if (NOT_WALLETS.has(address)) {
    throw new AddressError('This is the address of a token or a program; give the address of your wallet');
  }
  if (!isWalletKey(key)) {
    throw new AddressError(
      'No wallet has this address: a character is wrong, or it is a token account; give the address of your wallet',
    );
  }
  return { address, key: address };
}

/** The associated token account of a wallet: the only one wallets pay to. */
export function associatedTokenAccount(owner: string, tokenProgram: string, mint: string): string {
  const seeds = [base58.decode(owner), base58.decode(tokenProgram), base58.decode(mint)];
  return programAddress(seeds, base58.decode(ATA_PROGRAM));
}

function programAddress(seeds: Uint8Array[], program: Uint8Array): string {
  for (let bump = BUMP_MAX; bump >= 0; bump--) {
    const tail = utf8ToBytes('ProgramDerivedAddress');
    const hash = sha256(concatBytes(...seeds, Uint8Array.of(bump), program, tail));
    if (!isOnCurve(hash)) return base58.encode(hash);
  }
  throw new Error('no program address for these seeds');
}

function decodeKey(text: string): Uint8Array | undefined {
  try {
    const key = base58.decode(text);
    return key.length === KEY_BYTES ? key : undefined;
  } catch {
    return undefined;
  }
}

/** The lenient reading of the curve that Solana itself uses to tell program addresses apart. */
function isOnCurve(key: Uint8Array): boolean {
  try {
    ed25519.Point.fromBytes(key, true);
    return true;
  } catch {
    return false;
  }
}

function isWalletKey(key: Uint8Array): boolean {
  try {
    const point = ed25519.Point.fromBytes(key, false);
    return !point.isSmallOrder() && point.isTorsionFree();
  } catch {
    return false;
  }
}
