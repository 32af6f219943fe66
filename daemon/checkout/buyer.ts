// Which buyer a page is shown to: known by a number of his own that his browser keeps, because many share one address.
import { randomBytes } from 'node:crypto';
import type { Raw } from '../../src/api/describe/endpoint.ts';
import type { App } from '../context.ts';
import type { RequestInfo } from '../http/exchange.ts';
import type { PublicContext } from '../http/handler.ts';
import { callerOf } from '../http/limits.ts';

const COOKIE = 'gatewayd_buyer';
const NUMBER_BYTES = 16;
/** Longer than any payment waits. */
const COOKIE_SECONDS = 24 * 3600;

type Asking = Pick<RequestInfo, 'headers' | 'ip'>;

/**
 * What tells this buyer from others; null where nothing does: a browser that keeps no cookies, and this very machine in demo
 * mode. Programs keep none, but are few at one address.
 */
export function buyerOf(app: App, { headers, ip }: Asking): string | null {
  const number = numberIn(headers);
  if (number !== undefined) return number;
  // Every browser sends one of them with a form; the first not to a site without TLS, and not one of before 2023.
  if (headers.has('sec-fetch-site') || headers.has('origin')) return null;
  const caller = callerOf(app, ip);
  return caller && `${caller} ${headers.get('user-agent') ?? ''}`;
}

/** The page, which gives a new buyer his number; framed by another site, one that belongs to that site alone. */
export function numbered(
  { app, request }: Pick<PublicContext, 'app' | 'request'>,
  page: Raw,
  framed: boolean,
): Raw {
  if (numberIn(request.headers) !== undefined) return page;
  const is_secure = app.config.public_url.startsWith('https:');
  const inFrames = is_secure && framed ? 'SameSite=None; Partitioned' : 'SameSite=Lax';
  const number = randomBytes(NUMBER_BYTES).toString('base64url');
  const cookie = `${COOKIE}=${number}; Max-Age=${COOKIE_SECONDS}; Path=/; HttpOnly; ${inFrames}${is_secure ? '; Secure' : ''}`;
  // His alone: it is given to no one else.
  const { again: _, ...own } = page;
  return { ...own, headers: { ...page.headers, 'set-cookie': cookie } };
}

const numberIn = (headers: Headers): string | undefined =>
  new RegExp(`(?:^|; *)${COOKIE}=([\\w-]{22})(?:;|$)`).exec(headers.get('cookie') ?? '')?.[1];
