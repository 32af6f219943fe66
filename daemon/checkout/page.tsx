/** @jsxImportSource preact */
// Whole pages and fragments: the markup around their content, and the headers that keep it safe.
import { createHash } from 'node:crypto';
import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { Raw } from '../../src/api/describe/endpoint.ts';
import { RETURN_SECONDS } from './back.ts';
import { builtText } from './built.ts';
import { CARD } from './card.ts';
import type { Language } from './language.ts';
import { fragmentStyle, pageStyle, widthStyle } from './style.ts';
import { type Theme, themeStyle } from './theme.ts';
import type { Surface } from './view.ts';

/** How often a page without scripts loads itself again while something may change. */
export const REFRESH_SECONDS = 15;

/** The style and the script that pages share, inline in each: a single request, and nothing from anywhere else. */
export interface PageKind {
  head: string;
  style_hash: string;
  script_hash: string;
  /** Whether it shows pictures. */
  images: boolean;
  /** Whether its forms work without scripts. */
  forms: boolean;
}

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
  return { head, style_hash: hashOf(style), script_hash: hashOf(script), images, forms };
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
  /** In pixels. */
  width?: number | undefined;
  theme?: Theme;
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

/** One document with everything in it. */
export function renderPage(parts: PageParts): Rendered {
  const { kind = checkoutKind, lang, base, title, content, refresh, leads, framed, about } = parts;
  const extra = ownStyle(parts, 'page') || null;
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
      {extra && <Inline tag="style" text={extra} />}
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
    body: `<!doctype html><html lang="${lang.code}" dir="${lang.dir}"><head>${kind.head}${head}</head>${body}</html>`,
    headers: pageHeaders(kind, extra, framed),
  };
}

/** The rules that one call asks for. */
const ownStyle = ({ width, theme }: Pick<PageParts, 'width' | 'theme'>, mode: Surface['mode']): string =>
  (width === undefined ? '' : widthStyle(width, mode)) + (theme ? themeStyle(theme, mode) : '');

/** Markup for a foreign page: no script, no handler, and styles that stay inside. Shown alone it has a page's policy. */
export function renderFragment(surface: Surface, content: VNode): Rendered {
  const style = fragmentStyle + ownStyle(surface, 'fragment');
  const body = renderToString(
    <>
      <Inline tag="style" text={style} />
      {content}
    </>,
  );
  const kind = { style_hash: hashOf(style), script_hash: "'none'", images: true, forms: true };
  return { body, headers: pageHeaders(kind, null, true) };
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
