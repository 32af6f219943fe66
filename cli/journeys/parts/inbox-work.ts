// The operator's inbox gone through by a person: each payment with what it could pay, a preview, and one key to book it; then
// webhooks to send again and contradictions to close.

import type { CallReply } from '../../../src/api/client/call.ts';
import {
  closeContradiction,
  creditMerchant,
  getAdminMerchant,
  getAdminPayment,
  remarkPayment,
  resolvePayment,
} from '../../../src/api/endpoints/admin.ts';
import { getPublicConfig } from '../../../src/api/endpoints/buyer.ts';
import { resendEvent } from '../../../src/api/endpoints/merchant.ts';
import { cleanText } from '../../../src/clean.ts';
import { missingPrepaid } from '../../../src/ledger.ts';
import { divideUp, formatDecimal, formatUsd, parseDecimal, tenTo, USD_DECIMALS } from '../../../src/money.ts';
import type { Context } from '../../engine/command.ts';
import { GwError } from '../../engine/errors.ts';
import { flagsOf } from '../../engine/flags.ts';
import { faultInWords } from '../../engine/plain-words.ts';
import { askText } from '../../engine/prompts.ts';
import { wholeId } from '../../engine/references.ts';
import { printSections } from '../../output/card.ts';
import { type Io, paint, print, say, terminalWidth } from '../../output/io.ts';
import { coins, dollars } from '../../output/money.ts';
import { candidateLine, type PaymentDetail, rankedCandidates } from '../../output/payment-card.ts';
import { clean } from '../../output/text.ts';
import { moment, shortId } from '../../output/value.ts';
import { wrapped } from '../../output/width.ts';
import { describeFound, lookUp } from '../admin/resolve.ts';
import { askKey } from './inbox-keys.ts';

/** As many as there are keys for. */
const NAMED = 9;
/** Of USD in previews. */
const DECIMALS = 8;

/** The invoice that a payment would be booked for. */
interface Target {
  id: string;
  external_ref: string | null;
  amount_usd: string;
}

interface Shop {
  merchant: CallReply<typeof getAdminMerchant>;
  config: CallReply<typeof getPublicConfig>;
}

export interface Waiting {
  kind: string;
  id: string | null;
  merchant: string | null;
  about: string;
  created_at: number | null;
  events: readonly string[];
  next: string;
}

const PAYMENTS: ReadonlySet<string> = new Set(['held', 'late', 'unmatched']);

/** Goes through them one by one, until a person has seen all or leaves. */
export async function workThrough(context: Context, items: readonly Waiting[]): Promise<void> {
  const { io } = context;
  if (items.length === 0) return print(io, 'Nothing waits.');
  for (const [index, item] of items.entries()) {
    print(io, '');
    const title = `${index + 1} of ${items.length}: ${item.kind}`;
    const isNext = PAYMENTS.has(item.kind)
      ? await workOnPayment(context, item, title)
      : await workOnOther(context, item, title);
    if (!isNext) return;
  }
  print(io, 'That was the last one.');
}

async function workOnPayment(context: Context, { kind, id }: Waiting, title: string): Promise<boolean> {
  const detail = await context.call(getAdminPayment, { params: { invoice_id: String(id) } });
  // What an earlier booking or credit has done is no one's work any more.
  if (detail.payment.dismissed || (detail.payment.payment_status ?? detail.payment.status) !== kind) {
    print(context.io, paint(context.io, 'dim', `${title}   ${shortId(String(id))}   is done already`));
    return true;
  }
  return workOn(context, detail, title);
}

