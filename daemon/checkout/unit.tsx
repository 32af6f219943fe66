/** @jsxImportSource preact */
// The chooser of a unit: what it is, what it costs, and a button for each currency it can be paid with.
import type { Gateway } from '../../src/chains/family.ts';
import type { Availability } from '../invoices/availability.ts';
import { Support } from './ending.tsx';
import type { Language } from './language.ts';
import { Heading, Icon, ItemPicture, Logo, Merchant, rootClass } from './parts.tsx';
import type { PayView, Surface } from './view.ts';

/** Why the chooser offers nothing, or what became of a choice. */
export type UnitNotice = 'inactive' | 'no_coins' | 'try_another' | 'try_later';

/** A coin, and whether it can be paid with now. */
export type Choice = Gateway & Pick<Availability, 'available' | 'simulate_only'>;

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
  /** What can be chosen, in the order of the gateways. */
  gateways: readonly Choice[];
  /** Where a choice is sent. */
  action: string;
}

export function Unit({ view }: { view: UnitView }) {
  const { lang, surface, notice, gateways } = view;
  const blockchains = [...new Set(gateways.map((gateway) => gateway.blockchain))];
  return (
    <div
      class={rootClass(surface)}
      lang={lang.code}
      dir={lang.dir}
      data-unit={view.id}
      data-title={view.title}
      data-later={lang.say('try_later')}
      data-another={lang.say('try_another')}
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
            <bdi>{view.usd}</bdi>
          </p>
          {view.testnet && <p class="note">{lang.say('testnet')}</p>}
        </div>
        <div class="pay">
          <div class="state warn" role="status" data-notice hidden={notice === null}>
            <Icon tone="warn" />
            <p class="text">{notice && lang.say(notice)}</p>
          </div>
          {blockchains.length > 0 && (
            <form method="post" action={view.action} data-buy>
              <Heading surface={surface} level={2} class="head">
                {lang.say('choose')}
              </Heading>
              {blockchains.map((id) => (
                <Group
                  key={id}
                  lang={lang}
                  gateways={gateways.filter((gateway) => gateway.blockchain === id)}
                />
              ))}
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

const Group = ({ lang, gateways }: { lang: Language; gateways: readonly Choice[] }) => (
  <fieldset class="group">
    <legend class="key">
      {lang.say('network')}: <bdi>{gateways[0]?.blockchain_name}</bdi>
    </legend>
    <div class="coins">
      {gateways.map(({ chain, currency, name, available, simulate_only }) => (
        <button
          key={chain}
          type="submit"
          class="btn pick"
          name="chain"
          value={chain}
          disabled={!available && !simulate_only}
        >
          <Logo ticker={currency} />
          <span>
            {currency}
            {name !== currency && <small>{name}</small>}
            {!available && <small>{lang.say(simulate_only ? 'only_simulated' : 'unavailable')}</small>}
          </span>
        </button>
      ))}
    </div>
  </fieldset>
);
