// Text that came from outside, made safe for a terminal.
import { stripVTControlCharacters } from 'node:util';

/** Controls of C0 and C1, and what turns or hides text: bidirectional controls, zero-width characters, line separators. */
const UNSAFE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/gu;

/** One line without anything that a terminal obeys: sequences, controls, line breaks, bidirectional overrides. */
export const clean = (text: string): string => cleanLines(text).replaceAll('\n', ' ');

/** The same for several lines. */
export const cleanLines = (text: string): string =>
  stripVTControlCharacters(text).replaceAll('\t', ' ').replace(UNSAFE, '');

/** JSON text in which no character does anything to a terminal; the value it stands for is the same. */
export const cleanJson = (json: string): string =>
  json.replace(UNSAFE, (character) =>
    [...Array(character.length).keys()]
      .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
      .join(''),
  );

/** `gw_…3kQz`: enough to tell keys apart, too little to use. */
export const masked = (secret: string): string =>
  secret.length > 16 ? `${secret.slice(0, 3)}…${secret.slice(-4)}` : '…';