/** What one key does to it; undefined where nothing can be done here. */
function stepOf({ call }: Context, { kind, id, events }: Waiting) {
  if (kind === 'webhook')
    return {
      key: `Enter sends ${events.length === 1 ? 'it' : `all ${events.length}`} again`,
      async run() {
        for (const event_id of events) {
          const { type, deliveries } = await call(resendEvent, { params: { event_id } });
          const last = deliveries.at(-1);
          if (last?.status !== 'delivered')
            throw new GwError(
              'conflict',
              `${type} was not accepted: ${last?.error ?? last?.http_status ?? 'no answer'}`,
            );
        }
        return events.length === 1 ? 'it was accepted' : `all ${events.length} were accepted`;
      },
    };
  if (kind === 'contradiction' && id !== null)
    return {
      key: 'a note closes it',
      async run(note: string) {
        if (note === '') throw new GwError('usage', 'say why: who reads it later has only the note');
        await call(closeContradiction, { params: { contradiction_id: id }, body: { note } });
        return 'it is closed';
      },
    };
  return undefined;
}

/** Webhooks are sent again, a contradiction is closed with a note; what else waits is left to who can end it. */
async function workOnOther(context: Context, item: Waiting, title: string): Promise<boolean> {
  const { io } = context;
  const now_s = Math.floor(Date.now() / 1000);
  const step = stepOf(context, item);
  print(io, paint(io, 'bold', `${title}${item.id === null ? '' : `   ${shortId(item.id)}`}`));
  printSections(io, [
    {
      title: '',
      rows: [
        ...(item.merchant === null ? [] : [['merchant', item.merchant] as const]),
        ['what', item.about],
        ...(item.created_at === null ? [] : [['since', moment(item.created_at, now_s)] as const]),
        ...(step ? [] : [['next', item.next] as const]),
      ],
    },
  ]);
  print(io, '');
  for (;;) {
    const answer = await askKey(io, [
      { text: step?.key ?? 'Enter continues' },
      ...(step ? [{ text: 's skips', spare: 1 }] : []),
      { text: 'q ends' },
    ]);
    if (answer.toLowerCase() === 'q') return false;
    if (answer.toLowerCase() === 's' || !step) return true;
    if (answer !== '' && item.kind === 'webhook') say(io, 'Enter alone sends it');
    else if (await done(io, () => step.run(answer))) return true;
  }
}

/** Shows one and does what a person says; false where he leaves. */
async function workOn(context: Context, detail: PaymentDetail, title: string): Promise<boolean> {
  const { io } = context;
  const { payment } = detail;
  const { owner_id, txid } = payment;
  const isHeld = payment.payment_status === 'held';
  const targets = targetsOf(detail);
  showPayment(io, detail, title, targets);
  const isDismissible = payment.payment_status === 'late' || payment.payment_status === 'unmatched';
  let target = targets[0];
  for (;;) {
    const shop = owner_id === null ? null : await shopOf(context, owner_id);
    const booked = txid === null || isHeld ? undefined : target;
    if (booked) await preview(context, detail, booked, shop);
    else print(io, shop && isHeld ? heldBy(shop, payment) : '');
    const answer = await askKey(io, [
      ...(booked ? [{ text: 'Enter books it', short: 'Enter books' }] : []),
      ...(targets.length > 1
        ? [
            {
              text: `1-${targets.length} or an order chooses`,
              short: `1-${targets.length} or order`,
              spare: 1,
            },
          ]
        : isHeld
          ? []
          : [{ text: 'an order chooses', short: 'or an order', spare: 2 }]),
      ...(shop ? [{ text: 'c credits', spare: isHeld ? 2 : 4 }] : []),
      ...(isDismissible ? [{ text: 'd closes unbooked', short: 'd closes', spare: 3 }] : []),
      { text: 'n notes', spare: 5 },
      { text: 's skips', spare: 1 },
      { text: 'q ends' },
    ]);
    const key = answer.toLowerCase();
    if (key === 'q') return false;
    if (key === 's') return true;
    if (key === 'n') await done(io, () => remarkOn(context, payment.id));
    else if (key === 'd' && isDismissible) {
      if (await done(io, () => remarkOn(context, payment.id, true))) return true;
    } else if (key === 'c' && shop) {
      // What is held is booked with it; anything else still waits.
      if ((await done(io, () => credit(context, shop))) && isHeld) return true;
    } else if (key === '') {
      if (booked && (await done(io, () => book(context, payment.id, txid, booked)))) return true;
    } else if (!isHeld)
      await done(io, async () => {
        target = targets[Number(answer) - 1] ?? (await named(context, answer));
        return undefined;
      });
  }
}

