// What can be made to happen in the sandbox: each begins with a payment on its chain, and the daemon finds out.
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallReply, ClientCall } from '../../src/api/client/call.ts';
import { cancelInvoice, getInvoicePayment } from '../../src/api/endpoints/buyer.ts';
import { createInvoice, getInvoice } from '../../src/api/endpoints/invoices.ts';
import { listEvents } from '../../src/api/endpoints/merchant.ts';
import { accountIn, type Chain, sandbox } from '../../src/chains/sandbox.ts';
import { divideUp, parseDecimal } from '../../src/money.ts';
import { GwError } from '../engine/errors.ts';
import { wholeId } from '../engine/references.ts';
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

/** Asks until there is an answer. */
async function until<T>({ signal }: Ground, what: string, read: () => Promise<T | undefined>): Promise<T> {
  const end = Date.now() + LIMIT_MS;
  while (Date.now() < end) {
    const found = await read();
    if (found !== undefined) return found;
    await sleep(ASK_MS, undefined, { signal });
  }
  throw new GwError('timeout', `${what}: it has not come`);
}

const read = ({ call }: Ground, { id }: Pick<Invoice, 'id'>): Promise<Invoice> =>
  call(getInvoice, { params: { invoice_id: id } });

const untilInvoice = (ground: Ground, invoice: Invoice, is: (now: Invoice) => boolean): Promise<Invoice> =>
  until(ground, `invoice ${invoice.id}`, async () => {
    const now = await read(ground, invoice);
    return is(now) ? now : undefined;
  });

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

const untilPayment = (ground: Ground, { id }: Invoice, is: (status: string) => boolean) =>
  until(ground, `a payment of ${id}`, async () => {
    const { payment } = await ground.call(getInvoicePayment, { params: { invoice_id: id } });
    return payment && is(payment.status) ? payment : undefined;
  });

/** One that is to end is waited for; not for minutes. */
async function untilExpired(ground: Ground, invoice: Invoice): Promise<void> {
  if (invoice.expires_at * 1000 - Date.now() > LIMIT_MS / 2)
    throw new GwError(
      'conflict',
      'this invoice has minutes left: without --invoice-id one of seconds is made',
    );
  await untilInvoice(ground, invoice, isExpired);
}

const isConfirmed = ({ status }: Invoice): boolean => status === 'confirmed';
const isExpired = ({ status }: Invoice): boolean => status === 'expired';

/** Each makes it happen, waits until the daemon says so, and names the payments that it sent. */
const scenarios: Record<TriggerKind, (ground: Ground, invoice: Invoice) => Promise<string[]>> = {
  'invoice.created': async () => [],
  async 'invoice.confirmed'(ground, invoice) {
    const txid = pay(ground, invoice);
    await untilInvoice(ground, invoice, isConfirmed);
    return [txid];
  },
  async 'invoice.expired'(ground, invoice) {
    await untilExpired(ground, invoice);
    return [];
  },
  async 'invoice.cancelled'({ call }, { id }) {
    await call(cancelInvoice, { params: { invoice_id: id } });
    return [];
  },
  async 'payment.under'(ground, invoice) {
    const txid = pay(ground, invoice, HALF);
    await untilInvoice(ground, invoice, ({ amount_match }) => amount_match === 'under');
    return [txid];
  },
  async 'payment.over'(ground, invoice) {
    const txid = pay(ground, invoice, MORE);
    await untilInvoice(ground, invoice, isConfirmed);
    return [txid];
  },
  async 'payment.late'(ground, invoice) {
    await untilExpired(ground, invoice);
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
    await untilInvoice(ground, invoice, isConfirmed);
    const second = pay(ground, invoice);
    await untilEvent(ground, 'payment.late', second);
    return [first, second];
  },
  async 'payment.reorganised'(ground, invoice) {
    const { chain } = ground;
    chain.stall();
    try {
      const txid = pay(ground, invoice);
      await untilPayment(ground, invoice, (status) => status === 'detected' || status === 'confirming');
      if (!chain.leaveOut(txid)) throw new GwError('conflict', 'the payment was final already');
      chain.release();
      await untilPayment(ground, invoice, (status) => status === 'orphaned');
      return [txid];
    } finally {
      chain.release();
    }
  },
  async 'webhook.refused'(ground, invoice) {
    ground.refuseNext();
    const txid = pay(ground, invoice);
    await untilInvoice(ground, invoice, isConfirmed);
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
