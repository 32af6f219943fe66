// Where and why a text is not JSON, in the words of Python's parser, which clients of FastAPI know.

export interface JsonError {
  /** Index of the character at fault. */
  position: number;
  error: string;
}

const SPACE = /[ \t\n\r]*/y;
const LITERAL = /null|true|false|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y;

/** The end of a match of `pattern` at `at`, or -1. */
function end(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

/** The index after the string that opens at `at`, or what is wrong in it. */
function readString(text: string, at: number): number | JsonError {
  for (let index = at + 1; index < text.length; index += 1) {
    const character = text[index] ?? '';
    if (character === '"') return index + 1;
    if (character < ' ') return { position: index, error: 'Invalid control character at' };
    if (character !== '\\') continue;
    index += 1;
    const escaped = text[index];
    if (escaped === undefined) break;
    if (escaped === 'u') {
      if (end(/[0-9a-fA-F]{4}/y, text, index + 1) < 0)
        return { position: index, error: 'Invalid \\uXXXX escape' };
      index += 4;
    } else if (!'"\\/bfnrt'.includes(escaped)) return { position: index - 1, error: 'Invalid \\escape' };
  }
  return { position: at, error: 'Unterminated string starting at' };
}

/** Reads a member name and its colon at `at`; the index of the value, or what is wrong. */
function readName(text: string, at: number): number | JsonError {
  if (text[at] !== '"') return { position: at, error: 'Expecting property name enclosed in double quotes' };
  const after = readString(text, at);
  if (typeof after !== 'number') return after;
  const colon = end(SPACE, text, after);
  return text[colon] === ':'
    ? end(SPACE, text, colon + 1)
    : { position: colon, error: "Expecting ':' delimiter" };
}

/** The first error of a text that JSON.parse refused; null for a text that is JSON. Linear, and not recursive. */
export function findJsonError(text: string): JsonError | null {
  const open: ('}' | ']')[] = [];
  let at = end(SPACE, text, 0);
  for (;;) {
    // A value begins at `at`.
    const character = text[at];
    if (character === '{' || character === '[') {
      const close = character === '{' ? '}' : ']';
      const inside = end(SPACE, text, at + 1);
      if (text[inside] !== close) {
        open.push(close);
        const value = close === '}' ? readName(text, inside) : inside;
        if (typeof value !== 'number') return value;
        at = value;
        continue;
      }
      at = inside + 1;
    } else {
      const after = character === '"' ? readString(text, at) : end(LITERAL, text, at);
      if (typeof after !== 'number') return after;
      if (after < 0) return { position: at, error: 'Expecting value' };
      at = after;
    }
    // A value ended at `at`: close what ends here, then continue with the next member.
    at = end(SPACE, text, at);
    while (open.length > 0 && text[at] === open.at(-1)) {
      open.pop();
      at = end(SPACE, text, at + 1);
    }
    const close = open.at(-1);
    if (!close) return at === text.length ? null : { position: at, error: 'Extra data' };
    if (text[at] !== ',') return { position: at, error: "Expecting ',' delimiter" };
    at = end(SPACE, text, at + 1);
    if (close === '}') {
      const value = readName(text, at);
      if (typeof value !== 'number') return value;
      at = value;
    }
  }
}