function heldBy({ merchant: { merchant } }: Shop, { amount_usd }: PaymentDetail['payment']): string {
  const micros = (text: string | null) => parseDecimal(text ?? '0', USD_DECIMALS) ?? 0n;
  const enough = formatUsd(missingPrepaid(micros(merchant.prepaid_usd), micros(amount_usd)));
  return `\n${clean(`the limit of ${merchant.slug} is ${dollars(merchant.limit_of_payments)}, this needs ${dollars(amount_usd)}: a credit of ${dollars(enough)} is enough`)}`;
}

/** The invoice that an order, a memo or the end of an id names. */
async function named(context: Context, text: string): Promise<Target> {
  const flag = flagsOf(resolvePayment).find(({ field }) => field === 'invoice_id');
  const invoice_id = String(flag && (await wholeId(context, resolvePayment, flag, text)));
  const { invoice } = await context.call(getAdminPayment, { params: { invoice_id } });
  if (invoice === null) throw new GwError('not_found', `“${text}” is no invoice`);
  if (invoice.status === 'confirmed')
    throw new GwError('conflict', `invoice ${shortId(invoice.id)} is paid already`);
  return invoice;
}

/** What it could pay, the nearest first; what an invoice has received late is that invoice's. */
function targetsOf(detail: PaymentDetail): Target[] {
  const { payment, invoice, claims } = detail;
  if (payment.payment_status === 'unmatched') {
    const isClaimed = ({ id }: Target) => claims.some(({ invoice_id }) => invoice_id === id);
    return rankedCandidates(detail)
      .sort((one, other) => Number(isClaimed(other)) - Number(isClaimed(one)))
      .slice(0, NAMED);
  }
  // What came for an invoice that is paid already books nothing.
  return invoice === null || payment.payment_status === 'held' || invoice.status === 'confirmed'
    ? []
    : [invoice];
}

function showPayment(io: Io, detail: PaymentDetail, title: string, targets: readonly Target[]): void {
  const { payment } = detail;
  const candidates = rankedCandidates(detail);
  const now_s = Math.floor(Date.now() / 1000);
  const received = payment.received_amount ?? payment.amount;
  print(
    io,
    paint(
      io,
      'bold',
      `${title}   ${shortId(payment.id)}   ${received === null ? '' : coins(received, payment.currency)}`,
    ),
  );
  const named = targets.flatMap(({ id }) => candidates.find((one) => one.id === id) ?? []);
  printSections(io, [
    {
      title: '',
      rows: [
        ['merchant', `${payment.owner_slug ?? 'platform'}   ${payment.chain}`],
        ['order', payment.external_ref ?? '–'],
        ['memo', detail.invoice?.memo ?? detail.transfers[0]?.memo ?? '–'],
        ['txid', payment.txid ?? '–'],
        ['created', moment(payment.created_at, now_s)],
      ],
    },
    {
      title: 'could pay',
      rows: named.map((one, index) => [String(index + 1), candidateLine(one, detail, now_s)]),
    },
  ]);
}

const shopOf = async ({ call }: Context, user_id: string): Promise<Shop> => ({
  merchant: await call(getAdminMerchant, { params: { user_id } }),
  config: await call(getPublicConfig),
});

const usd = (text: string): bigint => parseDecimal(text, DECIMALS) || 0n;

/** Says what a booking would do: `5 USDC → order-7 of ann, fee $0.05, limit after $9975.00, webhook to https://…`. */
async function preview(
  context: Context,
  { payment }: PaymentDetail,
  target: Target,
  shop: Shop | null,
): Promise<void> {
  const { io } = context;
  const amount = coins(payment.received_amount ?? '0', payment.currency);
  const order = target.external_ref ?? shortId(target.id);
  const found = await lookUp(context, { invoice_id: target.id, txid: payment.txid ?? '' });
  const parts = [
    `${amount} → ${order}${shop === null ? '' : ` of ${shop.merchant.merchant.slug}`}`,
    ...(shop === null ? [] : effectsOf(shop, target)),
  ];
  print(io, '');
  for (const line of wrapped(clean(parts.join(', ')), terminalWidth(io) - 1))
    print(io, paint(io, 'bold', line));
  print(io, paint(io, 'dim', clean(typeof found === 'string' ? found : describeFound(found))));
}

