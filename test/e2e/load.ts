// A shop at work: creates, pays, checks, cancels, changes and signs up all at once, and records every 2xx answer.
import { randomBytes } from 'node:crypto';
import { freshAddress } from '../chains/utxo-observer.ts';
import { PASSWORD } from '../helpers/people.ts';
import { Refused } from '../helpers/service.ts';
import { nanoOf } from './payer.ts';
import { ask, call, type Invoice, readInvoice, type Shop, type Stand, signIn } from './stand.ts';

/** A value that is written again and again: what was acknowledged last, and what was asked for since. */
interface Register {
  stored: string | null;
  tried: string[];
}

/** What the daemon has promised with 2xx. */
export interface Promises {
  created: Map<string, Invoice>;
  confirmed: Map<string, Invoice>;
  cancelled: Set<string>;
  accounts: Set<string>;
  slug: Register;
  wallet: Register;
  /** Paid in full on the chain. */
  paid: Set<string>;
  /** Answers that no one should get. */
  faults: string[];
}

export const newPromises = (): Promises => ({
  created: new Map(),
  confirmed: new Map(),
  cancelled: new Set(),
  accounts: new Set(),
  slug: { stored: null, tried: [] },
  wallet: { stored: null, tried: [] },
  paid: new Set(),
  faults: [],
});

/** 409: a cancel or a simulate came too late. 503: the database was busy; the caller is asked to come again. */
const EXPECTED = [200, 409, 503];
const CREATORS = 2;
/** Invoices paid with one message. */
const PAID_AT_ONCE = 6;
/** Between two rounds of a worker, so that all get their turn. */
const PAUSE_MS = 25;
/** A password is hashed slowly on purpose: without a longer pause that would be most of the load. */
const SIGN_UP_PAUSE_MS = 300;

export interface Load {
  /** Resolves after so many successful answers, or that time. */
  answered(count: number, limit_ms: number): Promise<void>;
  /** Ends what still runs; resolves when no one works any more. */
  stop(): Promise<void>;
}

/** Chooses the daemon for each call. */
export type Choose = () => string;

/**
 * Works until `stop`, or until the daemon is gone; payments continue without it. Where each call chooses its daemon, one
 * that is gone leaves the outcome of a call unknown, and the next goes to another.
 */
export function startLoad(stand: Stand, at: string | Choose, shop: Shop, promises: Promises): Load {
  let stopped = false;
  const at_start = countAnswers(promises);
  const worker = async (step: () => Promise<void>, pause_ms = PAUSE_MS) => {
    while (!stopped) {
      try {
        await step();
      } catch (error) {
        // Undici's word for a connection that broke: the daemon is dead.
        const is_gone = error instanceof TypeError || error instanceof SyntaxError;
        if (is_gone && typeof at === 'string') return;
        // As expected as in the steps themselves: it comes again.
        const is_busy = error instanceof Refused && error.status === 503;
        if (!is_gone && !is_busy) {
          promises.faults.push(String(error));
          return;
        }
      }
      await new Promise((resolve) => setTimeout(resolve, pause_ms));
    }
  };
  const steps = workSteps(stand, typeof at === 'string' ? () => at : at, shop, promises);
  const creators = Array.from({ length: CREATORS }, () => steps.create);
  const running = [...creators, steps.pay, steps.check, steps.endOthers, steps.change].map((step) =>
    worker(step),
  );
  running.push(worker(steps.signUp, SIGN_UP_PAUSE_MS));
  return {
    async answered(count, limit_ms) {
      const deadline = Date.now() + limit_ms;
      while (countAnswers(promises) - at_start < count && Date.now() < deadline)
        await new Promise((resolve) => setTimeout(resolve, 1));
    },
    async stop() {
      stopped = true;
      await Promise.all(running);
    },
  };
}

const countAnswers = ({ created, confirmed, cancelled, accounts }: Promises): number =>
  created.size + confirmed.size + cancelled.size + accounts.size;

