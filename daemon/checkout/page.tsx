/** @jsxImportSource preact */
// Whole pages and fragments: the markup around their content, and the headers that keep it safe.
import { createHash, randomUUID } from 'node:crypto';
import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { Raw } from '../../src/api/describe/endpoint.ts';
import { looseOf, type Piece, pieceOf, together } from '../http/compress.ts';
import { RETURN_SECONDS } from './back.ts';
import { builtText } from './built.ts';
import { CARD } from './card.ts';
import type { Language } from './language.ts';
import { fragmentStyle, pageStyle, widthStyle } from './style.ts';
import type { Template } from './template.ts';
import { type Theme, themeStyle } from './theme.ts';

/** How often a page without scripts loads itself again while something may change. */
export const REFRESH_SECONDS = 15;

/** Stands for the query of a look in the addresses of a page: no text of others can be it. */
export const LOOK_QUERY = `look-${randomUUID()}`;

/** What a call asks for in colours and sizes. None of it is rendered: it is put into what is. */
export interface Look {
  /** In pixels. */
  width?: number | undefined;
  theme: Theme;
}

/** The style and the script that pages share, inline in each: a single request, and nothing from anywhere else. */
export interface PageKind {
  head: Piece;
  style_hash: string;
  script_hash: string;
  /** Whether it shows pictures. */
  images: boolean;
  /** Whether its forms work without scripts. */
  forms: boolean;
}

/** Level of compression of what is compressed once for a process. */
const SMALLEST = 9;

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** A picture as it may stand in an attribute. */
const dataUrl = (svg: string): string =>
  `data:image/svg+xml,${svg.replace(/"/g, "'").replace(/[#%<>]/g, encodeURIComponent)}`;

/** Text of ours, hashed into the policy, that must not be escaped. */
const Inline = ({ tag: Tag, text }: { tag: 'style' | 'script'; text: string }) => (
  // biome-ignore lint/security/noDangerouslySetInnerHtml: our own sheet and script
  <Tag dangerouslySetInnerHTML={{ __html: text }} />
);

export function pageKind(
  style: string,
  script: string,
  { images, forms }: Pick<PageKind, 'images' | 'forms'>,
): PageKind {
  const head = renderToString(
    <>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      {/* Digits of amounts and addresses are no telephone numbers. */}
      <meta name="format-detection" content="telephone=no" />
      {images && <link rel="icon" href={dataUrl(builtText('mark.svg'))} />}
      <Inline tag="style" text={style} />
      <Inline tag="script" text={script} />
    </>,
  );
  return {
    head: pieceOf(head, SMALLEST),
    style_hash: hashOf(style),
    script_hash: hashOf(script),
    images,
    forms,
  };
}

const checkoutKind = pageKind(pageStyle, builtText('checkout.js'), { images: true, forms: true });

/** The path that the public URL begins with; empty where it has none. */
export const basePath = (public_url: string): string => new URL(public_url).pathname.replace(/\/+$/, '');

/** A page as others show it. */
export interface About {
  /** Its one address. */
  url: string;
  description: string;
  /** Whether search engines may list it. */
  indexed: boolean;
  /** The address of a picture. */
  picture: string | null;
  /** Whether that is as wide as messengers show one. */
  card?: boolean;
  /** Whose page it is. */
  site: string;
}

export interface PageParts {
  kind?: PageKind;
  lang: Language;
  /** What links begin with. */
  base: string;
  title: string;
  content: VNode;
  /** Whether the page refreshes itself where scripts are off. */
  refresh: boolean;
  /** What search engines and messengers show of it; without it none may list it. */
  about?: About | undefined;
  /** Where it leads after a few seconds where scripts are off. */
  leads?: string | undefined;
  /** Whether other sites may show it in a frame. */
  framed: boolean;
}

export type Rendered = Raw & { body: string };

/** Open Graph, and the description of search results. */
const Described = ({ title, about }: { title: string; about: About }) => (
  <>
    <link rel="canonical" href={about.url} />
    <meta name="description" content={about.description} />
    <meta property="og:type" content="website" />
    <meta property="og:title" content={title} />
    <meta property="og:description" content={about.description} />
    <meta property="og:url" content={about.url} />
    <meta property="og:site_name" content={about.site} />
    {about.picture !== null && <meta property="og:image" content={about.picture} />}
    {about.card && <meta property="og:image:width" content={String(CARD.width)} />}
    {about.card && <meta property="og:image:height" content={String(CARD.height)} />}
    <meta name="twitter:card" content={about.card ? 'summary_large_image' : 'summary'} />
  </>
);

