// A terminal as far as `gw` needs one: what it was sent becomes a grid of cells, and the grid becomes a picture.

interface Style {
  color: string | null;
  background: string | null;
  bold: boolean;
  dim: boolean;
  inverse: boolean;
}

interface Cell extends Style {
  text: string;
}

const PLAIN: Style = { color: null, background: null, bold: false, dim: false, inverse: false };

const THEME = {
  background: '#0d1117',
  text: '#e6edf3',
  bar: '#161b22',
  /** Of letters it is grey, or they could not be read; as a ground it is black, or a QR code could not be scanned. */
  black: '#010409',
  /** The sixteen colours of a terminal, the bright ones last. */
  colors: [
    ...['#484f58', '#ff7b72', '#3fb950', '#d29922', '#58a6ff', '#bc8cff', '#39c5cf', '#b1bac4'],
    ...['#6e7681', '#ffa198', '#56d364', '#e3b341', '#79c0ff', '#d2a8ff', '#56d4dd', '#ffffff'],
  ],
};

const CELL_WIDTH = 9;
const CELL_HEIGHT = 19;
const FONT_SIZE = 15;
const PADDING = 18;
const BAR_HEIGHT = 34;

/** Sequences of a control character: `ESC [ parameters letter`, `ESC ] text BEL` or `ESC ] text ESC \` (which show nothing), or one character. */
const TOKENS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what a terminal obeys
  /\u001b\[([?\d;]*)([A-Za-z])|\u001b\][^\u001b\u0007]*(?:\u0007|\u001b\\)|\u001b[=>78()][B0]?|[\r\n\b\u0007]|[^\u001b\r\n\b\u0007]/gu;

/** The screen after all of this output. */
export function screenOf(output: string, columns: number, rows: number): Cell[][] {
  const blank = (): Cell => ({ text: ' ', ...PLAIN });
  const emptyRow = () => Array.from({ length: columns }, blank);
  let grid = Array.from({ length: rows }, emptyRow);
  let style = PLAIN;
  let [row, column] = [0, 0];
  const erase = (from: number, to: number, y = row) => {
    for (let x = Math.max(0, from); x < Math.min(columns, to); x++) (grid[y] as Cell[])[x] = blank();
  };
  const feed = () => {
    if (row < rows - 1) row++;
    else grid = [...grid.slice(1), emptyRow()];
  };
  const moves: Record<string, (n: number, m: number) => void> = {
    A: (n) => (row = Math.max(0, row - (n || 1))),
    B: (n) => (row = Math.min(rows - 1, row + (n || 1))),
    C: (n) => (column = Math.min(columns - 1, column + (n || 1))),
    D: (n) => (column = Math.max(0, column - (n || 1))),
    E: (n) => ([row, column] = [Math.min(rows - 1, row + (n || 1)), 0]),
    G: (n) => (column = (n || 1) - 1),
    H: (n, m) => ([row, column] = [(n || 1) - 1, (m || 1) - 1]),
    K: (n) => erase(n === 0 ? column : 0, n === 1 ? column + 1 : columns),
    J: (n) => {
      if (n === 0) erase(column, columns);
      const [first, last] = n === 0 ? [row + 1, rows] : [0, rows];
      for (let y = first; y < last; y++) erase(0, columns, y);
    },
  };
  for (const [token, parameters = '', letter] of output.matchAll(TOKENS)) {
    if (letter === 'm') style = styled(style, parameters.split(';').map(Number));
    else if (letter === 'h' && parameters === '?1049') grid = Array.from({ length: rows }, emptyRow);
    else if (letter) {
      const [n = 0, m = 0] = parameters.split(';').map(Number);
      moves[letter]?.(n, m);
    } else if (token === '\r') column = 0;
    else if (token === '\n') feed();
    else if (token === '\b') column = Math.max(0, column - 1);
    else if (token >= ' ' && !token.startsWith('\u001b')) {
      if (column >= columns) {
        column = 0;
        feed();
      }
      (grid[row] as Cell[])[column++] = { text: token, ...style };
    }
  }
  return grid;
}

