/** @jsxImportSource preact */
// The checkout of an invoice in each of its states.
import { type CheckoutState, isPayable } from '../../src/checkout.ts';
import { Claim } from './claim.tsx';
import { isSoon } from './clock.tsx';
import { Afterwards, Back, Support } from './ending.tsx';
import { Instructions } from './instructions.tsx';
import {
  asItIs,
  coins,
  Hash,
  Heading,
  Icon,
  ItemPicture,
  Logo,
  Merchant,
  rootClass,
  tones,
} from './parts.tsx';
import type { PayView } from './view.ts';

const isPaid = (state: CheckoutState): boolean => state === 'confirmed' || state === 'overpaid';
/** Ended unpaid. */
const isOver = (state: CheckoutState): boolean =>
  hasEnded(state) || state === 'late' || state === 'incomplete';
/** Ended, and nothing of the buyer's was seen. */
const hasEnded = (state: CheckoutState): boolean =>
  state === 'expired' || state === 'cancelled' || state === 'failed';

export function Pay({ view }: { view: PayView }) {
  const { lang, state } = view;
  const head = lang.say(state);
  return (
    <div
      class={classOf(view)}
      lang={lang.code}
      dir={lang.dir}
      data-invoice={view.id}
      data-state={state}
      data-status={view.status}
      data-version={view.version}
      data-now={view.now}
      data-expires={view.expires_at}
      data-title={`${head} · ${lang.apart(view.title)}`}
      data-copied={lang.say('copied')}
      data-selected={lang.say('selected')}
      data-minute={lang.say('minute_left')}
      data-close={lang.say('close')}
    >
      <p class="sr" role="status" data-live />
      <p class="offline" data-offline hidden>
        {lang.say('offline')}
      </p>
      <div class="card" data-body>
        <What view={view} />
        <div class="pay">
          {state !== 'waiting' && <State view={view} head={head} />}
          <Unseen view={view} />
          <Back view={view} />
          {isPayable(state) ? <Instructions view={view} head={head} /> : <Facts view={view} />}
          <After view={view} />
          <Claim view={view} />
        </div>
        <div class="more">
          {isPayable(state) && <Facts view={view} />}
          <Help view={view} />
        </div>
      </div>
    </div>
  );
}

function classOf(view: PayView): string {
  const soon = isPayable(view.state) && isSoon(view) ? ' soon' : '';
  return `${rootClass(view.surface)}${view.is_phone ? ' phone' : ''}${soon}`;
}

const What = ({ view }: { view: PayView }) => (
  <div class="what">
    {isPaid(view.state) && <p class="receipt">{view.lang.say('receipt')}</p>}
    <Merchant name={view.merchant} logo={view.picture?.kind === 'logo' ? view.picture.src : null} />
    {view.picture?.kind === 'item' && <ItemPicture src={view.picture.src} />}
    <Heading surface={view.surface} level={1} class="title">
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
    <p class="coin">
      <Logo ticker={view.currency} />
      <bdi dir="ltr" {...asItIs}>
        {coins(view, view.amount)}
      </bdi>
      {isPayable(view.state) && !view.due && (
        <span>
          ≈{'\u00a0'}
          <bdi {...asItIs}>{view.asked_usd}</bdi>
        </span>
      )}
    </p>
    {view.testnet && <p class="note">{view.lang.say('testnet')}</p>}
    {view.demo_rate && <p class="note">{view.lang.say('demo_rate')}</p>}
  </div>
);

function State({ view, head }: { view: PayView; head: string }) {
  const { lang, state, merchant } = view;
  const shown = (amount: string | null): string => coins(view, amount ?? '0');
  const tone = tones[state];
  return (
    <div class={`state ${tone}`}>
      <Icon tone={tone} />
      <div class="words">
        <Heading surface={view.surface} level={2} class="head">
          {head}
        </Heading>
        {/* Amounts stand in it: in the languages of the page, no machine has to touch them. */}
        <p class="text" {...asItIs}>
          {lang.say(`${state}_text`, {
            merchant,
            received: shown(view.received),
            amount: shown(view.amount),
            due: view.due === null ? '' : `${shown(view.due)} (≈\u00a0${view.asked_usd})`,
            extra: shown(view.extra),
          })}
        </p>
        {state === 'underpaid' && <p class="text">{lang.say('rest_code')}</p>}
        {hasEnded(state) && <p class="text">{lang.say('already_sent', { merchant })}</p>}
        {state === 'seen' && <Confirmations view={view} />}
      </div>
    </div>
  );
}

