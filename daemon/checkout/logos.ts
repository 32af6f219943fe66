// Logos of currencies and wallets: a drawing for each file in assets, by the names that the chains give them; a plain one for the rest.
import { logoOf } from '../../src/chains/assets.ts';
import type { Wallet } from '../../src/chains/family.ts';
import { builtNames, builtText } from './built.ts';

const PLAIN_WALLET = 'plain';

/** SVG files of a folder, on a canvas of 32 × 32, by name. */
const filesOf = (folder: string): Map<string, string> =>
  new Map(builtNames(folder).map((name) => [name.replace(/\.svg$/, ''), builtText(`${folder}/${name}`)]));

/** What is drawn in each, to be put into an SVG of 32 × 32. */
const drawingsOf = (files: Map<string, string>): Map<string, string> =>
  new Map([...files].map(([name, file]) => [name, file.replace(/^<svg [^>]+>|<\/svg>$/g, '')]));

const files = filesOf('coins');
const coins = drawingsOf(files);
const wallets = drawingsOf(filesOf('wallets'));

/** What is drawn for a ticker. */
export const logoDrawing = (ticker: string): string => coins.get(logoOf(ticker)) ?? '';

/** What is drawn for a wallet; null is any wallet. */
export const walletDrawing = (wallet: Wallet | null): string =>
  wallets.get(wallet?.id ?? PLAIN_WALLET) ?? wallets.get(PLAIN_WALLET) ?? '';

/** The logo of a currency as a file; undefined where no drawing has this name. */
export const logoFile = (name: string): string | undefined => files.get(name);
