// What a person sees whose browser asks for a page that is not there: the page that was meant, or one that says so; never JSON.
import { basePath } from '../checkout/page.tsx';
import type { App } from '../context.ts';
import type { Call } from './call.ts';
import type { Route } from './handler.ts';
import type { Answer } from './reply.ts';

/** Below these are pages of buyers. */
const PAGES = /^\/(?:pay|u)(?:\/|$)|^\/v1\/(?:pay|units)\/.*\/(?:page|div)$/;
/** What chats, mails and sentences put around a link, is no part of an id, a name or a word of its path. */
const AROUND = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu;
/** A page that only forms are sent to stands below the one that has the form. */
const FORM = /\/[^/]+$/;
const NOT_FOUND = 404;
const METHOD_NOT_ALLOWED = 405;
const UNPROCESSABLE = 422;

/** Whether a browser asks that shows what it gets. */
export const isBrowser = ({ event }: Call): boolean =>
  event.req.headers.get('accept')?.includes('text/html') === true;

/** Whether a path that no route has looks like one of a page. */
export const isBelowPages = (pathname: string): boolean => PAGES.test(cleanPath(pathname));

/** In place of a refusal for programs. `refused` makes the page that says so. */
export function readable(
  app: App,
  call: Call,
  reply: Answer,
  refused: NonNullable<Route['refused']>,
): Answer {
  const { req } = call.event;
  if (reply.status < 400) return reply;
  const { pathname, search } = new URL(req.url);
  const reads = req.method === 'GET' || req.method === 'HEAD';
  const meant = reads ? meantBy(reply.status, pathname, search) : null;
  if (meant !== null) {
    const location = `${basePath(app.config.public_url)}${meant}`;
    return { status: 302, headers: { location, 'cache-control': 'no-store' }, body: null };
  }
  if (!reply.headers['content-type']?.startsWith('application/json')) return reply;
  // To a reader, an address that can be none is one that is not there.
  const status = reads && reply.status === UNPROCESSABLE ? NOT_FOUND : reply.status;
  // In a flood all get the same page, whose link is to where they are.
  const path = reads && reply.headers['retry-after'] !== undefined ? null : pathname;
  const page = refused(app, { status, path, query: call.query, headers: req.headers });
  const headers = { ...reply.headers, ...page.headers, 'content-type': 'text/html; charset=utf-8' };
  return { status, headers, body: page.body as Answer['body'] };
}

/** The path that an answer of this status leads to; null where it is the one that was asked for. */
function meantBy(status: number, pathname: string, search: string): string | null {
  if (status === METHOD_NOT_ALLOWED) return pathname.replace(FORM, '');
  if (status !== NOT_FOUND && status !== UNPROCESSABLE) return null;
  const path = cleanPath(pathname);
  if (path !== pathname) return path + search;
  // The path is what counts: how the page should look is left out where it cannot be read.
  return status === UNPROCESSABLE && search !== '' ? path : null;
}

const cleanPath = (pathname: string): string =>
  pathname.split('/').map(trimmed).join('/').replace(/\/+$/, '');

function trimmed(segment: string): string {
  let text = segment;
  try {
    text = decodeURIComponent(segment);
  } catch {
    text = segment.replace(/%.*$/, '');
  }
  return encodeURIComponent(text.replace(AROUND, ''));
}
