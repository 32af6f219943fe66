/** @jsxImportSource preact */
// How to pay: buttons for wallets, the code, and by hand amount, memo and address, each to be copied. What stands first
// depends on the device, by style alone.
import type { ComponentChildren } from 'preact';
import type { Platform } from '../../src/chains/family.ts';
import { Clock } from './clock.tsx';
import { asItIs, Copy, coins, Drawing } from './parts.tsx';
import type { PageLink, PayView } from './view.ts';

/** Characters at either end of an address that people compare. */
const COMPARED = 6;

/** Links come before the code here: it is shown last on phones, where it unfolds with the rest, and first elsewhere. */
export const Instructions = ({ view, head }: { view: PayView; head: string }) => (
  <div class="step">
    <Found view={view} />
    <Opens view={view} />
    <ByHand view={view} />
    {view.qr && <Scan view={view} qr={view.qr} />}
    <Clock view={view} head={head} />
  </div>
);

/** Where a script offers the wallets that it finds in the browser. */
function Found({ view: { lang, surface, page_wallets } }: { view: PayView }) {
  if (page_wallets === null || surface.mode !== 'page') return null;
  const say = {
    pay: lang.say('pay_with'),
    confirm: lang.say('wallet_confirm'),
    again: lang.say('wallet_again'),
    sent: lang.say('wallet_sent'),
    declined: lang.say('wallet_declined'),
    network: lang.say('wallet_network'),
    cannot: lang.say('wallet_cannot'),
    failed: lang.say('wallet_failed'),
    later: lang.say('try_later'),
  };
  return (
    <div class="opens found" data-found={JSON.stringify({ ...page_wallets, say })} hidden>
      <p class="hint" role="status" data-outcome />
    </div>
  );
}

const linksOn = ({ wallets }: PayView, platform: Platform): PageLink[] =>
  wallets.filter(({ opens_on }) => opens_on.includes(platform));

/** On a phone one button, and the others behind it; on a computer what its programs open. */
function Opens({ view }: { view: PayView }) {
  const { lang, surface, id } = view;
  const [first, ...others] = linksOn(view, 'phone');
  const desktop = linksOn(view, 'desktop');
  const page = `${surface.base}/pay/${id}?lang=${lang.code}`;
  return (
    <>
      {first && (
        <div class="opens on-phone" data-wallets>
          <Open view={view} link={first} first />
          {others.length > 0 && (
            <details class="fold others" data-fold="others">
              <summary>{lang.say('other_wallets')}</summary>
              {others.map((link) => (
                <Open key={link.href} view={view} link={link} />
              ))}
              <p class="hint">{lang.say('wallet_hint')}</p>
            </details>
          )}
        </div>
      )}
      {desktop.length > 0 && (
        <div class="opens on-desk">
          {desktop.map((link) => (
            <Open key={link.href} view={view} link={link} />
          ))}
        </div>
      )}
      {/* The smallest checkouts have no room for what is paid by hand. */}
      <a
        class={`btn whole${first ? ' on-desk' : ''}${desktop.length > 0 ? ' on-phone' : ''}`}
        href={page}
        target="_blank"
        rel="noopener"
      >
        {lang.say('open_page')}
      </a>
    </>
  );
}

const Open = ({
  view: { lang },
  link: { href, wallet },
  first,
}: {
  view: PayView;
  link: PageLink;
  first?: boolean;
}) => (
  <a
    class={first ? 'btn first' : 'btn'}
    href={href}
    rel="noopener noreferrer"
    data-wallet={wallet?.id ?? 'any'}
    data-browser={wallet?.browser}
  >
    <Drawing wallet={wallet} />
    <span>
      {wallet ? lang.say('pay_with', { wallet: wallet.name }) : lang.say('open_wallet')}
      {wallet?.formerly && <small>{lang.say('formerly', { name: wallet.formerly })}</small>}
    </span>
  </a>
);

function Scan({ view, qr }: { view: PayView; qr: string }) {
  const { lang, network, qr_is_address } = view;
  const amount = coins(view, view.due ?? view.amount);
  return (
    <div class="scan">
      {!qr_is_address && (
        <p class="ask" {...asItIs}>
          {lang.say('scan', { amount })}
        </p>
      )}
      <div
        class="qr"
        role="img"
        aria-label={lang.say(qr_is_address ? 'qr_address' : view.due ? 'qr_rest' : 'qr_alt')}
        data-qr
        // biome-ignore lint/security/noDangerouslySetInnerHtml: drawn by the QR library, paths only
        dangerouslySetInnerHTML={{ __html: qr }}
      />
      {qr_is_address && (
        <p class="alert" data-address-only {...asItIs}>
          {lang.say('scan_address', { amount, network })}
        </p>
      )}
    </div>
  );
}

/** Folded away on a phone that has a wallet to open: there it would only be typed into the same phone. */
function ByHand({ view }: { view: PayView }) {
  const { lang, unit, network, memo } = view;
  const isFolded = view.is_phone && linksOn(view, 'phone').length > 0;
  return (
    <details class="fold hand" data-fold="hand" open={!isFolded}>
      <summary>{lang.say('by_hand')}</summary>
      <dl class="list">
        <Field
          view={view}
          label={lang.say(view.due ? 'rest' : 'amount')}
          value={view.due ?? view.amount}
          unit={unit}
          sum
        >
          {view.exact && <p class="alert hard">{lang.say('warn_exact')}</p>}
        </Field>
        {memo !== null && (
          <Field view={view} label={lang.say('memo')} value={memo}>
            <p class="alert">{lang.say('warn_memo')}</p>
          </Field>
        )}
        <Field view={view} label={lang.say('address')} value={view.address} compare>
          <p class="alert">
            {lang.say('warn_network', { currency: unit, network })}
            {view.direct_only && ` ${lang.say('warn_direct', { currency: unit })}`}
          </p>
        </Field>
      </dl>
    </details>
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
  /** Stated before the value. */
  children?: ComponentChildren;
}

function Field({ view, label, value, unit, sum, compare, children }: FieldProps) {
  return (
    <div class="field">
      <dt class="key">
        {label}
        {unit && ` · ${unit}`}
      </dt>
      {children && <dd class="val">{children}</dd>}
      <dd class="val">
        <bdi dir="ltr" class={sum ? 'raw sum' : 'raw'} {...asItIs}>
          {compare ? <Compared text={value} /> : value}
        </bdi>
        <Copy lang={view.lang} value={value} label={label} />
      </dd>
      {compare && <dd class="hint">{view.lang.say('compare')}</dd>}
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
