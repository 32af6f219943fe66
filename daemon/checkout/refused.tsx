/** @jsxImportSource preact */
// The page for a form that was refused before anything was done with it: too many of them, or none that fits.
import type { Raw } from '../../src/api/describe/endpoint.ts';
import type { App } from '../context.ts';
import type { RefusedForm } from '../http/handler.ts';
import { chooseLanguage } from './language.ts';
import { basePath, renderPage } from './page.tsx';
import { Icon, rootClass } from './parts.tsx';

/** What a form's address adds to that of the page that it stands on. */
const FORM = /\/claim$/;

export function refusedForm(app: App, { status, path, query, headers }: RefusedForm): Raw {
  const lang = chooseLanguage({ lang: query.lang, accept: headers.get('accept-language') });
  const base = basePath(app.config.public_url);
  const is_missing = status === 404;
  const title = lang.say(is_missing ? 'not_found' : 'try_later');
  const page = path.replace(FORM, '');
  return renderPage({
    lang,
    base,
    title,
    refresh: false,
    // As the page of a frame says it.
    framed: query.size !== undefined,
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
                <a class="btn" href={`${base}${page}?lang=${lang.code}`}>
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
