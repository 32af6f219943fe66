// What people type, paste and store in files and variables, without the characters that no one sees.

/** Unicode's control and format characters: line ends, joiners, marks of direction, the byte-order mark. */
const UNSEEN = /[\p{Cc}\p{Cf}]+/gu;

/**
 * Without them, and without white space at its ends. For what names something: addresses, memos, ids, numbers, settings. Texts
 * that are shown stay as they are, for emoji are joined by such characters.
 */
export const cleanText = (text: string): string => text.replace(UNSEEN, '').trim();

/** What stays to the letter, because hashes and keys are made of it, without the line ends that shells and files put behind it. */
export const withoutLineEnd = (text: string): string => text.replace(/[\r\n]+$/, '').replace(/^\uFEFF+/, '');

/** Bytes that are no UTF-8; the message ends the sentence “it …”. */
export class UnreadableText extends Error {
  override name = 'UnreadableText';
  /** Whether it is UTF-16. */
  readonly is_wide: boolean;
  constructor(message: string, is_wide: boolean) {
    super(message);
    this.is_wide = is_wide;
  }
}

/** The text of a file, of stdin or of a body, without the byte-order mark that some editors write first (RFC 8259 §8.1). */
export function decodeText(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const isMarked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  // Without a mark, of two bytes for a plain first character one is zero.
  const isWide = second !== undefined && (first === 0) !== (second === 0);
  if (isMarked || isWide) throw new UnreadableText('is in UTF-16; save it as UTF-8', true);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/^\uFEFF+/, '');
  } catch {
    throw new UnreadableText('is not in UTF-8', false);
  }
}

/**
 * A password as it is hashed, the same from every keyboard (NIST SP 800-63B); nothing is dropped from it. Then as it was
 * typed, which earlier versions hashed; absent where that is the same.
 */
export function spellingsOf(password: string): [hashed: string, typed?: string] {
  const composed = password.normalize('NFC');
  return composed === password ? [composed] : [composed, password];
}
