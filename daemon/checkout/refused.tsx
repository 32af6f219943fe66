/** @jsxImportSource preact */
// The page for a form that was refused before anything was done with it, too many of them or none that fits, for who is to come
// again later, and for an address where nothing is. The latter two are asked for in a flood: once for each language they are rendered.
import type { Raw } from '../../src/api/describe/endpoint.ts';
import type { App } from '../context.ts';
import type { RefusedRequest } from '../http/handler.ts';
import { chooseLanguage, type Language } from './language.ts';
import { basePath, renderPage } from './page.tsx';
import { Icon, rootClass } from './parts.tsx';

/** What a form's address adds to that of the page that it stands on. */
const FORM = /\/claim$/;

const knownPages = new WeakMap<App, Map<string, Raw>>();

export function refusedPage(app: App, { status, path, query, headers }: RefusedRequest): Raw {
  const lang = chooseLanguage({ lang: query.lang, accept: headers.get('accept-language') });
  // As the page of a frame says it.
  const framed = query.size !== undefined;
  const is_missing = status === 404;
  if (path !== null && !is_missing) {
    const href = `${basePath(app.config.public_url)}${path.replace(FORM, '')}?lang=${lang.code}`;
    return renderRefused(app, { lang, framed, href, is_missing });
  }
  const known = knownPages.get(app) ?? new Map<string, Raw>();
  knownPages.set(app, known);
  const name = `${lang.code} ${framed} ${is_missing}`;
  // An empty address is that of the page itself.
  const page = known.get(name) ?? renderRefused(app, { lang, framed, href: '', is_missing });
  known.set(name, page);
  return page;
}

interface Refused {
  lang: Language;
  framed: boolean;
  /** Where its link leads. */
  href: string;
  is_missing: boolean;
}

function renderRefused(app: App, { lang, framed, href, is_missing }: Refused): Raw {
  const base = basePath(app.config.public_url);
  const title = lang.say(is_missing ? 'not_found' : 'try_later');
  return renderPage({
    lang,
    base,
    title,
    refresh: false,
    framed,
    content: (
      <div class={rootClass({ mode: 'page', size: 'md' })} lang={lang.code} dir={lang.dir}>
        <div class="card">
          <div class="pay">
            <div class="state warn">
              <Icon tone="warn" />
              <div class="words">
                <h1 class="head">{title}</h1>
                {is_missing && <p class="text">{lang.say('not_found_text')}</p>}
              </div>
            </div>
            {!is_missing && (
              <p class="after">
                <a class="btn" href={href}>
                  {lang.say('open_page')}
                </a>
              </p>
            )}
          </div>
        </div>
      </div>
    ),
  });
}
