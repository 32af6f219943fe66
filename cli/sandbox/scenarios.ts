// What can be made to happen in the sandbox: each begins with a payment on its chain, and the daemon finds out.
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallReply, ClientCall } from '../../src/api/client/call.ts';
import { cancelInvoice, getInvoicePayment } from '../../src/api/endpoints/buyer.ts';
import { createInvoice, getInvoice } from '../../src/api/endpoints/invoices.ts';
import { getBalances, listEvents } from '../../src/api/endpoints/merchant.ts';
import { accountIn, type Chain, sandbox } from '../../src/chains/sandbox.ts';
import { missingPrepaid } from '../../src/ledger.ts';
import { divideUp, formatUsd, parseDecimal, USD_DECIMALS } from '../../src/money.ts';
import { GwError, NetworkError } from '../engine/errors.ts';
import { wholeId } from '../engine/references.ts';
import { dollars } from '../output/money.ts';
import type { TriggerKind } from './kinds.ts';

export type Invoice = CallReply<typeof getInvoice>;

/** What a scenario stands on. */
export interface Ground {
  call: ClientCall;
  chain: Chain;
  signal: AbortSignal;
  /** The next webhook is answered with 500. */
  refuseNext(): void;
}

export interface Asked {
  kind: TriggerKind;
  /** One that exists; a new one by default. */
  invoice_id?: string | undefined;
  amount_usd?: string | undefined;
  /** The whole of it is wanted, for a file. */
  record?: boolean | undefined;
}

export interface Outcome {
  kind: TriggerKind;
  invoice: Invoice | null;
  /** Payments that were sent for it. */
  txids: string[];
  /** What the daemon reported of it, oldest first. */
  events: { id: string; type: string }[];
}

const USUAL_AMOUNT = '5.00';
const ASK_MS = 250;
/** Longer than any of them lasts. */
const LIMIT_MS = 240_000;
const EVENTS_READ = 100;

/** A part of what the invoice asks, as `over` / `under`. */
interface Share {
  over: bigint;
  under: bigint;
}
const WHOLE: Share = { over: 1n, under: 1n };
const HALF: Share = { over: 1n, under: 2n };
const MORE: Share = { over: 3n, under: 2n };

function pay({ chain }: Ground, invoice: Invoice, { over, under } = WHOLE, memo = invoice.memo): string {
  const gateway = sandbox.gateways.find((each) => each.chain === invoice.chain);
  const asked = gateway && parseDecimal(invoice.amount, gateway.decimals);
  if (!gateway || !asked)
    throw new GwError('conflict', `the sandbox pays on ${sandbox.blockchain} only, not on ${invoice.chain}`);
  const { address: owner } = invoice;
  const [account, mint] = [accountIn(gateway, owner), gateway.token_contract];
  return chain.pay({ account, owner, mint, amount: divideUp(asked * over, under), memo });
}

/** A connection that is lost is no outcome: it is asked again. */
function passing(error: unknown): undefined {
  if (!(error instanceof NetworkError)) throw error;
}

/** Asks until there is an answer. */
async function until<T>({ signal }: Ground, what: string, read: () => Promise<T | undefined>): Promise<T> {
  const end = Date.now() + LIMIT_MS;
  while (Date.now() < end) {
    const found = await read().catch(passing);
    if (found !== undefined) return found;
    await sleep(ASK_MS, undefined, { signal });
  }
  throw new GwError('timeout', `${what}: it has not come`);
}

const read = ({ call }: Ground, { id }: Pick<Invoice, 'id'>): Promise<Invoice> =>
  call(getInvoice, { params: { invoice_id: id } });

const paymentOf = async ({ call }: Ground, { id }: Invoice) =>
  (await call(getInvoicePayment, { params: { invoice_id: id } })).payment;

/** Waits for a state of the invoice; refuses as soon as something else has come of what was paid. */
const untilInvoice = (
  ground: Ground,
  invoice: Invoice,
  is: (now: Invoice) => boolean,
  txid?: string,
): Promise<Invoice> =>
  until(ground, `invoice ${invoice.id}`, async () => {
    const now = await read(ground, invoice);
    if (is(now)) return now;
    await refuseInstead(ground, now, txid);
    return undefined;
  });

/** Refuses what came in place of what is waited for, and stays so until a person does something. */
async function refuseInstead(ground: Ground, invoice: Invoice, txid: string | undefined): Promise<void> {
  const { status, amount_usd } = invoice;
  const extra = { invoice, txids: txid === undefined ? [] : [txid] };
  if (status === 'created') {
    const isHeld = invoice.payment_id !== null && (await paymentOf(ground, invoice))?.status === 'held';
    if (!isHeld) return;
    throw new GwError(
      'limit',
      `the payment is held: the prepaid limit does not cover ${dollars(amount_usd)}`,
      {
        code: 'payment_held',
        extra: { ...extra, missing_usd: await missingOf(ground, amount_usd) },
      },
    );
  }
  const code = `invoice_${status}`;
  if (txid === undefined) throw new GwError('ended', `the invoice is ${status}`, { code, extra });
  // What was paid is read a moment later.
  if (!(await eventsOf(ground, [], [txid])).some(({ type }) => type === 'payment.late')) return;
  throw new GwError('ended', `the payment came late: the invoice is ${status}`, {
    code: 'payment_late',
    extra,
  });
}

/** What a refill must pay in so that the limit covers so much. */
async function missingOf({ call }: Ground, amount_usd: string): Promise<string> {
  const micros = (text = '0') => parseDecimal(text, USD_DECIMALS) ?? 0n;
  const prepaid = (await call(getBalances)).find(({ currency }) => currency === 'USD');
  return formatUsd(missingPrepaid(micros(prepaid?.amount), micros(amount_usd)));
}

