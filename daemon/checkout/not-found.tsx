/** @jsxImportSource preact */
// The page for an invoice or a unit that does not exist.
import type { Language } from './language.ts';
import { Heading, Icon, rootClass } from './parts.tsx';
import type { Place } from './view.ts';

export const NotFound = ({ lang, place }: { lang: Language; place: Place }) => (
  <div class={rootClass({ ...place, size: 'md' })} lang={lang.code} dir={lang.dir}>
    <div class="card">
      <div class="pay">
        <div class="state warn">
          <Icon tone="warn" />
          <div class="words">
            <Heading place={place} level={1} class="head">
              {lang.say('not_found')}
            </Heading>
            <p class="text">{lang.say('not_found_text')}</p>
          </div>
        </div>
      </div>
    </div>
  </div>
);