function workSteps(stand: Stand, url: Choose, shop: Shop, promises: Promises) {
  const { payer } = stand;
  const post = async (path: string, body?: unknown): Promise<Invoice | undefined> => {
    const { status, json } = await call(url(), 'POST', path, { shop, body });
    if (!EXPECTED.includes(status)) promises.faults.push(`${path}: ${status} ${JSON.stringify(json)}`);
    return status === 200 ? json : undefined;
  };
  const make = async () => {
    const invoice = await post('/v1/invoices', { chain: 'ton', amount: '1' });
    if (invoice) promises.created.set(invoice.id, invoice);
    return invoice;
  };
  const payInvoices = async (invoices: readonly Invoice[]) => {
    if (invoices.length === 0) return;
    for (const { id } of invoices) promises.paid.add(id);
    await payer.pay(...invoices.map((invoice) => ({ amount: nanoOf(invoice), memo: invoice.memo })));
  };
  const note = (invoice: Invoice | undefined) => {
    if (invoice?.status === 'confirmed') promises.confirmed.set(invoice.id, invoice);
    if (invoice?.status === 'cancelled') promises.cancelled.add(invoice.id);
  };
  const reserved = new Set<string>();
  let round = 0;

  return {
    async create() {
      await make();
    },
    async pay() {
      const open = [...promises.created.values()].filter(
        ({ id }) => !promises.paid.has(id) && !reserved.has(id),
      );
      const chosen = open.filter(({ id }) => !promises.cancelled.has(id)).slice(0, PAID_AT_ONCE);
      const [first] = chosen;
      await payInvoices(chosen);
      // Now and then a second payment to one memo, and one that names no invoice.
      if (first && ++round % 4 === 0)
        await payer.pay({ amount: 7_000_000n, memo: first.memo }, { amount: 30_000_000n, memo: 'UNKNOWN' });
    },
    async check() {
      const waiting = [...promises.paid].filter((id) => !promises.confirmed.has(id));
      const id = waiting[Math.floor(Math.random() * waiting.length)];
      if (id) note(await post(`/v1/invoices/${id}/check`));
    },
    /** One is cancelled, one is simulated, one is cancelled while it is being paid. */
    async endOthers() {
      for (const how of ['cancel', 'simulate', 'cancel and pay'] as const) {
        const { status, json } = await call(url(), 'POST', '/v1/invoices', {
          shop,
          body: { chain: 'ton', amount: '1' },
        });
        if (status !== 200) continue;
        reserved.add(json.id);
        promises.created.set(json.id, json);
        const ending = post(`/v1/invoices/${json.id}/${how === 'simulate' ? how : 'cancel'}`);
        const paying = how === 'cancel and pay' ? payInvoices([json]) : undefined;
        const [ended] = await Promise.allSettled([ending, paying]);
        if (ended.status === 'rejected') throw ended.reason;
        note(ended.value);
      }
    },
    async change() {
      const text = randomBytes(4).toString('hex');
      await write(promises.slug, `shop-${text}`, async (slug) => {
        await ask(url(), 'PATCH', '/api/v1/merchant/account', { shop, as: 'token', body: { slug } });
      });
      await write(promises.wallet, freshAddress('bitcoin'), async (address) => {
        const body = { blockchain: 'bitcoin', address };
        await ask(url(), 'PUT', '/api/v1/merchant/wallets', { shop, as: 'token', body });
      });
    },
    async signUp() {
      const email = `new-${randomBytes(6).toString('hex')}@example.com`;
      await ask(url(), 'POST', '/api/v1/users/signup', { body: { email, password: PASSWORD } });
      promises.accounts.add(email);
    },
  };
}

async function write(
  register: Register,
  value: string,
  send: (value: string) => Promise<void>,
): Promise<void> {
  register.tried.push(value);
  await send(value);
  Object.assign(register, { stored: value, tried: [] });
}

/** What was promised and is not so; sentences, none where every 2xx answer has survived. */
export async function brokenPromises(url: string, shop: Shop, promises: Promises): Promise<string[]> {
  const broken: string[] = [];
  const frozen = [
    'id',
    'amount',
    'memo',
    'address',
    'rate',
    'expires_at',
    'created_at',
    'external_ref',
    'qr_payload',
  ];
  for (const [id, before] of promises.created) {
    const { status, json: now } = await call(url, 'GET', `/v1/invoices/${id}`, { shop });
    if (status !== 200) broken.push(`invoice ${id} is lost: ${status}`);
    for (const member of frozen)
      if (now[member] !== before[member])
        broken.push(`${member} of ${id} was ${before[member]}, is ${now[member]}`);
    if (promises.cancelled.has(id) && now.status !== 'cancelled')
      broken.push(`cancelled ${id} is ${now.status}`);
  }
  for (const [id, before] of promises.confirmed) {
    const now = await readInvoice(url, id);
    if (now.status !== 'confirmed' || now.txid !== before.txid || now.paid_at !== before.paid_at)
      broken.push(`confirmed ${id} is ${now.status} with ${now.txid} at ${now.paid_at}`);
  }
  const account = await ask(url, 'GET', '/api/v1/merchant/account', { shop, as: 'token' });
  const { wallets } = await ask(url, 'GET', '/api/v1/merchant/wallets', { shop, as: 'token' });
  const bitcoin =
    wallets.find((one: { blockchain: string }) => one.blockchain === 'bitcoin')?.address ?? null;
  for (const [name, { stored, tried }, now] of [
    ['slug', promises.slug, account.slug],
    ['wallet', promises.wallet, bitcoin],
  ] as const)
    if (stored !== null && now !== stored && !tried.includes(now))
      broken.push(`${name} was ${stored}, is ${now}`);
  const [last] = [...promises.accounts].slice(-1);
  for (const email of [...promises.accounts].slice(0, 2).concat(last ?? []))
    await signIn(url, email).catch((error) => broken.push(String(error)));
  return broken;
}
