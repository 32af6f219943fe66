/** @jsxImportSource preact */
// The page for an invoice or a unit that does not exist.
import type { Language } from './language.ts';
import { Heading, Icon, rootClass } from './parts.tsx';
import type { Surface } from './view.ts';

export const NotFound = ({ lang, surface }: { lang: Language; surface: Surface }) => (
  <div class={rootClass({ ...surface, size: 'md' })} lang={lang.code} dir={lang.dir}>
    <div class="card">
      <div class="pay">
        <div class="state warn">
          <Icon tone="warn" />
          <div class="words">
            <Heading surface={surface} level={1} class="head">
              {lang.say('not_found')}
            </Heading>
            <p class="text">{lang.say('not_found_text')}</p>
          </div>
        </div>
      </div>
    </div>
  </div>
);
