// A picture of figures over time: lines in panels, one below the other, as SVG.

const WIDTH = 720;
const PANEL_HEIGHT = 160;
const MARGIN = 36;
const COLOURS = ['#0a6', '#06c', '#c40'];

export interface Line {
  name: string;
  /** At equal times; what is no number leaves a gap out. */
  values: readonly number[];
}

/** Each panel has a scale of its own, from zero. */
export function drawLines(title: string, panels: readonly (readonly Line[])[]): string {
  const height = panels.length * PANEL_HEIGHT + MARGIN;
  const drawn = panels.map((lines, at) => drawPanel(lines, MARGIN + at * PANEL_HEIGHT)).join('\n');
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="#fff"/>
<text x="${MARGIN}" y="20" font-size="14">${title}</text>
${drawn}
</svg>
`;
}

function drawPanel(lines: readonly Line[], top: number): string {
  const numbers = lines.flatMap(({ values }) => values).filter(Number.isFinite);
  const most = Math.max(1, ...numbers);
  const bottom = top + PANEL_HEIGHT - MARGIN;
  const scale = (PANEL_HEIGHT - MARGIN - 20) / most;
  const drawn = lines.map(({ name, values }, at) => {
    const step = (WIDTH - 2 * MARGIN) / Math.max(1, values.length - 1);
    const points = values.flatMap((value, sample) =>
      Number.isFinite(value)
        ? `${(MARGIN + sample * step).toFixed(1)},${(bottom - value * scale).toFixed(1)}`
        : [],
    );
    const colour = COLOURS[at % COLOURS.length];
    return `<polyline fill="none" stroke="${colour}" stroke-width="1.5" points="${points.join(' ')}"/>
<text x="${MARGIN + at * 160}" y="${bottom + 16}" fill="${colour}">${name}, at most ${most.toFixed(0)}</text>`;
  });
  return `<line x1="${MARGIN}" x2="${WIDTH - MARGIN}" y1="${bottom}" y2="${bottom}" stroke="#999"/>\n${drawn.join('\n')}`;
}
