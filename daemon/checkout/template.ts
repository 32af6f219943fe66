// A page or a fragment as it is rendered: without the colours and sizes that a call asks for.
import type { Piece } from '../http/compress.ts';

export interface Template {
  mode: 'page' | 'fragment';
  /** `rules` and `query` are places for those of the look. */
  parts: readonly (Piece | 'rules' | 'query')[];
  headersFor(rules: string | null): Record<string, string>;
}
