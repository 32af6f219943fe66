// How wide text is in a terminal, and text of a given width.
import widthOf from 'string-width';

export { widthOf };

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

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

/** The same with the text at the right, as numbers stand. */
export const padLeft = (text: string, cells: number): string => {
  const fitted = shorten(text, cells);
  return ' '.repeat(Math.max(0, cells - widthOf(fitted))) + fitted;
};
