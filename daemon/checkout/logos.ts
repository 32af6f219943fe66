// Logos drawn here, by the names that assets give them; a plain one for the rest.
import { logoOf } from '../../src/chains/assets.ts';

/** SVG content on a canvas of 32 × 32. */
const drawings: Record<string, string> = {
  plain: disc('#5a6478', '<circle cx="16" cy="16" r="6" fill="none" stroke="#fff" stroke-width="2.4"/>'),
  ton: disc(
    '#0098ea',
    '<path d="M9 10.5h14L16 24z M16 10.5V24" fill="none" stroke="#fff" stroke-width="2.2" stroke-linejoin="round"/>',
  ),
  sol: disc(
    '#1a1430',
    '<path d="M11.2 9.5H24l-3.2 3.2H8z" fill="#19fb9b"/><path d="M8 14.4h12.8l3.2 3.2H11.2z" fill="#6a8cff"/><path d="M11.2 19.3H24l-3.2 3.2H8z" fill="#b35cff"/>',
  ),
  btc: disc(
    '#f7931a',
    '<path d="M12.5 9.5h4.6a3.1 3.1 0 0 1 0 6.3h-4.6zm0 6.3h5.2a3.3 3.3 0 0 1 0 6.7h-5.2zM10.4 9.5h2.1m-2.1 13h2.1M14.2 7v2.5m3-2.5v2.5m-3 13V25m3-2.5V25" fill="none" stroke="#fff" stroke-width="2"/>',
  ),
  ltc: disc(
    '#345d9d',
    '<path d="M15.5 8l-3.3 14.5H22M10 18l8-3.2" fill="none" stroke="#fff" stroke-width="2.6"/>',
  ),
  usdt: disc(
    '#1f8a70',
    '<path d="M9.5 10.5h13M16 10.5V24" fill="none" stroke="#fff" stroke-width="3"/><ellipse cx="16" cy="16" rx="8" ry="2.3" fill="none" stroke="#fff" stroke-width="1.6"/>',
  ),
  usdc: disc(
    '#2775ca',
    '<path d="M12.6 7.6a9 9 0 0 0 0 16.8M19.4 7.6a9 9 0 0 1 0 16.8" fill="none" stroke="#fff" stroke-width="2"/><path d="M18.8 13c-.4-1.3-1.5-1.9-2.9-1.9-1.6 0-2.8.9-2.8 2.3 0 3.3 6 1.6 6 5 0 1.4-1.3 2.4-3 2.4-1.7 0-2.9-.8-3.2-2.2M16 9.3v1.8m0 9.7v1.9" fill="none" stroke="#fff" stroke-width="1.9"/>',
  ),
};

function disc(colour: string, inside: string): string {
  return `<circle cx="16" cy="16" r="16" fill="${colour}"/>${inside}`;
}

/** What is drawn for a ticker, to be put into an SVG of 32 × 32. */
export const logoDrawing = (ticker: string): string => drawings[logoOf(ticker)] ?? '';

/** A logo as a file; undefined where no drawing has this name. */
export function logoFile(name: string): string | undefined {
  if (!Object.hasOwn(drawings, name)) return undefined;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${drawings[name]}</svg>`;
}

/** Rules that hold the drawings' colours against the style of a foreign page, which outweighs attributes. */
export function logoRules(): string {
  const rules = new Set<string>();
  for (const drawing of Object.values(drawings))
    for (const [, name, value] of drawing.matchAll(/ (fill|stroke|stroke-width)="([^"]+)"/g))
      rules.add(`& .logo [${name}="${value}"]{${name}:${value}}`);
  return [...rules].join('\n');
}