/** One document with everything in it but a look. */
export function pageTemplate(parts: PageParts): Template {
  const { kind = checkoutKind, lang, base, title, content, refresh, leads, framed, about } = parts;
  const head = renderToString(
    <>
      <title>{title}</title>
      {!about?.indexed && <meta name="robots" content="noindex" />}
      {about && <Described title={title} about={about} />}
      {refresh && (
        <noscript>
          <meta http-equiv="refresh" content={String(REFRESH_SECONDS)} />
        </noscript>
      )}
      {leads !== undefined && (
        <noscript>
          <meta http-equiv="refresh" content={`${RETURN_SECONDS};url=${leads}`} />
        </noscript>
      )}
    </>,
  );
  const body = renderToString(
    <body data-base={base}>
      <main>{content}</main>
      {refresh && (
        <noscript>
          <p class="foot">{lang.say('refreshes', { n: lang.number(REFRESH_SECONDS) })}</p>
        </noscript>
      )}
    </body>,
  );
  return {
    mode: 'page',
    parts: [
      looseOf(`<!doctype html><html lang="${lang.code}" dir="${lang.dir}"><head>`),
      kind.head,
      looseOf(head),
      'rules',
      ...withPlaces(`</head>${body}</html>`),
    ],
    headersFor: (rules) => pageHeaders(kind, rules, framed),
  };
}

/** A page that has no look, as text. */
export function renderPage(parts: PageParts): Rendered {
  const { parts: pieces, headersFor } = pageTemplate(parts);
  const body = pieces.map((piece) => (typeof piece === 'string' ? '' : piece.text.toString())).join('');
  return { body, headers: headersFor(null) };
}

/** The rendered text with a place for each query of a look. */
const withPlaces = (text: string): Template['parts'] =>
  text
    .split(LOOK_QUERY)
    .flatMap((part, at) => (at === 0 ? [pieceOf(part)] : ['query' as const, pieceOf(part)]));

/** A template with the look that a call asks for, compressed where the caller takes it. */
export function dressed({ parts, mode, headersFor }: Template, look: Look, request: Headers): Raw {
  const rules = (look.width === undefined ? '' : widthStyle(look.width, mode)) + themeStyle(look.theme, mode);
  const places = {
    rules: looseOf(rules && `<style>${rules}</style>`),
    query: looseOf(queryOf(look.theme)),
  };
  const pieces = parts.map((part) => (typeof part === 'string' ? places[part] : part));
  const { body, headers } = together(pieces, request);
  return { body, headers: { ...headersFor(rules || null), ...headers } };
}

/** As it follows other parameters in an attribute. */
const queryOf = ({ scheme, accent, radius }: Theme): string =>
  Object.entries({ theme: scheme, accent, radius })
    .flatMap(([name, value]) => (value === undefined ? [] : [`&amp;${name}=${value}`]))
    .join('');

const fragmentSheet = pieceOf(`<style>${fragmentStyle}</style>`, SMALLEST);
const fragmentHash = hashOf(fragmentStyle);

/** Markup for a foreign page: no script, no handler, and styles that stay inside. Shown alone it has a page's policy. */
export function fragmentTemplate(content: VNode): Template {
  const kind = { style_hash: fragmentHash, script_hash: "'none'", images: true, forms: true };
  return {
    mode: 'fragment',
    parts: [fragmentSheet, 'rules', ...withPlaces(renderToString(content))],
    headersFor: (rules) => pageHeaders(kind, rules, true),
  };
}

function pageHeaders(
  kind: Omit<PageKind, 'head'>,
  extra: string | null,
  framed: boolean,
): Record<string, string> {
  const policy = [
    "default-src 'none'",
    `script-src ${kind.script_hash}`,
    `style-src ${[kind.style_hash, ...(extra === null ? [] : [hashOf(extra)])].join(' ')}`,
    ...(kind.images ? ["img-src 'self' data:"] : []),
    "connect-src 'self'",
    `form-action ${kind.forms ? "'self'" : "'none'"}`,
    "base-uri 'none'",
    `frame-ancestors ${framed ? '*' : "'none'"}`,
  ];
  return {
    'content-security-policy': policy.join('; '),
    'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
    'cross-origin-opener-policy': 'same-origin',
    vary: 'accept-encoding, accept-language, sec-ch-ua-mobile, user-agent',
    ...(framed ? {} : { 'x-frame-options': 'DENY' }),
  };
}
