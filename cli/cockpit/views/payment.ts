// One payment with everything about it, and putting it right after an id was typed.

import { getAdminPayment, remarkPayment, resolvePayment } from '../../../src/api/endpoints/admin.ts';
import { cleanText } from '../../../src/clean.ts';
import { GwError } from '../../engine/errors.ts';
import { describeFound, lookUp, sayUnchanged } from '../../journeys/admin/resolve.ts';
import {
  candidateLine,
  candidatesTitle,
  type PaymentDetail,
  paymentCard,
} from '../../output/payment-card.ts';
import { clean } from '../../output/text.ts';
import { shortId } from '../../output/value.ts';
import type { DetailSpec } from '../detail.ts';
import { failureText } from '../poll.ts';
import type { Desk, MenuItem, Place } from '../view.ts';
import { paymentCopies, paymentLinks } from './payments.ts';

export function paymentDetail(desk: Desk, { id = '' }: Place): DetailSpec<PaymentDetail> {
  const load = () => desk.context.call(getAdminPayment, { params: { invoice_id: id } });
  return {
    title: `payment ${shortId(id)}`,
    load,
    headline: (data, now_s) => {
      const { headline: text, status } = paymentCard(data, now_s);
      return { text, status };
    },
    sections: (data, now_s) => paymentCard(data, now_s).sections,
    copies: ({ payment, invoice }) => paymentCopies(payment, invoice?.address),
    links: ({ payment, invoice }) => paymentLinks(desk, payment, invoice),
    actions: [
      {
        key: 'r',
        label: 'resolve',
        writes: true,
        run: (data, again) => new Resolving(desk, data, again).begin(),
      },
      {
        key: 'n',
        label: 'note',
        writes: true,
        run: (data, again) => asking(desk, data, { label: 'note', again }),
      },
      {
        key: 'd',
        label: 'dismiss',
        writes: true,
        run: (data, again) => {
          const isClosed = data.payment.dismissed !== null;
          asking(desk, data, { label: isClosed ? 'reopen' : 'dismiss', dismissed: !isClosed, again });
        },
      },
      {
        key: 'm',
        label: 'merchant',
        run: ({ payment }) => {
          if (payment.owner_id === null) desk.say('it is of the platform key', 'bad');
          else desk.go({ view: 'merchant', id: payment.owner_id });
        },
      },
    ],
  };
}

/** Asks why, and has the payment wait no longer, wait again, or just noted. */
function asking(
  desk: Desk,
  { payment }: PaymentDetail,
  { label, dismissed, again }: { label: string; dismissed?: boolean; again: () => void },
): void {
  desk.ask({
    label: `${label}: why, for the log, then enter: `,
    onDone: (typed) => void say(typed.trim()),
  });
  async function say(note: string): Promise<void> {
    if (note === '') return desk.say('without a reason nothing was done', 'bad');
    try {
      const body = { note, ...(dismissed === undefined ? {} : { dismissed }) };
      await desk.context.call(remarkPayment, { params: { invoice_id: payment.id }, body });
      desk.say(
        dismissed ? 'closed: it waits no longer' : dismissed === false ? 'it waits again' : 'noted',
        'good',
      );
      again();
    } catch (failure) {
      desk.say(`${label} refused: ${failureText(failure)}`, 'bad');
    }
  }
}

type Action = 'recheck' | 'confirm' | 'expire' | 'fail';

/** The steps from a key to a decision, and what came of it. */
class Resolving {
  readonly #desk: Desk;
  readonly #data: PaymentDetail;
  readonly #again: () => void;

  constructor(desk: Desk, data: PaymentDetail, again: () => void) {
    this.#desk = desk;
    this.#data = data;
    this.#again = again;
  }

