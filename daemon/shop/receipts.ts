// Mails receipts: of each confirmed invoice that has an address, once; what no server takes is given up after a day.
import {
  claimReceipt,
  type DueReceipt,
  dueReceipts,
  forgetEmail,
  forgetUnpaidEmails,
} from '../../data/receipts.ts';
import { checkoutRow } from '../../data/views/checkout.ts';
import { formatDecimal, formatUsd } from '../../src/money.ts';
import { chooseLanguage } from '../checkout/language.ts';
import { shopName } from '../checkout/view.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';
import { repeat, settledWithin } from '../loop.ts';
import { receiptEmail } from '../mail/templates.tsx';

const TICK_MS = 5_000;
const AT_ONCE = 20;
/** A daemon that is killed in between leaves the mail to another after so long; so does a server that takes nothing. */
const RETRY_SECONDS = 300;
const GIVEN_UP_SECONDS = 86_400;
/** How often addresses of what ended unpaid are forgotten. */
const FORGET_SECONDS = 3_600;
/** A mail that is under way at the end is given so long. */
const STOP_MS = 2_000;

interface Receipts {
  start(): void;
  /** Sends now what is due; for tests. */
  tick(): Promise<void>;
  stop(): Promise<void>;
}

type ReceiptsApp = Pick<App, 'config' | 'db' | 'clock' | 'log' | 'mail' | 'runtime'>;

export function openReceipts(app: ReceiptsApp): Receipts {
  const { db, clock, log, mail, runtime } = app;
  const stopping = new AbortController();
  let forgotten_at = 0;
  let running: Promise<void> = Promise.resolve();

  async function tick(): Promise<void> {
    const now = seconds(clock);
    for (const due of await dueReceipts(db.query, now, AT_ONCE)) {
      if (stopping.signal.aborted) return;
      if (await claimReceipt(db.query, due, now + RETRY_SECONDS)) await send(due, now);
    }
    if (now - forgotten_at < FORGET_SECONDS) return;
    forgotten_at = now;
    await forgetUnpaidEmails(db.query, now);
  }

  /** Nothing in the log names the address. */
  async function send(due: DueReceipt, now: number): Promise<void> {
    const about = { invoice_id: due.id };
    try {
      const email = await emailFor(app, due);
      if (email) await mail.send(email);
      log.info(about, 'receipt mailed');
    } catch (error) {
      const given_up = now - (due.paid_at ?? now) > GIVEN_UP_SECONDS;
      log.warn({ ...about, reason: (error as Error).name, given_up }, 'a receipt could not be mailed');
      if (!given_up) return;
    }
    await forgetEmail(db.query, due.id);
  }

  return {
    tick,
    start() {
      const again = async () => {
        await tick();
        return TICK_MS;
      };
      const onError = (error: unknown) => {
        log.warn({ err: error }, 'mailing receipts failed; trying again');
        return TICK_MS;
      };
      running = repeat(again, { runtime, signal: stopping.signal, onError });
    },
    async stop() {
      stopping.abort();
      await settledWithin(STOP_MS, running, runtime);
    },
  };
}

async function emailFor(app: ReceiptsApp, { id, customer_email }: DueReceipt) {
  const row = await checkoutRow(app.db, id);
  if (!row) return null;
  const lang = chooseLanguage({ unit: row.unit_language });
  const merchant = shopName(app, row);
  const usd = lang.usd(formatUsd(row.amount_usd_micros + row.amount_usd_fee_micros));
  const amount = `${lang.coin(formatDecimal(BigInt(row.amount_atomic), row.decimals))} ${row.currency}`;
  const title = row.shop?.title ?? row.unit_title;
  return receiptEmail({
    to: customer_email,
    lang,
    merchant,
    lines: [
      lang.say('receipt_mail', { merchant, usd: `${usd} (${amount})` }),
      ...(title === null ? [] : [`${lang.say('item')}: ${lang.apart(title)}`]),
      ...(row.external_ref === null ? [] : [`${lang.say('order')}: ${lang.apart(row.external_ref)}`]),
      `${lang.say('receipt_number')}: ${lang.apart(row.id)}`,
      ...(row.profile?.legal_line ? [lang.apart(row.profile.legal_line)] : []),
    ],
    link: `${app.config.public_url}/pay/${row.id}/receipt?lang=${lang.code}`,
  });
}
