/** @jsxImportSource preact */
// The receipt of a payment: a page to keep and to print, for the buyer's eyes.

import { asItIs, coins, Hash, Heading, Merchant, rootClass } from './parts.tsx';
import { Fact } from './pay.tsx';
import type { PayView } from './view.ts';

export function Receipt({ view }: { view: PayView }) {
  const { lang, surface, merchant } = view;
  const fact = (name: Parameters<typeof lang.say>[0], value: string | null, ltr = false) =>
    value !== null && <Fact label={lang.say(name)} value={value} ltr={ltr} />;
  return (
    <div class={rootClass({ ...surface, size: 'md' })} lang={lang.code} dir={lang.dir}>
      <div class="card receipts">
        <div class="what">
          <Heading surface={surface} level={1} class="head">
            {lang.say('receipt')}
          </Heading>
          <Merchant name={merchant} logo={view.picture?.kind === 'logo' ? view.picture.src : null} />
          {view.legal_line !== null && (
            <p class="desc">
              <bdi>{view.legal_line}</bdi>
            </p>
          )}
          <p class="usd">
            <bdi {...asItIs}>{view.usd}</bdi>
          </p>
          {view.testnet && <p class="note">{lang.say('testnet')}</p>}
        </div>
        <div class="pay">
          <dl class="list facts">
            {fact('paid_at', view.paid_at === null ? null : lang.date(view.paid_at))}
            {fact('item', view.title)}
            {fact('order', view.order)}
            {fact('receipt_number', view.id, true)}
            {fact('total', view.usd)}
            {fact('fee', view.fee)}
            {fact('amount', coins(view, view.amount), true)}
            {view.received !== view.amount &&
              fact('received', view.received === null ? null : coins(view, view.received), true)}
            {fact('rate', view.rate)}
            {fact('network', view.network)}
            <Hash label={lang.say('address')} value={view.address} href={view.explorer.address} lang={lang} />
            {view.txid !== null && (
              <Hash
                label={lang.say('transaction')}
                value={view.txid}
                href={view.explorer.transaction}
                lang={lang}
              />
            )}
          </dl>
          <p class="after">
            <button type="button" class="btn print" data-print>
              {lang.say('print')}
            </button>
            {view.back && (
              <a class="btn" href={view.back.href} rel="noreferrer">
                {lang.say('return_to', { merchant })}
              </a>
            )}
          </p>
        </div>
        <div class="more">
          <p class="help">{lang.say('direct', { merchant })}</p>
        </div>
      </div>
    </div>
  );
}
