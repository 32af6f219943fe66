/** @jsxImportSource preact */
// The checkout of an invoice in each of its states.
import type { ComponentChildren } from 'preact';
import { isPayable } from '../../src/checkout.ts';
import { Copy, Heading, Icon, Logo, Merchant, rootClass, tones } from './parts.tsx';
import type { PayView } from './view.ts';

/** Characters at either end of an address that people compare. */
const COMPARED = 6;

export function Pay({ view }: { view: PayView }) {
  const { lang, place, state } = view;
  const head = lang.say(state);
  return (
    <div
      class={rootClass(place)}
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
          {isPayable(state) ? <Instructions view={view} /> : <Facts view={view} />}
          <After view={view} />
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
    <Merchant name={view.merchant} />
    <Heading place={view.place} level={1} class="title">
      <bdi>{view.title}</bdi>
    </Heading>
    {view.description && <p class="desc">{view.description}</p>}
    <p class="usd">
      <bdi>{view.usd}</bdi>
    </p>
    <p class="coin">
      <Logo ticker={view.currency} />
      <bdi dir="ltr">
        {view.amount} {view.currency}
      </bdi>
    </p>
    {view.testnet && <p class="note">{view.lang.say('testnet')}</p>}
    {view.demo_rate && <p class="note">{view.lang.say('demo_rate')}</p>}
  </div>
);

function State({ view, head }: { view: PayView; head: string }) {
  const { lang, state, merchant, currency } = view;
  const coins = (amount: string | null): string => `${amount ?? '0'} ${currency}`;
  const tone = tones[state];
  const timed = isPayable(state);
  return (
    <div class={`state ${tone}`}>
      <Icon tone={tone} />
      <div class="words">
        <Heading place={view.place} level={2} class="head">
          {head}
        </Heading>
        <p class="text">
          {lang.say(`${state}_text`, {
            merchant,
            received: coins(view.received),
            due: coins(view.due),
            extra: coins(view.extra),
          })}
        </p>
        {state === 'seen' && <Confirmations view={view} />}
        {timed && <TimeLeft view={view} />}
      </div>
    </div>
  );
}

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
        class="bar"
        max={Math.max(1, expires_at - created_at)}
        value={left}
        aria-label={lang.say('time_left')}
        data-bar
      />
      <p class="time">
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

function Instructions({ view }: { view: PayView }) {
  const { lang, currency, network, wallets, memo } = view;
  const amount = view.due ?? view.amount;
  return (
    <>
      <dl class="list">
        <Field view={view} label={lang.say(view.due ? 'rest' : 'amount')} value={amount} unit={currency} sum>
          {view.exact && <p class="alert hard">{lang.say('warn_exact')}</p>}
        </Field>
      </dl>
      {wallets.length > 0 && (
        <>
          <p class="opens">
            {wallets.map(({ href, wallet, paste }, index) => (
              <a key={href} class={index === 0 ? 'btn first' : 'btn'} href={href} rel="noopener noreferrer">
                {wallet === null
                  ? lang.say('open_wallet')
                  : lang.say(paste ? 'open_paste' : 'open_in', { wallet })}
              </a>
            ))}
          </p>
          <p class="hint">{lang.say('wallet_hint')}</p>
        </>
      )}
      {view.qr && (
        <div class="scan">
          <div
            class="qr"
            role="img"
            aria-label={lang.say(view.due ? 'qr_rest' : 'qr_alt')}
            data-qr
            // biome-ignore lint/security/noDangerouslySetInnerHtml: drawn by the QR library, paths only
            dangerouslySetInnerHTML={{ __html: view.qr }}
          />
          <p class="hint">{lang.say('scan')}</p>
        </div>
      )}
      <dl class="list">
        {memo !== null && (
          <Field view={view} label={lang.say('memo')} value={memo}>
            <p class="alert hard">{lang.say('warn_memo')}</p>
          </Field>
        )}
        <Field view={view} label={lang.say('address')} value={view.address} compare>
          <p class="alert">{lang.say('warn_network', { currency, network })}</p>
        </Field>
      </dl>
    </>
  );
}

interface FieldProps {
  view: PayView;
  label: string;
  /** Shown and copied, to the letter. */
  value: string;
  unit?: string;
  sum?: boolean;
  /** Whether its ends are marked for comparing. */
  compare?: boolean;
  /** Said before the value. */
  children?: ComponentChildren;
}

function Field({ view, label, value, unit, sum, compare, children }: FieldProps) {
  return (
    <div class="field">
      <dt class="key">
        {label}
        {unit && ` (${unit})`}
      </dt>
      {children && <dd class="val">{children}</dd>}
      <dd class="val">
        <bdi dir="ltr" class={sum ? 'raw sum' : 'raw'}>
          {compare ? <Compared text={value} /> : value}
        </bdi>
        <Copy lang={view.lang} value={value} label={label} />
      </dd>
    </div>
  );
}

const Compared = ({ text }: { text: string }) => (
  <>
    <b>{text.slice(0, COMPARED)}</b>
    <i>{text.slice(COMPARED, -COMPARED)}</i>
    <b>{text.slice(-COMPARED)}</b>
  </>
);

/** What can be done besides paying: cancel, print, begin anew. */
function After({ view }: { view: PayView }) {
  const { lang, place, state } = view;
  const ended = ['expired', 'cancelled', 'failed'].includes(state);
  if (state === 'waiting' || state === 'orphaned')
    return (
      <details class="cancel">
        <summary>{lang.say('cancel')}</summary>
        <form method="post" action={`${place.base}/pay/${view.id}?lang=${lang.code}`} data-cancel>
          <p>{lang.say('cancel_sure')}</p>
          <button type="submit" class="btn">
            {lang.say('cancel_yes')}
          </button>
        </form>
      </details>
    );
  return (
    <p class="after">
      {(state === 'confirmed' || state === 'overpaid') && (
        <button type="button" class="btn print" data-print>
          {lang.say('print')}
        </button>
      )}
      {ended && view.again && (
        <a class="btn first" href={view.again} data-again>
          {lang.say('again')}
        </a>
      )}
    </p>
  );
}

function Facts({ view }: { view: PayView }) {
  const { lang, state, txid, paid_at } = view;
  const paid = state === 'confirmed' || state === 'overpaid';
  return (
    <dl class="list facts">
      {view.order && <Fact label={lang.say('order')} value={view.order} />}
      <Fact label={lang.say('network')} value={view.network} />
      <Fact label={lang.say('rate')} value={view.rate} />
      {view.fee && <Fact label={lang.say('fee')} value={view.fee} />}
      {view.received && <Fact label={lang.say('received')} value={`${view.received} ${view.currency}`} ltr />}
      {paid && paid_at !== null && <Fact label={lang.say('paid_at')} value={lang.date(paid_at)} />}
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
