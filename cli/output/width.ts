// How wide text is in a terminal, and text of a given width.
import stringWidth from 'string-width';

/** Letters of Latin scripts, and the signs of tables and figures: each takes one cell. */
const NARROW = /^[ -~¡-¬®-ɏ–—“”…›●│█▁-▇↑↓→]*$/;

/** Cells that the text takes; that of most text is its length. */
export const widthOf = (text: string): number => (NARROW.test(text) ? text.length : stringWidth(text));

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** At most `cells` wide, with an ellipsis where something is left out. */
export function shorten(text: string, cells: number): string {
  if (widthOf(text) <= cells) return text;
  if (cells > 0 && NARROW.test(text)) return `${text.slice(0, cells - 1)}…`;
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

/** The same with the text at the right, as numbers stand. */
export const padLeft = (text: string, cells: number): string => {
  const fitted = shorten(text, cells);
  return ' '.repeat(Math.max(0, cells - widthOf(fitted))) + fitted;
};

/** Narrower than this nothing is cut into lines. */
const MIN_LINE = 8;

/** The text in lines of at most so many cells, cut at spaces where there are any. */
export function wrapped(text: string, cells: number): string[] {
  const most = Math.max(MIN_LINE, cells);
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/(?<= )/)) {
    if (line !== '' && widthOf(line + word.trimEnd()) > most) {
      lines.push(line.trimEnd());
      line = '';
    }
    line += word;
    for (; widthOf(line.trimEnd()) > most; line = line.slice(shownLength(line, most)))
      lines.push(line.slice(0, shownLength(line, most)));
  }
  return [...lines, line.trimEnd()];
}

/** How much of the text has room, at least one character. */
function shownLength(text: string, cells: number): number {
  let length = 0;
  let width = 0;
  for (const { segment } of segmenter.segment(text)) {
    width += widthOf(segment);
    if (width > cells && length > 0) break;
    length += segment.length;
  }
  return length;
}
