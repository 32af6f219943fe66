/** @jsxImportSource preact */
// The checkout of an invoice in each of its states.
import { type CheckoutState, isPayable } from '../../src/checkout.ts';
import { Claim } from './claim.tsx';
import { Instructions } from './instructions.tsx';
import { Heading, Icon, Logo, Merchant, rootClass, tones } from './parts.tsx';
import type { PayView } from './view.ts';

const isPaid = (state: CheckoutState): boolean => state === 'confirmed' || state === 'overpaid';
/** Ended unpaid. */
const isOver = (state: CheckoutState): boolean =>
  hasEnded(state) || state === 'late' || state === 'incomplete';
/** Ended, and nothing of the buyer's was seen. */
const hasEnded = (state: CheckoutState): boolean =>
  state === 'expired' || state === 'cancelled' || state === 'failed';

export function Pay({ view }: { view: PayView }) {
  const { lang, surface, state } = view;
  const head = lang.say(state);
  return (
    <div
      class={rootClass(surface)}
      lang={lang.code}
      dir={lang.dir}
      data-invoice={view.id}
      data-state={state}
      data-status={view.status}
      data-version={view.version}
      data-now={view.now}
      data-expires={view.expires_at}
      data-title={`${head} · ${view.title}`}
      data-copied={lang.say('copied')}
      data-selected={lang.say('selected')}
      data-minute={lang.say('minute_left')}
    >
      <p class="sr" role="status" data-live />
      <p class="offline" data-offline hidden>
        {lang.say('offline')}
      </p>
      <div class="card" data-body>
        <What view={view} />
        <div class="pay">
          <State view={view} head={head} />
          <Unseen view={view} />
          {isPayable(state) ? <Instructions view={view} /> : <Facts view={view} />}
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

const What = ({ view }: { view: PayView }) => (
  <div class="what">
    {isPaid(view.state) && <p class="receipt">{view.lang.say('receipt')}</p>}
    <Merchant name={view.merchant} />
    <Heading surface={view.surface} level={1} class="title">
      <bdi>{view.title}</bdi>
    </Heading>
    {view.description && <p class="desc">{view.description}</p>}
    <p class="usd">
      <bdi>{view.usd}</bdi>
    </p>
    <p class="coin">
      <Logo ticker={view.currency} />
      <bdi dir="ltr">
        {view.lang.coin(view.amount)} {view.currency}
      </bdi>
    </p>
    {view.testnet && <p class="note">{view.lang.say('testnet')}</p>}
    {view.demo_rate && <p class="note">{view.lang.say('demo_rate')}</p>}
  </div>
);

function State({ view, head }: { view: PayView; head: string }) {
  const { lang, state, merchant, currency } = view;
  const coins = (amount: string | null): string => `${lang.coin(amount ?? '0')} ${currency}`;
  const tone = tones[state];
  const timed = isPayable(state);
  return (
    <div class={`state ${tone}`}>
      <Icon tone={tone} />
      <div class="words">
        <Heading surface={view.surface} level={2} class="head">
          {head}
        </Heading>
        {/* It promises that the payment is noticed when it arrives. */}
        {!(state === 'waiting' && view.unseen) && (
          <p class="text">
            {lang.say(`${state}_text`, {
              merchant,
              received: coins(view.received),
              amount: coins(view.amount),
              due: coins(view.due),
              extra: coins(view.extra),
            })}
          </p>
        )}
        {hasEnded(state) && <p class="text">{lang.say('already_sent', { merchant })}</p>}
        {state === 'seen' && <Confirmations view={view} />}
        {timed && <TimeLeft view={view} />}
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
  const { lang, confirmations, min_confirmations } = view;
  const n = Math.min(confirmations, min_confirmations);
  const label = lang.say('confirmations', { n: lang.number(n), m: lang.number(min_confirmations) });
  return (
    <>
      <progress class="bar" max={Math.max(1, min_confirmations)} value={n} aria-label={label} />
      <p class="time">
        <b>{label}</b>
      </p>
    </>
  );
}

function TimeLeft({ view }: { view: PayView }) {
  const { lang, now, expires_at, created_at } = view;
  const left = Math.max(0, expires_at - now);
  return (
    <>
      <progress
        class="bar left"
        max={Math.max(1, expires_at - created_at)}
        value={left}
        aria-label={lang.say('time_left')}
        data-bar
      />
      <p class="time left">
        <span>{lang.say('time_left')}</span>
        <b role="timer" data-left>
          {lang.clock(left)}
        </b>
      </p>
      <p class="before">
        <time
          datetime={new Date(expires_at * 1000).toISOString()}
          data-before={lang.say('pay_before', { time: '{time}' })}
        >
          {lang.say('pay_before', { time: lang.date(expires_at) })}
        </time>
      </p>
    </>
  );
}

/** What can be done besides paying: cancel, print, start again. */
function After({ view }: { view: PayView }) {
  const { lang, surface, state } = view;
  if (state === 'waiting' || state === 'orphaned')
    return (
      <details class="cancel">
        <summary>{lang.say('cancel')}</summary>
        <form method="post" action={`${surface.base}/pay/${view.id}?lang=${lang.code}`} data-cancel>
          <p>{lang.say('cancel_sure')}</p>
          <button type="submit" class="btn">
            {lang.say('cancel_yes')}
          </button>
        </form>
      </details>
    );
  // A shop's page stands still: a buyer who has paid there may want to buy again. A page of ours has its link for that.
  const again = isOver(state) || (isPaid(state) && surface.mode === 'fragment') ? view.again : null;
  if (!isPaid(state) && again === null) return null;
  return (
    <p class="after">
      {isPaid(state) && (
        <button type="button" class="btn print" data-print>
          {lang.say('print')}
        </button>
      )}
      {again !== null && (
        <a class={hasEnded(state) ? 'btn first' : 'btn'} href={again} data-again>
          {lang.say('again')}
        </a>
      )}
    </p>
  );
}

function Facts({ view }: { view: PayView }) {
  const { lang, state, txid, paid_at } = view;
  return (
    <dl class="list facts">
      {view.order && <Fact label={lang.say('order')} value={view.order} />}
      <Fact label={lang.say('network')} value={view.network} />
      <Fact label={lang.say('rate')} value={view.rate} />
      {view.fee && <Fact label={lang.say('fee')} value={view.fee} />}
      {view.received && (
        <Fact label={lang.say('received')} value={`${lang.coin(view.received)} ${view.currency}`} ltr />
      )}
      {isPaid(state) && paid_at !== null && <Fact label={lang.say('paid_at')} value={lang.date(paid_at)} />}
      {!isPayable(state) && <Fact label={lang.say('address')} value={view.address} ltr hash />}
      {txid && <Fact label={lang.say('transaction')} value={txid} ltr hash />}
    </dl>
  );
}

const Help = ({ view: { lang, merchant, id } }: { view: PayView }) => (
  <>
    <p class="help">{lang.say('direct', { merchant })}</p>
    <p class="help">
      {lang.say('help', { merchant })}
      <bdi dir="ltr" class="raw">
        {id}
      </bdi>
    </p>
  </>
);

const Fact = ({
  label,
  value,
  ltr,
  hash,
}: {
  label: string;
  value: string;
  ltr?: boolean;
  hash?: boolean;
}) => (
  <div class="fact">
    <dt class="key">{label}</dt>
    <dd class={hash ? 'val hash' : 'val'}>
      <bdi dir={ltr ? 'ltr' : undefined}>{value}</bdi>
    </dd>
  </div>
);