/** What else a booking does: a fee, which lowers the limit, and a webhook. */
function effectsOf({ merchant: { merchant, webhook_url }, config }: Shop, { amount_usd }: Target): string[] {
  const webhook = webhook_url === null ? 'no webhook' : `webhook to ${webhook_url}`;
  if (merchant.house) return [webhook];
  const fee = divideUp(usd(amount_usd) * usd(config.platform_fee_rate), tenTo(DECIMALS));
  const limit =
    usd(merchant.limit_of_payments) - (fee * usd(config.refill_credit_multiplier)) / tenTo(DECIMALS);
  const shown = (value: bigint) => dollars(formatDecimal(value, DECIMALS));
  return [`fee ${shown(fee)}`, `limit after ${shown(limit)}`, webhook];
}

async function book(
  context: Context,
  payment_id: string,
  txid: string | null,
  { id }: Target,
): Promise<string> {
  const { dismissed } = (await context.call(getAdminPayment, { params: { invoice_id: payment_id } })).payment;
  // By name it could be booked all the same; who sees it as waiting does not know that it was dealt with.
  if (dismissed) throw new GwError('conflict', `closed meanwhile by ${dismissed.by}: ${dismissed.note}`);
  const { payment } = await context.call(resolvePayment, {
    params: { invoice_id: id },
    body: { action: 'confirm', txid },
  });
  return `invoice ${shortId(id)} is ${payment.status}`;
}

/** What a person says of a payment that is not booked; with `dismissed` it waits no longer. */
const remarkOn = async (context: Context, invoice_id: string, dismissed?: true): Promise<string> => {
  const body = await askRemark(context.io, dismissed);
  await context.call(remarkPayment, { params: { invoice_id }, body });
  return outcomeOf(body);
};

export async function askRemark(io: Io, dismissed?: true): Promise<{ note: string; dismissed?: true }> {
  const note = await askText(dismissed ? 'why, for the log (empty: it waits on):' : 'note, for the log:', io);
  if (note.trim() === '') throw new GwError('general', 'nothing was written', { code: 'declined' });
  return { note, ...(dismissed ? { dismissed } : {}) };
}

export const outcomeOf = ({ dismissed }: { dismissed?: true }): string =>
  dismissed ? 'closed: it waits no longer' : 'noted';

async function credit(context: Context, { merchant: { merchant } }: Shop): Promise<string> {
  const prepaid_usd = cleanText(
    await askText(`USD to credit to ${merchant.slug} (empty: none):`, context.io),
  );
  if (prepaid_usd === '') throw new GwError('general', 'nothing was credited', { code: 'declined' });
  const note = await askText('note, for the ledger:', context.io);
  const reply = await context.call(creditMerchant, {
    params: { user_id: merchant.user_id },
    body: { prepaid_usd, ...(note === '' ? {} : { note }) },
  });
  return `credited; the limit of ${merchant.slug} is ${dollars(reply.limit_of_payments)}`;
}

/** Says what came of it; a refusal is read, and the same payment asked about again. */
export async function done(io: Io, act: () => Promise<string | undefined>): Promise<boolean> {
  try {
    const what = await act();
    if (what) print(io, paint(io, 'green', clean(what)));
    return true;
  } catch (error) {
    const isRefusal =
      error instanceof GwError &&
      ['general', 'usage', 'not_found', 'conflict', 'limit', 'retry'].includes(error.kind);
    if (!isRefusal) throw error;
    say(io, paint(io, 'red', clean(error.message.replace(/Input should .*$/, faultInWords))));
    return false;
  }
}
