/** @jsxImportSource preact */
// The chooser of a unit: what it is, what it costs, and a button for each currency it can be paid with.
import type { Choice } from './choices.ts';
import { Support } from './ending.tsx';
import type { Language } from './language.ts';
import { asItIs, Heading, Icon, ItemPicture, Logo, Merchant, rootClass } from './parts.tsx';
import type { PayView, Surface } from './view.ts';

/** Why the chooser offers nothing, or what became of a choice. */
export type UnitNotice = 'inactive' | 'no_coins' | 'try_another' | Later;
/** In a minute, or when. */
export type Later = 'try_later' | { say: 'try_then' | 'too_many_open'; seconds: number };

export const noticeText = (lang: Language, notice: UnitNotice): string =>
  typeof notice === 'string' ? lang.say(notice) : lang.say(notice.say, { time: lang.inTime(notice.seconds) });

export interface UnitView {
  lang: Language;
  surface: Surface;
  id: string;
  merchant: string;
  title: string;
  description: string | null;
  usd: string;
  picture: PayView['picture'];
  support: PayView['support'];
  testnet: boolean;
  notice: UnitNotice | null;
  /** What can be chosen, the cheapest and fastest first. */
  choices: readonly Choice[];
  /** Where a choice is sent. */
  action: string;
}

/** Where the script puts the time, which it knows once it is refused. */
const TIME = '{time}';

export function Unit({ view }: { view: UnitView }) {
  const { lang, surface, notice, choices } = view;
  return (
    <div
      class={rootClass(surface)}
      lang={lang.code}
      dir={lang.dir}
      data-unit={view.id}
      data-title={view.title}
      data-later={lang.say('try_later')}
      data-another={lang.say('try_another')}
      data-open={lang.say('too_many_open', { time: TIME })}
      data-close={lang.say('close')}
    >
      <div class="card" data-body>
        <div class="what">
          <Merchant name={view.merchant} logo={view.picture?.kind === 'logo' ? view.picture.src : null} />
          {view.picture?.kind === 'item' && <ItemPicture src={view.picture.src} />}
          <Heading surface={surface} level={1} class="title">
            <bdi>{view.title}</bdi>
          </Heading>
          {view.description && (
            <p class="desc">
              <bdi>{view.description}</bdi>
            </p>
          )}
          <p class="usd">
            <bdi {...asItIs}>{view.usd}</bdi>
          </p>
          {view.testnet && <p class="note">{lang.say('testnet')}</p>}
        </div>
        <div class="pay">
          <div class="state warn" role="status" data-notice hidden={notice === null}>
            <Icon tone="warn" />
            <p class="text">{notice && noticeText(lang, notice)}</p>
          </div>
          {choices.length > 0 && (
            <form method="post" action={view.action} data-buy>
              <Heading surface={surface} level={2} class="head">
                {lang.say('choose')}
              </Heading>
              <ul class="coins">
                {choices.map((choice) => (
                  <Coin key={choice.chain} lang={lang} choice={choice} />
                ))}
              </ul>
            </form>
          )}
        </div>
        <div class="more">
          <p class="help">{lang.say('direct', { merchant: view.merchant })}</p>
          <Support {...view.support} />
        </div>
      </div>
    </div>
  );
}

export const Coin = ({ lang, choice }: { lang: Language; choice: Choice }) => {
  const { chain, currency, title, network, amount, fee, time, can_choose, reason } = choice;
  const words = [
    ...(reason ? [lang.say(reason)] : []),
    ...(fee && can_choose
      ? [
          <span key="fee" {...asItIs}>
            {lang.say('fee_about', { usd: fee })}
          </span>,
        ]
      : []),
    ...(time && can_choose ? [time] : []),
  ];
  return (
    <li>
      <button type="submit" class="btn pick" name="chain" value={chain} disabled={!can_choose}>
        <Logo ticker={currency} />
        <span class="priced">
          <span>
            <bdi>{title}</bdi> {network && <bdi class="on">{network}</bdi>}
          </span>
          {amount && can_choose && (
            <span class="sum">
              <bdi {...asItIs}>{amount}</bdi>
            </span>
          )}
        </span>
        <small>
          {words.map((text, at) => (
            <>
              {at > 0 && ' '}
              <span>
                {at > 0 && <i>· </i>}
                {text}
              </span>
            </>
          ))}
        </small>
      </button>
    </li>
  );
};
