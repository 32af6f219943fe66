// What search needs to know beyond the texts: what people call an entry, and which entries are seldom meant.
import { articles } from '../../guides/articles.ts';
import type { Endpoint } from '../describe/endpoint.ts';
import { api } from '../endpoints/api.ts';

const endpoints: readonly Endpoint[] = api;

/** Search words by id of an endpoint or article. */
export const keywords: Readonly<Record<string, string>> = Object.fromEntries(
  [...endpoints, ...articles].flatMap(({ id, keywords: words }) =>
    words === undefined ? [] : [[id, words]],
  ),
);

/** Ids of entries that are parts of others. */
export const secondary: ReadonlySet<string> = new Set(
  endpoints.filter((endpoint) => endpoint.secondary).map(({ id }) => id),
);
