/** @jsxImportSource preact */
// "Pay another way": the other coins that an invoice can be paid in, each with what it costs now.
import type { Choice } from './choices.ts';
import { Support } from './ending.tsx';
import { Heading, Icon, Merchant, rootClass } from './parts.tsx';
import { Coin, noticeText, type UnitNotice } from './unit.tsx';
import type { PayView } from './view.ts';

export interface WaysView {
  /** Of the invoice as it is. */
  pay: PayView;
  notice: UnitNotice | null;
  choices: readonly Choice[];
  /** Where a choice is sent. */
  action: string;
  /** The page of the invoice. */
  back: string;
}

export function Ways({ view: { pay, notice, choices, action, back } }: { view: WaysView }) {
  const { lang, surface } = pay;
  return (
    <div class={rootClass(surface)} lang={lang.code} dir={lang.dir}>
      <div class="card" data-body>
        <div class="what">
          <Merchant name={pay.merchant} logo={pay.picture?.kind === 'logo' ? pay.picture.src : null} />
          <Heading surface={surface} level={1} class="title">
            <bdi>{pay.title}</bdi>
          </Heading>
          <p class="usd">
            <bdi>{pay.usd}</bdi>
          </p>
          {pay.testnet && <p class="note">{lang.say('testnet')}</p>}
        </div>
        <div class="pay">
          {notice !== null && (
            <div class="state warn" role="status">
              <Icon tone="warn" />
              <p class="text">{noticeText(lang, notice)}</p>
            </div>
          )}
          <form method="post" action={action}>
            <Heading surface={surface} level={2} class="head">
              {lang.say('choose')}
            </Heading>
            <p class="text">{lang.say('another_sent', { currency: pay.unit })}</p>
            <ul class="coins">
              {choices.map((choice) => (
                <Coin key={choice.chain} lang={lang} choice={choice} />
              ))}
            </ul>
          </form>
          <p class="after">
            <a class="btn" href={back}>
              {lang.say('another_back', { currency: pay.unit })}
            </a>
          </p>
        </div>
        <div class="more">
          <p class="help">{lang.say('direct', { merchant: pay.merchant })}</p>
          <Support {...pay.support} />
        </div>
      </div>
    </div>
  );
}