/** Events of an invoice or of a payment to it, oldest first. */
async function eventsOf({ call }: Ground, ids: readonly string[], txids: readonly string[]) {
  const { data } = await call(listEvents, { query: { order: 'newest', limit: EVENTS_READ } });
  return data
    .filter(
      ({ data: { invoice, payment } }) =>
        ids.includes(invoice?.id ?? '') || txids.includes(payment?.txid ?? ''),
    )
    .map(({ id, type }) => ({ id, type }))
    .reverse();
}

const untilEvent = (ground: Ground, type: string, txid: string) =>
  until(ground, type, async () => {
    const events = await eventsOf(ground, [], [txid]);
    return events.find((event) => event.type === type);
  });

const untilPayment = (ground: Ground, invoice: Invoice, txid: string, is: (status: string) => boolean) =>
  until(ground, `a payment of ${invoice.id}`, async () => {
    const payment = await paymentOf(ground, invoice);
    if (payment && is(payment.status)) return payment;
    await refuseInstead(ground, await read(ground, invoice), txid);
    return undefined;
  });

/** One that is to end is waited for; not for minutes. */
async function untilEnded(ground: Ground, invoice: Invoice, is: (now: Invoice) => boolean): Promise<void> {
  if (invoice.status === 'created' && invoice.expires_at * 1000 - Date.now() > LIMIT_MS / 2)
    throw new GwError(
      'conflict',
      'this invoice has minutes left: without --invoice-id one of seconds is made',
    );
  await untilInvoice(ground, invoice, is);
}

const isConfirmed = ({ status }: Invoice): boolean => status === 'confirmed';
const isExpired = ({ status }: Invoice): boolean => status === 'expired';
const isOver = ({ status }: Invoice): boolean => status !== 'created';

/** Each makes it happen, waits until the daemon says so, and names the payments that it sent. */
const scenarios: Record<TriggerKind, (ground: Ground, invoice: Invoice) => Promise<string[]>> = {
  'invoice.created': async () => [],
  async 'invoice.confirmed'(ground, invoice) {
    const txid = pay(ground, invoice);
    await untilInvoice(ground, invoice, isConfirmed, txid);
    return [txid];
  },
  async 'invoice.expired'(ground, invoice) {
    await untilEnded(ground, invoice, isExpired);
    return [];
  },
  async 'invoice.cancelled'({ call }, { id }) {
    await call(cancelInvoice, { params: { invoice_id: id } });
    return [];
  },
  async 'payment.under'(ground, invoice) {
    const txid = pay(ground, invoice, HALF);
    await untilInvoice(ground, invoice, ({ amount_match }) => amount_match === 'under', txid);
    return [txid];
  },
  async 'payment.over'(ground, invoice) {
    const txid = pay(ground, invoice, MORE);
    await untilInvoice(ground, invoice, isConfirmed, txid);
    return [txid];
  },
  async 'payment.late'(ground, invoice) {
    await untilEnded(ground, invoice, isOver);
    const txid = pay(ground, invoice);
    await untilEvent(ground, 'payment.late', txid);
    return [txid];
  },
  async 'payment.unmatched'(ground, invoice) {
    const txid = pay(ground, invoice, WHOLE, null);
    await untilEvent(ground, 'payment.unmatched', txid);
    return [txid];
  },
  async 'payment.twice'(ground, invoice) {
    const first = pay(ground, invoice);
    await untilInvoice(ground, invoice, isConfirmed, first);
    const second = pay(ground, invoice);
    await untilEvent(ground, 'payment.late', second);
    return [first, second];
  },
  async 'payment.reorganised'(ground, invoice) {
    const { chain } = ground;
    chain.stall();
    try {
      const txid = pay(ground, invoice);
      await untilPayment(ground, invoice, txid, (now) => now === 'detected' || now === 'confirming');
      if (!chain.leaveOut(txid)) throw new GwError('conflict', 'the payment was final already');
      chain.release();
      await untilPayment(ground, invoice, txid, (now) => now === 'orphaned');
      return [txid];
    } finally {
      chain.release();
    }
  },
  async 'webhook.refused'(ground, invoice) {
    ground.refuseNext();
    const txid = pay(ground, invoice);
    await untilInvoice(ground, invoice, isConfirmed, txid);
    return [txid];
  },
};

/** Of kinds that wait for the end of the invoice's time. */
const isBrief = (kind: TriggerKind): boolean => kind === 'invoice.expired' || kind === 'payment.late';

let orders = 0;

export async function invoiceFor(
  { call }: Ground,
  { kind, invoice_id, amount_usd }: Asked,
): Promise<Invoice> {
  if (invoice_id !== undefined) {
    const id = await wholeId({ call }, getInvoice, { field: 'invoice_id', place: 'params' }, invoice_id);
    return call(getInvoice, { params: { invoice_id: String(id) } });
  }
  orders += 1;
  return call(createInvoice, {
    body: {
      chain: isBrief(kind) ? sandbox.brief : sandbox.usual,
      amount: amount_usd ?? USUAL_AMOUNT,
      external_ref: `dev-${orders}`,
    },
  });
}

/** Makes it happen; what came of it. */
export async function trigger(ground: Ground, asked: Asked): Promise<Outcome> {
  const { kind } = asked;
  const invoice = await invoiceFor(ground, asked);
  const txids = await scenarios[kind](ground, invoice);
  return {
    kind,
    invoice: await read(ground, invoice),
    txids,
    events: await eventsOf(ground, [invoice.id], txids),
  };
}
