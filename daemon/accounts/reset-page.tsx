/** @jsxImportSource preact */
// The page that a recovery mail links to: one form, which sends token and new password.
import { MAX_PASSWORD, MIN_PASSWORD } from '../../src/api/endpoints/login.ts';
import { builtText } from '../checkout/built.ts';
import type { Language } from '../checkout/language.ts';
import { pageKind, type Rendered, renderPage } from '../checkout/page.tsx';
import { rootClass } from '../checkout/parts.tsx';
import { pageStyle } from '../checkout/style.ts';

/** Without pictures, and without a form that is sent by anything but the script: the token must not reach an address. */
const kind = pageKind(pageStyle + builtText('reset-password.css'), builtText('reset-password.js'), {
  images: false,
  forms: false,
});

/** What a token can be made of; nothing else reaches the page. */
const TOKEN = /^[\w.-]*$/;

/** The form for `token`, in the language of its reader; `base` is the path that the public URL begins with. */
export function resetPage({ token, lang, base }: { token: string; lang: Language; base: string }): Rendered {
  const title = lang.say('password_title');
  const length = lang.say('password_length', {
    min: lang.number(MIN_PASSWORD),
    max: lang.number(MAX_PASSWORD),
  });
  const content = (
    <div
      class={rootClass({ mode: 'page', size: 'md' })}
      lang={lang.code}
      dir={lang.dir}
      data-reset
      data-done={lang.say('password_done')}
      data-length={length}
      data-invalid={lang.say('password_invalid')}
      data-later={lang.say('try_later')}
    >
      <div class="card">
        <div class="pay">
          <h1 class="head">{title}</h1>
          <form method="post">
            <input type="hidden" name="token" value={TOKEN.test(token) ? token : ''} />
            <label class="key" for="new_password">
              {lang.say('password_label')}
            </label>
            <input
              id="new_password"
              name="new_password"
              type="password"
              autocomplete="new-password"
              required
              minlength={MIN_PASSWORD}
              maxlength={MAX_PASSWORD}
              aria-describedby="length"
            />
            <p class="hint" id="length">
              {length}
            </p>
            <button type="submit" class="btn first">
              {lang.say('password_save')}
            </button>
          </form>
          <div role="status">
            <p class="state" data-message hidden />
          </div>
          <noscript>
            <p class="alert">{lang.say('password_scripts')}</p>
          </noscript>
        </div>
      </div>
    </div>
  );
  return renderPage({ kind, lang, base, title, content, refresh: false, framed: false });
}
