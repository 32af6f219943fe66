// Holds what the daemon says against what truly happened.
import type { Books, EventRow } from './books.ts';
import { EVM_NETWORKS } from './evm-model.ts';
import type { Broken } from './laws.ts';
import type { Bill, Model, Payment, Version } from './model.ts';
import { EDGE_MS, type Town } from './town.ts';
import type { World } from './world.ts';

const GRACE_MS = 24 * 3600 * 1000;
/** On chains that keep time a payment this long after the end is late, whatever the pause between two readings. */
const TIMELY_MS = 40_000;
export const KEEP_TIME = ['ton', 'solana', ...EVM_NETWORKS];
/** What came to an account that no one floods is stored so soon, where nothing is wrong with the provider or the daemon. */
const STORED_WITHIN_MS = 120_000;
/** Transfers of one blockchain in one commit: the largest slice, and what look-ups store alongside. */
const ROWS_AT_ONCE = 128;
/** What is on its way for so long is known to every node when the refill wallet is read. */
const READ_BEFORE_MS = 120_000;

export interface OracleOptions {
  world: World;
  town: Town;
  models: readonly Model[];
  books: Books;
  /** Whether the provider, the network and the daemon do as they should, now and before. */
  isHealthy(): boolean;
  /** Whether the daemon's clock was ever wrong by more than it is to bear. */
  clockWasWrong(): boolean;
  /** By how much the clock that it lives by has moved against true time since then, milliseconds. */
  clockMovedSince(ms: number): number;
  /** The laws of the books that are broken; all of them, or the cheap ones. */
  broken(which: 'all' | 'cheap'): Promise<Broken[]>;
  fail(law: string, text: string): void;
}

interface TransferRow {
  id: string;
  blockchain: string;
  txid: string;
  idx: string;
  chain: string;
  address_key: string;
  amount_atomic: string;
  state: string;
  disposition: string;
  invoice_id: string | null;
  booked_invoice_id: string | null;
  dust_day: bigint | null;
  earliest_at: bigint;
  latest_at: bigint;
}

interface InvoiceRow {
  id: string;
  status: string;
  txid: string | null;
  kind: string;
  amount_atomic: string;
  confirm_seconds: bigint | null;
  until_final: bigint;
  created_at: bigint;
  expires_at: bigint;
  ended_at: bigint | null;
}

export class Oracle {
  readonly #options: OracleOptions;
  /** Webhooks received, by id. */
  readonly #webhooks = new Map<string, number>();
  /** When each invoice was made, true Unix milliseconds. */
  readonly #made = new Map<string, number>();
  /** Of the payments, those that were judged for their delay, or wait for that. */
  #followed = 0;
  #awaited: Payment[] = [];

  constructor(options: OracleOptions) {
    this.#options = options;
  }

  /** A receiver was given this webhook. */
  received(webhook_id: string): void {
    const count = (this.#webhooks.get(webhook_id) ?? 0) + 1;
    this.#webhooks.set(webhook_id, count);
    if (count > 1) this.#options.fail('webhook-once', `webhook ${webhook_id} came ${count} times`);
  }

  madeAt(invoice_id: string): number | undefined {
    return this.#made.get(invoice_id);
  }

  /** As long as a commit takes, nothing else is done. */
  committed(): void {
    const count = this.#options.books.newTransfers();
    if (count > ROWS_AT_ONCE) this.#options.fail('in-slices', `${count} transfers are stored in one commit`);
  }

  /** Judges what was committed since the last time. */
  step(): void {
    const { books, isHealthy } = this.#options;
    if (isHealthy()) this.#judgeDelays();
    if (!books.changed()) return;
    for (const event of books.newEvents()) this.#judge(event);
  }

  /** One account's trouble is its own: however much comes there, what comes to the others is stored soon. */
  #judgeDelays(): void {
    const { world, town, books, fail } = this.#options;
    for (; this.#followed < town.payments.length; this.#followed++)
      this.#awaited.push(town.payments[this.#followed] as Payment);
    const first = this.#awaited[0];
    if (!first || first.sent_ms + STORED_WITHIN_MS > world.now_ms) return;
    this.#awaited.shift();
    const { blockchain, wallet, serial, versions } = first;
    const shown_ms = this.#model(blockchain).shownAt(first);
    if (shown_ms === null || town.busy.has(wallet.key) || town.traps.has(wallet.key)) return;
    // What is shown late is waited for as long.
    if (shown_ms + STORED_WITHIN_MS > world.now_ms) return void this.#awaited.push(first);
    const asked_ms = town.firstAsked(blockchain, wallet.key) ?? Number.POSITIVE_INFINITY;
    if (asked_ms > first.sent_ms) return;
    const stored = books.rows('select 1 from transfers where txid = ?', versions[0]?.txid ?? '');
    if (stored.length === 0)
      fail(
        'no-neighbour-delays',
        `payment ${serial} as ${versions[0]?.txid} is not stored after ${STORED_WITHIN_MS} ms`,
      );
  }

  #judge({ type, invoice_id, payment_id }: EventRow): void {
    const bill = this.#options.town.bills.get(invoice_id ?? '');
    this.#options.world.note(`event ${type}`, () => `event ${type} of ${invoice_id ?? payment_id}`);
    if (type === 'invoice.created' && invoice_id) this.#made.set(invoice_id, this.#options.world.now_ms);
    if (type === 'invoice.expired' && bill) this.#judgeExpired(bill);
    if (type === 'invoice.confirmed' && invoice_id) this.#judgeConfirmed(invoice_id, bill);
    if ((type === 'payment.late' || type === 'payment.unmatched') && payment_id)
      this.#judgeUnapplied(payment_id);
  }

