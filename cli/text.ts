// Text that came from outside, made safe for a terminal, and how wide text is there.
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

const WIDE =
  /\p{Emoji_Presentation}|\ufe0f|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;
const NO_WIDTH = /^[\p{Mark}\p{Default_Ignorable_Code_Point}]+$/u;
const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const ASCII = /^[\x20-\x7e]*$/;

/** Cells that the text takes in a terminal. */
export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segmenter.segment(text))
    width += NO_WIDTH.test(segment) ? 0 : WIDE.test(segment) ? 2 : 1;
  return width;
}

/** At most `cells` wide, with an ellipsis where something is left out. */
export function shorten(text: string, cells: number): string {
  if (widthOf(text) <= cells) return text;
  let shown = '';
  let width = 0;
  for (const { segment } of segmenter.segment(text)) {
    const next = widthOf(segment);
    if (width + next > cells - 1) break;
    shown += segment;
    width += next;
  }
  return cells > 0 ? `${shown}…` : '';
}

/** Exactly `cells` wide. */
export const pad = (text: string, cells: number): string => {
  const fitted = shorten(text, cells);
  return fitted + ' '.repeat(Math.max(0, cells - widthOf(fitted)));
};