  begin(): void {
    const { invoice, payment, candidates } = this.#data;
    const recheck: MenuItem = {
      key: 'r',
      label: 'recheck',
      run: () => void this.#resolve(payment.id, 'recheck'),
    };
    if (!invoice) {
      const book: MenuItem = {
        key: 'b',
        label: `book it for one of ${candidates.length} open invoices`,
        run: () => this.#chooseCandidate(),
      };
      if (candidates.length === 0)
        this.#desk.say('no open invoice could be meant: gw admin resolve INVOICE confirm --txid TXID');
      this.#desk.menu('resolve', candidates.length > 0 ? [recheck, book] : [recheck]);
      return;
    }
    const end = (key: string, action: 'expire' | 'fail'): MenuItem => ({
      key,
      label: action,
      run: () => this.#askId(invoice.id, action),
    });
    this.#desk.menu('resolve', [
      recheck,
      { key: 'c', label: 'confirm', run: () => this.#askTxid(invoice.id) },
      end('e', 'expire'),
      end('f', 'fail'),
    ]);
  }

  /** Of an unmatched payment: which invoice it is to be booked for. */
  #chooseCandidate(): void {
    const { candidates } = this.#data;
    const now_s = Math.floor(Date.now() / 1000);
    const lines = candidates.map((open) => clean(candidateLine(open, this.#data, now_s)));
    this.#desk.choose(candidatesTitle(candidates.length), lines, (index) => {
      const open = candidates[index];
      if (open) void this.#lookUp(open.id, this.#paidBy());
    });
  }

  /** The transaction that was seen for the invoice and may be what pays it. */
  #paidBy(): string {
    const { payment, payments } = this.#data;
    return payment.txid ?? payments.find(({ txid }) => txid !== null)?.txid ?? '';
  }

  #askTxid(target: string): void {
    this.#desk.ask({
      label: 'confirm: txid that pays it, empty for none, then enter: ',
      initial: this.#paidBy(),
      onDone: (typed) => void this.#lookUp(target, cleanText(typed)),
    });
  }

  /** Shows what the chain has of it; what it does not have needs a reason. */
  async #lookUp(target: string, txid: string): Promise<void> {
    if (txid === '') return this.#askId(target, 'confirm');
    this.#desk.say('looking up the transaction …');
    try {
      const found = await lookUp(this.#desk.context, { invoice_id: target, txid });
      const is_known = typeof found !== 'string' && found.found;
      if (is_known) this.#askId(target, 'confirm', txid);
      else this.#askReason(target, txid);
      this.#desk.say(typeof found === 'string' ? found : describeFound(found), is_known ? 'good' : 'bad');
    } catch (failure) {
      this.#desk.say(`confirm refused: ${failureText(failure)}`, 'bad');
    }
  }

  #askReason(target: string, txid: string): void {
    this.#desk.ask({
      label: 'confirm: why it is to be booked anyway, then enter: ',
      onDone: (typed) => {
        const reason = typed.trim();
        if (reason === '') this.#desk.say('without a reason nothing was done', 'bad');
        else this.#askId(target, 'confirm', txid, reason);
      },
    });
  }

  #askId(target: string, action: Action, txid = '', reason = ''): void {
    const id = shortId(target);
    this.#desk.ask({
      label: `${action}: type ${id}, then enter: `,
      onDone: (typed) => {
        if (cleanText(typed) === id) void this.#resolve(target, action, txid, reason);
        else this.#desk.say('that is not the id; nothing was done', 'bad');
      },
    });
  }

  async #resolve(target: string, action: Action, txid = '', reason = ''): Promise<void> {
    const { context } = this.#desk;
    this.#desk.say(`${action} …`);
    try {
      const body = {
        action,
        ...(txid === '' ? {} : { txid }),
        ...(reason === '' ? {} : { force: true, note: reason }),
      };
      const params = { invoice_id: target };
      const before = await context.call(getAdminPayment, { params });
      const reply = await context.call(resolvePayment, { params, body });
      const done = `${action}: ${shortId(reply.payment.id)} now ${reply.payment.status}`;
      this.#desk.say(sayUnchanged(before, reply, body) ?? done, 'good');
      // What was booked for an invoice is listed as that invoice.
      if (target === this.#data.payment.id) this.#again();
      else this.#desk.go({ view: 'payment', id: target });
    } catch (failure) {
      this.#desk.say(`${action} refused: ${failureText(failure)}`, 'bad');
      const is_unknown = failure instanceof GwError && failure.details.code === 'transaction_unknown';
      // Nothing came, or the chain has lost it: booking needs a reason then.
      if (is_unknown && reason === '') this.#askReason(target, txid);
    }
  }
}