/** The style after a sequence of display attributes. */
function styled(before: Style, codes: readonly number[]): Style {
  let style = { ...before };
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0;
    if (code === 0) style = { ...PLAIN };
    else if (code === 1) style.bold = true;
    else if (code === 2) style.dim = true;
    else if (code === 22) Object.assign(style, { bold: false, dim: false });
    else if (code === 7 || code === 27) style.inverse = code === 7;
    else if (code === 38 || code === 48) {
      const [color, used] = extended(codes.slice(at + 1));
      style[code === 38 ? 'color' : 'background'] = color;
      at += used;
    } else if (code === 39) style.color = null;
    else if (code === 49) style.background = null;
    else if (code >= 30 && code <= 37) style.color = THEME.colors[code - 30] ?? null;
    else if (code >= 40 && code <= 47)
      style.background = code === 40 ? THEME.black : (THEME.colors[code - 40] ?? null);
    else if (code >= 90 && code <= 97) style.color = THEME.colors[code - 82] ?? null;
    else if (code >= 100 && code <= 107) style.background = THEME.colors[code - 92] ?? null;
  }
  return style;
}

/** A colour of 256, or of red, green and blue; and how many codes it took. */
function extended([kind, ...rest]: readonly number[]): [string | null, number] {
  if (kind === 2) return [`rgb(${rest.slice(0, 3).join(',')})`, 4];
  const index = rest[0] ?? 0;
  if (index === 16) return [THEME.black, 2];
  if (index < 16) return [THEME.colors[index] ?? null, 2];
  if (index > 231) {
    const grey = 8 + (index - 232) * 10;
    return [`rgb(${grey},${grey},${grey})`, 2];
  }
  const level = (step: number) => (step === 0 ? 0 : 55 + step * 40);
  const [red, green, blue] = [36, 6, 1].map((divisor) => level(Math.floor((index - 16) / divisor) % 6));
  return [`rgb(${red},${green},${blue})`, 2];
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** The part of a cell that a block character fills: top and height, in cells; null where it is a letter. */
const blocks: Record<string, [number, number]> = { '█': [0, 1], '▀': [0, 0.5], '▄': [0.5, 0.5] };

/** A window with this screen in it, as SVG; empty rows at the end are left out. */
export function windowOf(
  screen: readonly Cell[][],
  title: string,
): { svg: string; width: number; height: number } {
  const used =
    screen.findLastIndex((row) => row.some(({ text, background }) => text !== ' ' || background)) + 1;
  const columns = screen[0]?.length ?? 0;
  const width = columns * CELL_WIDTH + 2 * PADDING;
  const height = used * CELL_HEIGHT + 2 * PADDING + BAR_HEIGHT;
  const parts: string[] = [];
  for (const [y, row] of screen.slice(0, used).entries())
    for (const [x, cell] of row.entries()) {
      const left = PADDING + x * CELL_WIDTH;
      const top = BAR_HEIGHT + PADDING + y * CELL_HEIGHT;
      const front = cell.color ?? THEME.text;
      const color = cell.inverse ? (cell.background ?? THEME.background) : front;
      const background = cell.inverse ? front : cell.background;
      if (background) parts.push(rectangle(left, top, CELL_HEIGHT, background));
      const block = blocks[cell.text];
      if (block) parts.push(rectangle(left, top + block[0] * CELL_HEIGHT, block[1] * CELL_HEIGHT, color));
      else if (cell.text !== ' ')
        parts.push(
          `<text x="${left}" y="${top + 14}" fill="${color}"${cell.bold ? ' font-weight="700"' : ''}${cell.dim ? ' opacity=".62"' : ''}>${escaped(cell.text)}</text>`,
        );
    }
  const dots = ['#ff5f57', '#febc2e', '#28c840'].map(
    (color, at) => `<circle cx="${20 + at * 20}" cy="17" r="6" fill="${color}"/>`,
  );
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<clipPath id="window"><rect width="${width}" height="${height}" rx="10"/></clipPath>
<g clip-path="url(#window)"><rect width="${width}" height="${height}" fill="${THEME.background}"/>
<rect width="${width}" height="${BAR_HEIGHT}" fill="${THEME.bar}"/>${dots.join('')}
<text x="${width / 2}" y="22" fill="#8b949e" font-family="sans-serif" font-size="13" text-anchor="middle">${escaped(title)}</text>
<g font-family="'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="${FONT_SIZE}" shape-rendering="crispEdges" xml:space="preserve">
${parts.join('\n')}
</g></g></svg>`;
  return { svg, width, height };
}

const rectangle = (x: number, y: number, height: number, color: string): string =>
  `<rect x="${x}" y="${y}" width="${CELL_WIDTH}" height="${height}" fill="${color}"/>`;