  /** Whether the end of a bill is no longer the payers' doing alone. */
  #isExcused(bill: Bill): boolean {
    const { cancelled, resolved, changes, ends_ms } = bill.offers[0] ?? bill;
    const is_asked = cancelled || resolved || changes.unanswered > 0;
    return is_asked || this.#options.world.now_ms >= ends_ms + GRACE_MS;
  }

  #judgeExpired(bill: Bill): void {
    if (this.#isExcused(bill)) return;
    const due = this.#paidIn(bill, (payment) => this.#isSure(payment));
    if (due) this.#options.fail('in-time-never-late', `invoice ${bill.id} expired, but ${due}`);
  }

  /**
   * How the invoice was paid in time beyond doubt, in one of its coins; null where it was not. What counts is what is asked
   * for in one of them: alone, or where one transaction brings all of it and no other coin had as much at any time that may
   * have left the chain again.
   */
  #paidIn(bill: Bill, counts: (payment: Payment) => boolean): string | null {
    for (const offer of bill.offers) {
      const paid = offer.payments.filter(
        (payment) =>
          this.#isInTime(payment, offer) && counts(payment) && this.#standingFor(payment, offer) !== null,
      );
      const amounts = paid.map((each) => this.#standingFor(each, offer)?.amount ?? 0n);
      const sum = amounts.reduce((total, amount) => total + amount, 0n);
      if (paid.length === 0 || sum < offer.amount) continue;
      const others = this.#othersOf(offer);
      const is_whole = amounts.some((amount) => amount >= offer.amount);
      const is_certain = others.every(
        ({ full, payments }) => !full || payments.every((each) => this.#isSure(each)),
      );
      if (others.length === 0 || (is_whole && is_certain))
        return `${sum} of ${offer.amount} ${offer.chain} was paid in time by ${listed(paid)}`;
    }
    return null;
  }

  /** What was sent for the same invoice in its other coins, in any version, and whether that was all of it. */
  #othersOf(offer: Bill): { payments: readonly Payment[]; full: boolean }[] {
    return offer.offers.flatMap((other) => {
      if (other === offer) return [];
      // A memo of one coin names the invoice in the others, too.
      const misnamed = this.#options.town.payments.filter(
        ({ bill, kind, chain, wallet, sent_ms }) =>
          bill === null &&
          MISNAMED.includes(kind) &&
          chain === other.chain &&
          wallet.key === other.wallet.key &&
          sent_ms >= other.asked_ms,
      );
      const payments = [...other.payments, ...misnamed];
      const most = ({ versions }: Payment): bigint => versions.reduce((sum, { amount }) => sum + amount, 0n);
      const sum = payments.reduce((total, each) => total + most(each), 0n);
      return payments.length === 0 ? [] : [{ payments, full: sum >= other.amount }];
    });
  }

  /** Whether a payment for one coin of an invoice may wait in the list, because of what came in another. */
  #mayBeListed(offer: Bill, { amount }: Version): boolean {
    const others = this.#othersOf(offer);
    return amount >= offer.amount ? others.some(({ full }) => full) : others.length > 0;
  }

  /** In time beyond doubt: what is within the last seconds is one or the other. */
  #isInTime(payment: Payment, { created_ms, ends_ms, offers }: Bill): boolean {
    const model = this.#model(payment.blockchain);
    const made_ms = model.madeAt(payment);
    const first_ms = model.firstAt?.(payment) ?? made_ms;
    // The end that was promised is a time of a clock that was set since.
    const moved_ms = this.#options.clockMovedSince(offers[0]?.created_ms ?? created_ms);
    return first_ms >= created_ms + moved_ms && made_ms <= ends_ms - EDGE_MS - moved_ms;
  }

  #model(blockchain: string): Model {
    return this.#options.models.find((model) => model.blockchain === blockchain) as Model;
  }

  /** Whether a payment stands whatever comes. */
  #isSure(payment: Payment): boolean {
    return !payment.may_vanish && this.#model(payment.blockchain).isSettled(payment);
  }

  #judgeConfirmed(invoice_id: string, bill: Bill | undefined): void {
    const { books, fail } = this.#options;
    if (bill?.resolved) return;
    const rows = books.rows<TransferRow>('select * from transfers where booked_invoice_id = ?', invoice_id);
    const [invoice] = books.rows<Pick<InvoiceRow, 'amount_atomic' | 'confirm_seconds' | 'until_final'>>(
      'select amount_atomic, confirm_seconds, until_final from invoices where id = ?',
      invoice_id,
    );
    let sum = 0n;
    for (const row of rows) {
      const paid = this.#paymentOf(row);
      if (!paid) {
        fail('no-credit-without-money', `invoice ${invoice_id} books ${row.txid}, which no one has sent`);
        continue;
      }
      sum += paid.version.amount;
      const { chain, wallet } = paid.payment;
      const offer = bill?.offers.find((each) => each.chain === chain && each.wallet.key === wallet.key);
      if (bill) {
        this.#judgeTime(offer ?? bill, paid.payment);
        this.#judgeSent(offer ?? bill, paid.payment);
      }
      if (!invoice?.until_final)
        this.#judgeDepth(invoice_id, paid.payment, Number(invoice?.confirm_seconds ?? 0));
    }
    if (sum < BigInt(invoice?.amount_atomic ?? 0))
      fail(
        'no-credit-without-money',
        `invoice ${invoice_id} of ${invoice?.amount_atomic} confirmed with ${sum}`,
      );
  }

  /** Whatever a block takes, what confirms is as old as the invoice asks for; what waits until it is final has no such time. */
  #judgeDepth(invoice_id: string, payment: Payment, seconds: number): void {
    const first_ms = this.#model(payment.blockchain).firstAt?.(payment) ?? 0;
    const age_ms = this.#options.world.now_ms - first_ms;
    if (age_ms < seconds * 1000 - EDGE_MS)
      this.#options.fail(
        'deep-before-confirmed',
        `invoice ${invoice_id} is confirmed by payment ${payment.serial}, ${age_ms} ms after its block in place of ${seconds} s`,
      );
  }

  /** Where an amount names an invoice, what its payer sent before no one could know that amount is for something else. */
  #judgeSent(bill: Bill, { serial, sent_ms, blockchain }: Payment): void {
    if (bill.memo !== null || !KEEP_TIME.includes(blockchain) || this.#options.clockWasWrong()) return;
    if (sent_ms < bill.asked_ms)
      this.#options.fail(
        'paid-after-asked',
        `invoice ${bill.id} is paid by payment ${serial}, which was sent ${bill.asked_ms - sent_ms} ms before it was asked for`,
      );
  }

  /** A payment cannot be meant for an invoice that did not exist, nor, where the chain keeps time, for one long over. */
  #judgeTime(bill: Bill, payment: Payment): void {
    const { serial, blockchain } = payment;
    const { fail, clockWasWrong } = this.#options;
    const model = this.#model(blockchain);
    // Where blocks tell the time, not what was sent but what was mined is early or late.
    const first_ms = model.firstAt?.(payment) ?? payment.sent_ms;
    const last_ms = model.firstAt ? model.madeAt(payment) : payment.sent_ms;
    if (clockWasWrong()) return;
    const keeps = KEEP_TIME.includes(blockchain);
    // A payment that was in no block when the invoice was made may be seen only afterwards; before a refill, it is read.
    const before_ms = keeps ? EDGE_MS : bill.kind === 'refill' ? READ_BEFORE_MS : 3_600_000;
    if (last_ms < bill.asked_ms - before_ms)
      fail('paid-after-asked', `invoice ${bill.id} is paid by payment ${serial}, made before it existed`);
    if (keeps && first_ms > bill.ends_ms + this.#prolongedBy(bill) + TIMELY_MS)
      fail('late-is-late', `invoice ${bill.id} is paid by payment ${serial}, made after its end`);
  }

  /** How much longer it has become for a part that was paid in time, milliseconds: its usual time, once. */
  #prolongedBy({ id, usual_ms }: Bill): number {
    const { books } = this.#options;
    const [row] = books.rows<{ prolonged_at: bigint | null }>(
      'select prolonged_at from invoices where id = ?',
      id,
    );
    return row?.prolonged_at == null ? 0 : usual_ms;
  }

  #paymentOf({ txid, chain, address_key, amount_atomic }: TransferRow) {
    return this.#options.town
      .paidBy(txid)
      .find(
        ({ payment, version }) =>
          payment.chain === chain &&
          payment.wallet.key === address_key &&
          version.amount.toString() === amount_atomic,
      );
  }

  /** What is late or matches nothing must truly be so. */
  #judgeUnapplied(payment_id: string): void {
    const { books, fail } = this.#options;
    const rows = books.rows<TransferRow>('select * from transfers where payment_id = ?', payment_id);
    for (const row of rows) {
      const paid = this.#paymentOf(row);
      if (paid) this.#judgeShown(payment_id, paid.payment);
      const bill = paid?.payment.bill;
      if (!paid || !bill || !isNamed(paid.payment, paid.version, bill) || !this.#isInTime(paid.payment, bill))
        continue;
      if (this.#isExcused(bill) || row.booked_invoice_id !== null) continue;
      if (this.#mayBeListed(bill, paid.version)) continue;
      const [invoice] = books.rows<InvoiceRow>('select * from invoices where id = ?', bill.id);
      // What came alongside the payment that confirmed it, or to an invoice that got too little, is late by rights.
      if (invoice?.status === 'confirmed' || invoice?.status === 'expired') continue;
      fail(
        'in-time-never-late',
        `payment ${paid.payment.serial} (${paid.payment.kind}) to invoice ${bill.id} (${bill.chain}) is ${row.disposition} as ${row.txid}`,
      );
    }
  }

  /** Who pays on the wrong network pays the merchant who asks for it elsewhere: no one else is shown it. */
  #judgeShown(payment_id: string, { elsewhere, serial }: Payment): void {
    const { books, town, fail } = this.#options;
    const asks = elsewhere && town.merchants[elsewhere.merchant];
    const [row] = books.rows<{ status: string; owner_id: string | null }>(
      'select status, owner_id from payments where id = ?',
      payment_id,
    );
    if (asks && row?.status === 'unmatched' && row.owner_id !== null && row.owner_id !== asks.id)
      fail(
        'shown-to-the-owner',
        `payment ${serial} is shown to ${row.owner_id}, and ${asks.id} asked for it`,
      );
  }

  /** The rows behind the ids and transactions that a text names. */
  rowsOf(text: string): string[] {
    const { books } = this.#options;
    const shown: string[] = [];
    const ids = new Set(text.match(ID) ?? []);
    for (const id of ids)
      for (const [table, columns] of Object.entries(IDENTIFIED))
        for (const column of columns)
          for (const row of books.rows<Record<string, unknown>>(
            `select * from ${table} where ${column} = ?`,
            id,
          ))
            shown.push(`${table} ${JSON.stringify(row, brief)}`);
    return [...new Set(shown)];
  }

  /**
   * Whether nothing is under way any more: no invoice is open, no transfer pending, no account behind the others, every
   * payment stands or does not.
   */
  isDone(): boolean {
    const { books, town } = this.#options;
    const isOpen = "select 1 from invoices where status = 'created' limit 1";
    const isPending = "select 1 from transfers where state = 'pending' limit 1";
    if (books.rows(isOpen).length > 0 || books.rows(isPending).length > 0) return false;
    const behind = books.rows<{ address_key: string }>('select address_key from account_proofs');
    if (behind.some(({ address_key }) => !town.traps.has(address_key))) return false;
    return town.payments.every(
      (payment) => this.#model(payment.blockchain).isSettled(payment) || payment.may_vanish,
    );
  }

  /** Whether a transaction that was in a block is in none, and it is not known yet whether it comes back. */
  hasLost(): boolean {
    const is = "select 1 from transfers where state = 'pending' and height is null limit 1";
    return this.#options.books.rows(is).length > 0;
  }

  /** When the last of the open invoices ends by the daemon's clock, Unix milliseconds: one that was wrong may have made it days ahead. */
  lastEnd(): number {
    const [last] = this.#options.books.rows<{ expires_at: bigint | null }>(
      "select max(expires_at) as expires_at from invoices where status = 'created'",
    );
    return Number(last?.expires_at ?? 0) * 1000;
  }

  /** Checks the books by the code of `gatewayd verify`. */
  async laws(which: 'all' | 'cheap'): Promise<void> {
    for (const { law, text } of await this.#options.broken(which)) this.#options.fail(law, text);
  }

  /** Everything, when nothing is under way any more. */
  async finish(): Promise<void> {
    await this.laws('all');
    this.#finishBills();
    this.#finishPayments();
    this.#finishTransfers();
  }

  #finishBills(): void {
    const { town, books, fail } = this.#options;
    const rows = new Map(books.rows<InvoiceRow>('select * from invoices').map((row) => [row.id, row]));
    for (const bill of town.bills.values()) {
      const row = rows.get(bill.id);
      if (!row) {
        fail('durable', `invoice ${bill.id} was answered and is not there`);
        continue;
      }
      if (row.status === 'confirmed' || bill.cancelled || bill.resolved) continue;
      if (bill.changes.unanswered > 0) continue;
      const due = this.#paidIn(bill, () => true);
      const isHeld = this.#isHeld(bill);
      if (due !== null && !isHeld)
        fail('in-time-confirms', `invoice ${bill.id} is ${row.status}, but ${due}`);
      else if (row.status === 'created' && !isHeld)
        fail('nothing-pending', `invoice ${bill.id} (${bill.chain}) is still open`);
    }
  }

  /** Whether the limit does not cover it, or did not until its grace was over. */
  #isHeld(bill: Bill): boolean {
    const { books } = this.#options;
    const is = "select 1 from payments where invoice_id = ? and status = 'held'";
    const was =
      "select 1 from payment_logs where invoice_id = ? and from_status = 'held' and to_status = 'late'";
    return books.rows(is, bill.id).length > 0 || books.rows(was, bill.id).length > 0;
  }

  #standingFor(payment: Payment, bill: Bill): Version | null {
    const version = this.#model(payment.blockchain).standing(payment);
    return version && isNamed(payment, version, bill) ? version : null;
  }

  /** Every true credit stands in exactly one of matched, late, unmatched and dust; what names its bill is never dust. */
  #finishPayments(): void {
    const { town, books, fail } = this.#options;
    const watched = new Map<string, { since: bigint }>();
    for (const row of books.rows<{ blockchain: string; address_key: string; since: bigint }>(
      'select * from watches',
    ))
      watched.set(`${town.spaceOf(row.blockchain)} ${row.address_key}`, row);
    const dust = new Map<string, bigint>();
    const skipped = new Set<string>();
    for (const payment of town.payments) {
      const { blockchain, chain, wallet, serial, kind, bill } = payment;
      const place = `${blockchain} ${wallet.key} ${chain}`;
      const watch = watched.get(`${town.spaceOf(blockchain)} ${wallet.key}`);
      const first = town.firstAsked(blockchain, wallet.key);
      const isUnknown = !watch || first === null || payment.sent_ms < first || town.traps.has(wallet.key);
      if (isUnknown || this.#isBehind(payment) || this.#hasPassedOn(payment)) {
        skipped.add(place);
        continue;
      }
      const standing = this.#model(blockchain).standing(payment);
      for (const { txid, amount } of payment.versions) {
        const rows = books.rows<TransferRow>(
          "select * from transfers where blockchain = ? and txid = ? and chain = ? and address_key = ? and idx <> 'manual'",
          blockchain,
          txid,
          chain,
          wallet.key,
        );
        const live = rows.filter(({ state }) => state !== 'gone');
        const paid = town.paidBy(txid).filter((each) => isTo(each.payment, payment));
        const isSame = (text: string) => text === amount.toString();
        const here = live.filter(({ amount_atomic }) => isSame(amount_atomic));
        const sent = paid.filter(({ version }) => isSame(version.amount.toString()));
        if (txid === standing?.txid && (live.length !== paid.length || here.length !== sent.length))
          fail(
            'every-credit-once',
            `payment ${serial} (${kind}) of ${amount} ${chain} as ${txid} stands in ${live.length} places`,
          );
        if (txid !== standing?.txid && live.some((row) => row.state === 'final'))
          fail(
            'no-credit-without-money',
            `payment ${serial} (${kind}) as ${txid} is not on the chain, but stored as final`,
          );
        if (!here.some(({ dust_day }) => dust_day !== null)) continue;
        if (bill && standing && isNamed(payment, standing, bill))
          fail('no-payment-is-dust', `payment ${serial} (${kind}) as ${txid} names ${bill.id}`);
        if (txid === standing?.txid) dust.set(place, (dust.get(place) ?? 0n) + amount);
        // What may still come is counted until it cannot.
        else skipped.add(place);
      }
    }
    this.#finishDust(dust, skipped);
  }

  /** What is counted as dust is what truly came. */
  #finishDust(dust: ReadonlyMap<string, bigint>, skipped: ReadonlySet<string>): void {
    const { books, fail } = this.#options;
    const counted = new Map<string, bigint>();
    for (const row of books.rows<{
      blockchain: string;
      address_key: string;
      chain: string;
      amount_atomic: string;
    }>('select * from dust')) {
      const place = `${row.blockchain} ${row.address_key} ${row.chain}`;
      counted.set(place, (counted.get(place) ?? 0n) + BigInt(row.amount_atomic));
    }
    for (const place of new Set([...dust.keys(), ...counted.keys()]))
      if (!skipped.has(place) && (dust.get(place) ?? 0n) !== (counted.get(place) ?? 0n))
        fail(
          'dust-is-counted',
          `${counted.get(place) ?? 0n} of ${dust.get(place) ?? 0n} is counted at ${place}`,
        );
  }

  /** Whether coins passed through a wallet while no invoice asked for them there. */
  #hasPassedOn(payment: Payment): boolean {
    const { bill, blockchain } = payment;
    const is_asked = bill !== null && this.#isInTime(payment, bill);
    return !is_asked && this.#model(blockchain).passesOn?.(payment) === true;
  }

  /** Whether the operator is shown that more of a flooded account is still to be read. */
  #isBehind({ blockchain, chain, wallet }: Payment): boolean {
    if (!this.#options.town.flooded.has(wallet.key)) return false;
    const is =
      'select 1 from account_proofs where blockchain = ? and address_key = ? and chain = ? and trouble is not null';
    return this.#options.books.rows(is, blockchain, wallet.key, chain).length > 0;
  }

  /** Nothing is stored that no one has sent. */
  #finishTransfers(): void {
    const { town, books, fail } = this.#options;
    for (const row of books.rows<TransferRow>(
      "select * from transfers where state <> 'gone' and idx <> 'manual'",
    )) {
      if (town.paidBy(row.txid).length === 0 && !town.traps.has(row.address_key))
        fail(
          'no-credit-without-money',
          `${row.txid} (${row.amount_atomic} ${row.chain}) is stored, and no one has sent it`,
        );
      if (row.state === 'pending')
        fail('nothing-pending', `transfer ${row.txid} (${row.chain}) is still pending`);
    }
  }
}

