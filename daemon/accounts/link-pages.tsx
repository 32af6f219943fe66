/** @jsxImportSource preact */
// The pages that mails link to: one form each, which sends the token of the link when its button is pressed.
import type { ComponentChildren } from 'preact';
import { MAX_PASSWORD, MIN_PASSWORD } from '../../src/api/endpoints/login.ts';
import { builtText } from '../checkout/built.ts';
import type { Language } from '../checkout/language.ts';
import { pageKind, type Rendered, renderPage } from '../checkout/page.tsx';
import { rootClass } from '../checkout/parts.tsx';
import { pageStyle } from '../checkout/style.ts';

/** Without pictures, and without a form that is sent by anything but the script: the token must not reach an address. */
const kind = pageKind(pageStyle + builtText('link-page.css'), builtText('link-page.js'), {
  images: false,
  forms: false,
});

/** What a token can be made of; nothing else reaches the page. */
const TOKEN = /^[\w.-]*$/;
/** What a sentence or a chat puts behind a link is no part of its token. */
const BEHIND = /[^\w-]+$/;

interface LinkPage {
  token: string;
  lang: Language;
  /** The path that the public URL begins with. */
  base: string;
}

interface LinkForm extends LinkPage {
  title: string;
  /** The path that the form is sent to. */
  call: string;
  /** What the page says once that was done, and of input that does not fit. */
  done: string;
  unfit: string;
  /** The label of the button. */
  label: string;
  children: ComponentChildren;
}

function linkPage({ lang, base, title, call, done, unfit, label, children, ...page }: LinkForm): Rendered {
  const token = page.token.replace(BEHIND, '');
  const content = (
    <div
      class={rootClass({ mode: 'page', size: 'md' })}
      lang={lang.code}
      dir={lang.dir}
      data-call={call}
      data-done={done}
      data-unfit={unfit}
      data-invalid={lang.say('password_invalid')}
      data-later={lang.say('try_later')}
    >
      <div class="card">
        <div class="pay">
          <h1 class="head">{title}</h1>
          <form method="post">
            <input type="hidden" name="token" value={TOKEN.test(token) ? token : ''} />
            {children}
            <button type="submit" class="btn first">
              {label}
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

/** The form for a new password, in the language of its reader. */
export function resetPage(page: LinkPage): Rendered {
  const { lang } = page;
  const length = lang.say('password_length', {
    min: lang.number(MIN_PASSWORD),
    max: lang.number(MAX_PASSWORD),
  });
  return linkPage({
    ...page,
    title: lang.say('password_title'),
    call: '/api/v1/reset-password/',
    done: lang.say('password_done'),
    unfit: length,
    label: lang.say('password_save'),
    children: (
      <>
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
      </>
    ),
  });
}

/** The button that confirms an email address, in the language of its reader. */
export function confirmationPage(page: LinkPage): Rendered {
  const { lang } = page;
  return linkPage({
    ...page,
    title: lang.say('email_title'),
    call: '/api/v1/confirm-email',
    done: lang.say('email_done'),
    unfit: lang.say('password_invalid'),
    label: lang.say('email_confirm'),
    children: <p class="hint">{lang.say('email_text')}</p>,
  });
}
