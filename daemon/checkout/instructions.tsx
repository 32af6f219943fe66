/** @jsxImportSource preact */
// How to pay: the amount, buttons for wallets, the code, memo and address, each to be copied.
import type { ComponentChildren } from 'preact';
import { Copy } from './parts.tsx';
import type { PayView } from './view.ts';

/** Characters at either end of an address that people compare. */
const COMPARED = 6;

export function Instructions({ view }: { view: PayView }) {
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
            aria-label={lang.say(view.qr_is_address ? 'qr_address' : view.due ? 'qr_rest' : 'qr_alt')}
            data-qr
            // biome-ignore lint/security/noDangerouslySetInnerHtml: drawn by the QR library, paths only
            dangerouslySetInnerHTML={{ __html: view.qr }}
          />
          <p class="hint">{lang.say('scan')}</p>
          {view.qr_is_address && (
            <p class="alert" data-address-only>
              {lang.say('scan_address', { amount: `${lang.coin(amount)} ${currency}`, network })}
            </p>
          )}
        </div>
      )}
      <dl class="list">
        {memo !== null && (
          <Field view={view} label={lang.say('memo')} value={memo}>
            <p class="alert hard">{lang.say('warn_memo')}</p>
          </Field>
        )}
        <Field view={view} label={lang.say('address')} value={view.address} compare>
          <p class="alert">
            {lang.say('warn_network', { currency, network })}
            {view.direct_only && ` ${lang.say('warn_direct', { currency })}`}
          </p>
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
  /** Stated before the value. */
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