/** Where no one sees the chain at the moment. */
const Unseen = ({ view: { lang, unseen, network } }: { view: PayView }) =>
  unseen && (
    <div class="state warn">
      <Icon tone="warn" />
      <p class="text" data-unseen>
        {lang.say(unseen, { network })}
      </p>
    </div>
  );

function Confirmations({ view }: { view: PayView }) {
  const { lang, confirmations, min_confirmations, usual_time } = view;
  const n = Math.min(confirmations, min_confirmations);
  const label = lang.say('confirmations', { n: lang.number(n), m: lang.number(min_confirmations) });
  return (
    <>
      <progress class="bar" max={Math.max(1, min_confirmations)} value={n} aria-label={label} />
      <p class="time">
        <b>{label}</b>
        {usual_time && <span>{lang.say('usual_time', { time: usual_time })}</span>}
      </p>
    </>
  );
}

/** What can be done besides paying: cancel, print, start again. */
function After({ view }: { view: PayView }) {
  const { lang, surface, state } = view;
  if (state === 'waiting' || state === 'orphaned')
    return (
      <>
        {view.other_ways && (
          <p class="cancel">
            <a
              href={view.other_ways}
              target={surface.mode === 'fragment' ? '_blank' : undefined}
              rel="noopener"
            >
              {lang.say('another_way')}
            </a>
          </p>
        )}
        <details class="cancel">
          <summary>{lang.say('cancel')}</summary>
          <form method="post" action={`${surface.base}/pay/${view.id}${surface.queryIn(lang)}`} data-cancel>
            <p>{lang.say('cancel_sure')}</p>
            <button type="submit" class="btn">
              {lang.say('cancel_yes')}
            </button>
          </form>
        </details>
      </>
    );
  return <Afterwards view={view} paid={isPaid(state)} over={isOver(state)} />;
}

function Facts({ view }: { view: PayView }) {
  const { lang, state, txid, paid_at } = view;
  return (
    <dl class="list facts">
      {view.order && <Fact label={lang.say('order')} value={view.order} />}
      <Fact label={lang.say('network')} value={view.network} />
      <Fact label={lang.say('rate')} value={view.rate} />
      {view.fee && <Fact label={lang.say('fee')} value={view.fee} />}
      {view.received && <Fact label={lang.say('received')} value={coins(view, view.received)} ltr />}
      {isPaid(state) && paid_at !== null && <Fact label={lang.say('paid_at')} value={lang.date(paid_at)} />}
      {!isPayable(state) && (
        <Hash
          lang={lang}
          label={lang.say('address')}
          value={view.address}
          href={view.explorer.address}
          copy={isPaid(state)}
        />
      )}
      {txid && (
        <Hash
          lang={lang}
          label={lang.say('transaction')}
          value={txid}
          href={view.explorer.transaction}
          copy
        />
      )}
    </dl>
  );
}

const Help = ({ view: { lang, merchant, id, support } }: { view: PayView }) => (
  <>
    <p class="help">{lang.say('direct', { merchant })}</p>
    <p class="help">
      {lang.say('help', { merchant })}
      <bdi dir="ltr" class="raw" {...asItIs}>
        {id}
      </bdi>
    </p>
    <Support {...support} />
  </>
);

export const Fact = ({ label, value, ltr }: { label: string; value: string; ltr?: boolean }) => (
  <div class="fact">
    <dt class="key">{label}</dt>
    <dd class="val">
      <bdi dir={ltr ? 'ltr' : undefined} {...asItIs}>
        {value}
      </bdi>
    </dd>
  </div>
);