const ID = /\b(?:[0-9a-f]{8}-[0-9a-f-]{27}|(?:0x)?[0-9a-f]{64}|[1-9A-HJ-NP-Za-km-z]{80,90})\b/g;
const IDENTIFIED: Record<string, readonly string[]> = {
  invoices: ['id'],
  transfers: ['id', 'txid', 'invoice_id'],
  payments: ['id', 'invoice_id'],
  payment_logs: ['payment_id', 'invoice_id'],
};
/** What payers send in another coin than they were asked to, with the memo that they were given. */
const MISNAMED = ['wrong_asset', 'wrong_network'];
const HIDDEN = ['exits', 'qr_payload', 'reference_keys', 'sender', 'network'];
const brief = (key: string, value: unknown): unknown =>
  HIDDEN.includes(key) ? undefined : typeof value === 'bigint' ? value.toString() : value;

/** By memo whatever was sent counts; by amount only just that. */
const isNamed = ({ names_it }: Payment, { amount }: Version, bill: Bill): boolean =>
  bill.memo === null ? amount === bill.amount : names_it;

const isTo = (one: Payment, other: Payment): boolean =>
  one.chain === other.chain && one.wallet.key === other.wallet.key;

const listed = (payments: readonly Payment[]): string =>
  payments.map(({ serial, kind, versions }) => `${serial} (${kind}, ${versions.at(-1)?.txid})`).join(', ');
