// JSON of a provider, measured before it is parsed: parsing, and whatever is done with the result, costs by values and depth.

/** Deeper than any honest answer; what is done with it may call itself once for each level. */
const MOST_DEPTH = 100;
/** Members and elements of one answer: a page of a thousand transactions has a tenth of it. */
const MOST_VALUES = 500_000;

/** An answer that is larger than any that was asked for. */
export class TooMuchJson extends Error {
  override name = 'TooMuchJson';
}

/** Throws SyntaxError where it is none, and TooMuchJson. */
export function parseJson(text: string, most_values = MOST_VALUES): unknown {
  measure(text, most_values);
  return JSON.parse(text);
}

const [QUOTE, COMMA, BACKSLASH] = ['"', ',', '\\'].map((each) => each.charCodeAt(0));
const OPENING = new Set(['[', '{'].map((each) => each.charCodeAt(0)));
const CLOSING = new Set([']', '}'].map((each) => each.charCodeAt(0)));

function measure(text: string, most_values: number): void {
  let [depth, values] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfText(text, at);
      continue;
    }
    if (CLOSING.has(code)) depth--;
    if (code !== COMMA && !OPENING.has(code)) continue;
    if (code !== COMMA && ++depth > MOST_DEPTH)
      throw new TooMuchJson(`nested deeper than ${MOST_DEPTH} times`);
    if (++values > most_values) throw new TooMuchJson(`of over ${most_values} values`);
  }
}

/** Where the quote that ends a text is; the end where there is none. */
function endOfText(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let before = at;
    while (text.charCodeAt(before - 1) === BACKSLASH) before--;
    if ((at - before) % 2 === 0) return at;
  }
  return text.length;
}
