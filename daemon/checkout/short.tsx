/** @jsxImportSource preact */
// The page that says one thing: that an invoice or a unit does not exist, or that an order ended long ago.
import type { Language } from './language.ts';
import { Heading, Icon, rootClass } from './parts.tsx';
import type { Surface } from './view.ts';

interface ShortView {
  lang: Language;
  surface: Surface;
  title: string;
  text: string;
}

export const Short = ({ lang, surface, title, text }: ShortView) => (
  <div class={rootClass({ ...surface, size: 'md' })} lang={lang.code} dir={lang.dir}>
    <div class="card">
      <div class="pay">
        <div class="state warn">
          <Icon tone="warn" />
          <div class="words">
            <Heading surface={surface} level={1} class="head">
              {title}
            </Heading>
            <p class="text">{text}</p>
          </div>
        </div>
      </div>
    </div>
  </div>
);
