// Logos of currencies: a drawing for each file in assets/coins, by the names that assets give them; a plain one for the rest.
import { logoOf } from '../../src/chains/assets.ts';
import { builtNames, builtText } from './built.ts';

/** SVG files on a canvas of 32 × 32, by name. */
const files = new Map(
  builtNames('coins').map((name) => [name.replace(/\.svg$/, ''), builtText(`coins/${name}`)]),
);

const drawings = new Map(
  [...files].map(([name, file]) => [name, file.replace(/^<svg [^>]+>|<\/svg>$/g, '')]),
);

/** What is drawn for a ticker, to be put into an SVG of 32 × 32. */
export const logoDrawing = (ticker: string): string => drawings.get(logoOf(ticker)) ?? '';

/** A logo as a file; undefined where no drawing has this name. */
export const logoFile = (name: string): string | undefined => files.get(name);
