// How an embed may look other than usual: light or dark, the colour of its buttons, how round its corners are.
import { palette } from './styles/palette.ts';

export interface Theme {
  /** `auto` follows the screen of the buyer. */
  scheme: 'auto' | 'light' | 'dark';
  /** Six hexadecimal digits. */
  accent: string | undefined;
  /** In pixels. */
  radius: number | undefined;
}

export const USUAL_THEME: Theme = { scheme: 'auto', accent: undefined, radius: undefined };

const HEX = /^[0-9a-f]{6}$/i;
/** Least contrast of what is not text against what stands behind it (WCAG 2.2, 1.4.11). */
const EDGE_CONTRAST = 3;
/** … and of text (1.4.3). */
const TEXT_CONTRAST = 4.5;
/** Stands out from white and from black. */
const GREY = '#808080';

const channels = (hex: string): number[] =>
  [0, 2, 4].map((at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });

/** The relative luminance of WCAG. */
function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = channels(hex);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/** Text on it is black or white, whichever is read better: one of them always has 4.5:1. */
function accentOf(hex: string, scheme: Theme['scheme']): string[] {
  const on = contrast(hex, 'ffffff') >= contrast(hex, '000000') ? '#ffffff' : '#000000';
  const grounds = (scheme === 'auto' ? [palette.light, palette.dark] : [palette[scheme]]).flatMap(
    ({ card, field }) => [card, field],
  );
  const least = Math.min(...grounds.map((ground) => contrast(hex, ground.slice(1))));
  return [
    `--gw-accent:#${hex}`,
    `--gw-on:${on}`,
    `--gw-edge:${least >= EDGE_CONTRAST ? `#${hex}` : GREY}`,
    `--gw-link:${least >= TEXT_CONTRAST ? `#${hex}` : 'var(--gw-ink)'}`,
  ];
}

/** The rules of a theme; empty for the usual one. Throws where a value is none of those that the API lets through. */
export function themeStyle({ scheme, accent, radius }: Theme, mode: 'page' | 'fragment'): string {
  if (accent !== undefined && !HEX.test(accent)) throw new Error('an accent is six hexadecimal digits');
  if (radius !== undefined && !Number.isInteger(radius)) throw new Error('a radius is a whole number');
  const set = (declarations: readonly string[]): string => {
    if (declarations.length === 0) return '';
    return mode === 'page'
      ? `:root,.gw.gw{${declarations.join(';')}}`
      : `.gw.gw:not(#_):not(#_){${declarations.map((one) => `${one}!important`).join(';')}}`;
  };
  const colours =
    scheme === 'auto'
      ? []
      : [
          ...Object.entries(palette[scheme]).map(([name, value]) => `--gw-${name}:${value}`),
          `color-scheme:${scheme}`,
        ];
  // Paper is white whatever the screen is.
  const painted = set(colours) && `@media screen{${set(colours)}}`;
  const others = [
    ...(accent === undefined ? [] : accentOf(accent.toLowerCase(), scheme)),
    ...(radius === undefined ? [] : [`--gw-radius:${radius}px`]),
  ];
  return painted + set(others);
}
