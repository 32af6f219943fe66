/** @jsxImportSource preact */
// What stands at the end of a payment: the way back to the shop, the receipt, a new payment.
import type { PayView } from './view.ts';

/** The button of the way back, with the host that it leads to. Out of any frame that the page is shown in. */
export function Back({ view: { lang, merchant, back, surface } }: { view: PayView }) {
  if (back === null) return null;
  const leads = back.automatic && !surface.framed;
  return (
    <div class="back">
      <a class="btn first" href={back.href} target="_top" rel="noreferrer" data-lead={leads}>
        {lang.say('return_to', { merchant })}
      </a>
      <p class="hint">
        <bdi dir="ltr">{back.host}</bdi>
      </p>
      {leads && (
        <p class="hint" data-leading>
          {lang.say('return_soon', { merchant })}{' '}
          <button type="button" class="plain" data-stay>
            {lang.say('stay')}
          </button>
        </p>
      )}
    </div>
  );
}

/** What else can be done at the end. A shop's page stands still, so that a buyer who has paid there may buy again. */
export function Afterwards({ view, paid, over }: { view: PayView; paid: boolean; over: boolean }) {
  const { lang, surface, back } = view;
  const again = over || (paid && surface.mode === 'fragment') ? view.again : null;
  if (!paid && again === null) return null;
  return (
    <p class="after">
      {paid && (
        <a class="btn" href={view.receipt} target="_blank" rel="noopener">
          {lang.say('receipt')}
        </a>
      )}
      {again !== null && (
        <a class={paid || back ? 'btn' : 'btn first'} href={again} data-again>
          {lang.say('again')}
        </a>
      )}
    </p>
  );
}

/** Where a question goes: as the shop has set it. */
export const Support = ({ email, url }: PayView['support']) =>
  (email !== null || url !== null) && (
    <p class="help">
      {email !== null && (
        <a href={`mailto:${encodeURIComponent(email).replace('%40', '@')}`}>
          <bdi dir="ltr">{email}</bdi>
        </a>
      )}
      {url !== null && (
        <a href={url} target="_blank" rel="noopener noreferrer">
          <bdi dir="ltr">{url.replace(/^https?:\/\/|\/$/g, '')}</bdi>
        </a>
      )}
    </p>
  );
