// The style sheets of checkout, as the build makes them from styles/.
import { builtText } from './built.ts';

/** For a whole page of ours. */
export const pageStyle = builtText('page.css');

/**
 * For a fragment in a foreign page: every selector is bound to the root and outweighs the page's own, ids and
 * `!important` included, so that nothing leaks in or out.
 */
export const fragmentStyle = builtText('fragment.css');

/** The rule for a `width` in pixels. */
export const widthStyle = (width: number, mode: 'page' | 'fragment'): string =>
  mode === 'page' ? `.gw.gw{max-width:${width}px}` : `.gw.gw:not(#_):not(#_){max-width:${width}px!important}`;
