/** @jsxImportSource preact */
// Whole pages and fragments: the markup around a checkout, and the headers that keep it safe.
import { createHash } from 'node:crypto';
import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { type Opening, openingOf } from '../http/compress.ts';
import { pageScript } from './client.ts';
import type { Language } from './language.ts';
import { fragmentStyle, pageStyle, widthStyle } from './style.ts';
import type { Place } from './view.ts';

/** How often a page without scripts loads itself anew while something may change. */
export const REFRESH_SECONDS = 15;

export interface PageParts {
  lang: Language;
  place: Place;
  title: string;
  content: VNode;
  /** Whether the page refreshes itself where scripts are off. */
  refresh: boolean;
  /** Whether other sites may show it in a frame. */
  framed: boolean;
}

export interface Rendered {
  /** What the page begins with, and what comes after it. */
  opening: Opening;
  html: string;
  headers: Record<string, string>;
}

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const scriptHash = hashOf(pageScript);
const styleHash = hashOf(pageStyle);

const ICON =
  'data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 viewBox=%220 0 32 32%22%3E%3Crect width=%2232%22 height=%2232%22 rx=%228%22 fill=%22%231552c8%22/%3E%3Cpath d=%22M9 16.5l5 5 9-11%22 fill=%22none%22 stroke=%22%23fff%22 stroke-width=%223.6%22 stroke-linecap=%22round%22 stroke-linejoin=%22round%22/%3E%3C/svg%3E';

/** One document with everything in it: a single request, nothing of anybody else's. */
export function renderPage({ lang, place, title, content, refresh, framed }: PageParts): Rendered {
  const extra = place.width === undefined ? null : widthStyle(place.width, 'page');
  const head = renderToString(
    <>
      <title>{title}</title>
      {refresh && (
        <noscript>
          <meta http-equiv="refresh" content={String(REFRESH_SECONDS)} />
        </noscript>
      )}
      {extra && <Raw tag="style" text={extra} />}
    </>,
  );
  const body = renderToString(
    <body data-base={place.base}>
      <main>{content}</main>
      {refresh && (
        <noscript>
          <p class="foot">{lang.say('refreshes', { n: lang.number(REFRESH_SECONDS) })}</p>
        </noscript>
      )}
    </body>,
  );
  return {
    opening: openingFor(lang),
    html: `${head}</head>${body}</html>`,
    headers: headersOf(extra, framed),
  };
}

const openings = new Map<string, Opening>();

/** Everything up to the first that is not the same on all pages of a language: two thirds of a page. */
function openingFor({ code, dir }: Language): Opening {
  const known = openings.get(code);
  if (known) return known;
  const head = renderToString(
    <>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="robots" content="noindex" />
      <meta name="color-scheme" content="light dark" />
      <link rel="icon" href={ICON} />
      <Raw tag="style" text={pageStyle} />
      <Raw tag="script" text={pageScript} />
    </>,
  );
  const opening = openingOf(`<!doctype html><html lang="${code}" dir="${dir}"><head>${head}`);
  openings.set(code, opening);
  return opening;
}

/** Markup for a foreign page: no script, no handler, and styles that stay inside. */
export function renderFragment(place: Place, content: VNode): string {
  const extra = place.width === undefined ? '' : widthStyle(place.width, 'fragment');
  return renderToString(
    <>
      <Raw tag="style" text={fragmentStyle + extra} />
      {content}
    </>,
  );
}

/** Text of ours, hashed into the policy, that must not be escaped. */
const Raw = ({ tag: Tag, text }: { tag: 'style' | 'script'; text: string }) => (
  // biome-ignore lint/security/noDangerouslySetInnerHtml: our own sheet and script
  <Tag dangerouslySetInnerHTML={{ __html: text }} />
);

/** By what they depend on: as many as there are widths, twice. */
const headersMade = new Map<string, Record<string, string>>();

function headersOf(extra: string | null, framed: boolean): Record<string, string> {
  const key = `${extra} ${framed}`;
  const headers = headersMade.get(key) ?? pageHeaders(extra, framed);
  headersMade.set(key, headers);
  return headers;
}

function pageHeaders(extra: string | null, framed: boolean): Record<string, string> {
  const policy = [
    "default-src 'none'",
    `script-src ${scriptHash}`,
    `style-src ${[styleHash, ...(extra === null ? [] : [hashOf(extra)])].join(' ')}`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    `frame-ancestors ${framed ? '*' : "'none'"}`,
  ];
  return {
    'content-security-policy': policy.join('; '),
    'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
    'cross-origin-opener-policy': 'same-origin',
    vary: 'accept-encoding, accept-language',
    ...(framed ? {} : { 'x-frame-options': 'DENY' }),
  };
}
