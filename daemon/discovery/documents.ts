// Documents made once, with their ETag, and the 304 of a caller who has them already.

import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { Prepared } from '../http/exchange.ts';

export interface Document {
  type: string;
  /** A text would be encoded again for each answer. */
  body: Uint8Array;
  etag: string;
}

/** Most variants of documents that are cached: kinds × formats × switches, and a few more. */
const MAX_DOCUMENTS = 256;
/** The caller keeps it and asks each time whether it is still so. */
const REVALIDATE = 'no-cache';

export const JSON_TYPE = 'application/json';
export const TEXT_TYPE = 'text/plain; charset=utf-8';
export const MARKDOWN_TYPE = 'text/markdown; charset=utf-8';
export const YAML_TYPE = 'application/yaml; charset=utf-8';
export const XML_TYPE = 'application/xml; charset=utf-8';
export const HTML_TYPE = 'text/html; charset=utf-8';

export function documentOf(type: string, content: string | Uint8Array): Document {
  const body = typeof content === 'string' ? Buffer.from(content) : content;
  return { type, body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"` };
}

export interface Documents {
  /** The document of that name, made when it is first asked for. */
  get(name: string, make: () => Document): Document;
}

export function openDocuments(): Documents {
  const documents = new LRUCache<string, Document>({ max: MAX_DOCUMENTS });
  return {
    get(name, make) {
      const known = documents.get(name);
      if (known) return known;
      const made = make();
      documents.set(name, made);
      return made;
    },
  };
}

/** Whether `If-None-Match` names this ETag, weak or strong, alone or in a list. */
const isKnown = (etag: string, header: string | null): boolean =>
  header !== null &&
  (header.trim() === '*' || header.split(',').some((one) => one.trim().replace(/^W\//, '') === etag));

/** The document, or 304 to a caller who has it. `headers` are added to both. */
export function answerDocument(
  { type, body, etag }: Document,
  request: Headers,
  headers: Record<string, string> = {},
): Prepared {
  const shared = { etag, 'cache-control': REVALIDATE, ...headers };
  if (isKnown(etag, request.get('if-none-match')))
    return new Prepared({ status: 304, headers: shared, body: null });
  return new Prepared({ status: 200, headers: { 'content-type': type, ...shared }, body });
}
