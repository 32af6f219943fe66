/** @jsxImportSource preact */
// "I have paid": a small form for payers whose money is not seen, and in words what was found of it.
import { unitOf } from '../../src/chains/assets.ts';
import type { CheckoutState } from '../../src/checkout.ts';
import { padDecimal } from '../../src/money.ts';
import { coins } from './parts.tsx';
import type { ClaimAnswer, PayView } from './view.ts';

/** Longest text that the form takes, as its endpoint does. */
const MAX_PASTED = 512;
/** A payment is usually seen within this time; before, no one needs to ask. */
const WAITING_SECONDS = 120;

/** In what states a payer may miss something; of the others the page says it all. */
const open: Partial<Record<CheckoutState, true>> = {
  waiting: true,
  closing: true,
  orphaned: true,
  underpaid: true,
  expired: true,
  cancelled: true,
  failed: true,
  incomplete: true,
};

export function Claim({ view }: { view: PayView }) {
  const { lang, surface, state, answer = null } = view;
  if (!open[state]) return null;
  const shown_at = state === 'waiting' && answer === null ? view.created_at + WAITING_SECONDS : view.now;
  return (
    <details
      class="cancel claim"
      open={answer !== null}
      hidden={view.now < shown_at}
      data-shown={view.now < shown_at ? shown_at : undefined}
    >
      <summary>{lang.say('claim_open')}</summary>
      <form method="post" action={`${surface.base}/pay/${view.id}/claim?lang=${lang.code}`} data-claim>
        <p>{lang.say('claim_hint')}</p>
        <label>
          {lang.say('claim_label')}
          <input name="txid" dir="ltr" maxlength={MAX_PASTED} autocomplete="off" spellcheck={false} />
        </label>
        <button type="submit" class="btn">
          {lang.say('claim_check')}
        </button>
        <div class="answer" role="status" data-answer data-busy={lang.say('try_later')}>
          {answer !== null && wordsOf(view, answer).map((text) => <p key={text}>{text}</p>)}
        </div>
      </form>
    </details>
  );
}

/** One sentence after the other. */
function wordsOf({ lang, merchant }: PayView, answer: ClaimAnswer): string[] {
  if (answer === 'busy') return [lang.say('try_later')];
  const { found, reason, txid, seen_at, currency, network, confirmations, min_confirmations } = answer;
  const { unit, digits } = unitOf(currency ?? '');
  const amount = answer.amount === null ? '' : coins({ lang, unit }, padDecimal(answer.amount, digits));
  const time = seen_at === null ? '' : lang.date(seen_at);
  const noted = lang.say('claim_noted', { merchant });
  switch (found) {
    case 'confirmed':
      return [lang.say('confirmed_text', { merchant })];
    case 'confirming': {
      const n = lang.number(Math.min(confirmations, min_confirmations));
      return [lang.say('seen_text'), lang.say('confirmations', { n, m: lang.number(min_confirmations) })];
    }
    case 'processing':
      return [lang.say('processing_text')];
    case 'partial':
      return [...(amount ? [lang.say('claim_partial', { amount, time })] : []), noted];
    case 'late':
      return [...(amount ? [lang.say('claim_late', { amount, time })] : []), noted];
    case 'unmatched': {
      const why = lang.say(`claim_${reason === null || reason === 'not_an_id' ? 'unclear' : reason}`, {
        network: network ?? '',
      });
      return [...(amount ? [lang.say('claim_unmatched', { amount, time })] : []), why, noted];
    }
    case 'not_found':
      if (reason === 'not_an_id') return [lang.say('claim_not_an_id')];
      return [lang.say(txid === null ? 'claim_nothing' : 'claim_not_found')];
    case 'not_readable':
      return [lang.say('claim_not_readable')];
  }
}
