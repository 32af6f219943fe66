// What people type, paste and store in files and variables, without the characters that no one sees.

/** Unicode's control and format characters: line ends, joiners, marks of direction, the byte-order mark. */
const UNSEEN = /[\p{Cc}\p{Cf}]+/gu;

/**
 * Without them, and without white space at its ends. For what names something: addresses, memos, ids, numbers, settings. Texts
 * that are shown stay as they are, for emoji are joined by such characters.
 */
export const cleanText = (text: string): string => text.replace(UNSEEN, '').trim();

/** A file's text without the byte-order mark that some editors write first. */
export const withoutMark = (text: string): string => text.replace(/^\uFEFF+/, '');

/**
 * A password as it is hashed, the same from every keyboard (NIST SP 800-63B); nothing is dropped from it. Then as it was
 * typed, which earlier versions hashed; absent where that is the same.
 */
export function spellingsOf(password: string): [hashed: string, typed?: string] {
  const composed = password.normalize('NFC');
  return composed === password ? [composed] : [composed, password];
}
