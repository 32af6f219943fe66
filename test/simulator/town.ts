// Everyone who uses the gateway: merchants, their buyers, the operator, strangers and those who mean harm.
import { builtIn, disabledGatewaysOf, gatewaysOf } from '../../src/chains/gateways.ts';
import { formatDecimal, parseDecimal } from '../../src/money.ts';
import { merchantOf, superuserOf } from '../helpers/people.ts';
import type { Caller, Daemon, Reply } from './daemon.ts';
import type { Bill, Model, Payment, Version, Wallet } from './model.ts';
import type { Action, Buying, Plan } from './plan.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

export interface Merchant {
  index: number;
  id: string;
  key: string;
  token: string;
  wallets: Map<string, Wallet>;
  /** A unit that sells on every chain. */
  unit_id: string | null;
  hostile: boolean;
}

export interface TownOptions {
  world: World;
  random: Random;
  plan: Plan;
  models: readonly Model[];
  /** A daemon that is there now. */
  daemon(): Daemon | undefined;
  /** When an invoice was made, true Unix milliseconds; undefined where that was just now. Its answer may come much later. */
  madeAt(invoice_id: string): number | undefined;
  /** Something that must never happen. */
  fail(law: string, text: string): void;
  /** Somebody has just paid. */
  paid(blockchain: string): void;
  /** A provider stops answering for so long. */
  outage(blockchain: string, ms: number): void;
}

const gateways = [...gatewaysOf('testnet'), ...disabledGatewaysOf('testnet')];
const decimalsOf = (chain: string): number => gateways.find((one) => one.chain === chain)?.decimals ?? 0;

/** Prices that come again and again, as those of units do. */
const PRICES = ['5', '10', '10', '25', '49.99', '120', '990'] as const;
const CREDIT_USD = '1000';
/** Payments this close to the end of an invoice are in time or late as the seconds are cut. */
export const EDGE_MS = 2_000;
const MOST_SQUATTED = 25;
const RETRIES = 4;
/** Small payments that strangers send at once. */
const DUST = [3, 10, 60] as const;
/** Moments of a minute at which they are sent, at most. */
const MOST_MOMENTS = 60;
const MOST_FLOODS = 2;
/** Ten-thousandths of a coin that the operator is about to be paid, and how soon that is noticed. */
const FRONT_RUN = { least: 200_000_000, most: 900_000_000 };
const NOTICED_MS = 500;
/** A provider that answers no more requests a second has not always given all in the end. */
const SLOW_REQUESTS_PER_SECOND = 4;
const isSlow = ({ requests_per_second }: Plan): boolean =>
  requests_per_second !== null && requests_per_second <= SLOW_REQUESTS_PER_SECOND;
/** With so many small payments it takes longer than a run is quiet to read an account, at a few requests a second. */
const FLOODED_BY = 300;
const NO_WALLET: Wallet = { address: '', key: '' };

export class Town {
  readonly #options: TownOptions;
  readonly #random: Random;
  readonly merchants: Merchant[] = [];
  readonly bills = new Map<string, Bill>();
  readonly payments: Payment[] = [];
  /** The versions of payments, by transaction. */
  readonly #sent = new Map<string, { payment: Payment; version: Version }[]>();
  readonly platform = new Map<string, Wallet>();
  /** Keys of addresses that are no wallets. */
  readonly traps = new Set<string>();
  /** Keys of wallets that strangers send little to: it takes longer to read them … */
  readonly busy = new Set<string>();
  /** … and of those that they send so much to that it may not be read in the end. */
  readonly flooded = new Set<string>();
  /** Payments by wallet: the small ones, and all where the provider answers few requests. */
  readonly #received = new Map<string, number>();
  #operator: { id: string; token: string } = { id: '', token: '' };
  #operator_income: { chain: string; amount: bigint }[] = [];
  readonly #asked = new Map<string, number>();
  #quiet = false;
  #serial = 0;
  #floods = 0;

  constructor(options: TownOptions) {
    this.#options = options;
    this.#random = options.random;
    for (const [id, wallet] of this.#newWallets(true)) this.platform.set(id, wallet);
  }

  /** One of each blockchain; where `shares`, the same one on those that have the same addresses. */
  #newWallets(shares: boolean): Map<string, Wallet> {
    const by_space = new Map<string, Wallet>();
    return new Map(
      this.#options.models.map((model) => {
        const { blockchain, space = blockchain } = model;
        const wallet = (shares ? by_space.get(space) : undefined) ?? model.newWallet();
        by_space.set(space, wallet);
        return [blockchain, wallet];
      }),
    );
  }

  /** What names the addresses of a blockchain, and of all that share them. */
  spaceOf(blockchain: string): string {
    return this.#options.models.find((model) => model.blockchain === blockchain)?.space ?? blockchain;
  }

  get #world(): World {
    return this.#options.world;
  }

  /** Settings that name the operator's own wallets. */
  get settings(): Record<string, string> {
    return Object.fromEntries([...this.platform].map(([id, { address }]) => [`wallets.${id}`, address]));
  }

  /** Opens the accounts. */
  async found({ app }: Daemon): Promise<void> {
    if (!app) return;
    const { plan } = this.#options;
    this.#operator = await superuserOf(app, 'operator@example.com');
    for (let index = 0; index < plan.merchants + plan.hostile_merchants; index++) {
      const wallets = this.#newWallets(index % 2 === 0);
      const addresses = Object.fromEntries([...wallets].map(([id, { address }]) => [id, address]));
      const { id, key, token } = await merchantOf(app, `merchant${index}@example.com`, addresses);
      const hostile = index >= plan.merchants;
      this.merchants.push({ index, id, key, token, wallets, unit_id: null, hostile });
    }
  }

  /** Sets prices, webhooks and limits, over HTTP as everyone does. */
  async furnish(): Promise<void> {
    const { plan } = this.#options;
    for (const merchant of this.merchants) {
      const { token, index } = merchant;
      const webhook = {
        webhook_url: `https://shop${index}.example/hook`,
        webhook_secret: `secret of ${index}`,
      };
      if (!this.#random.chance(0.2)) await this.call('PATCH', '/api/v1/merchant/account', { token }, webhook);
      const unit = {
        title: `Offer ${index}`,
        amount_usd: this.#random.pick(PRICES),
        currencies: this.#options.models.flatMap(({ chains }) => chains),
        wait_seconds: 300,
      };
      const made = await this.call('POST', '/api/v1/merchant/units', { token }, unit);
      merchant.unit_id = made?.status === 200 ? (made.json.id as string) : null;
      if (!merchant.hostile && !this.#random.chance(plan.poor)) await this.#credit(merchant);
    }
  }

  /** The payments that a transaction makes. */
  paidBy(txid: string): readonly { payment: Payment; version: Version }[] {
    return this.#sent.get(txid) ?? [];
  }

  #addVersion(payment: Payment, version: Version): void {
    this.#sent.set(version.txid, [...(this.#sent.get(version.txid) ?? []), { payment, version }]);
  }

  /** When an address was first asked to be paid to, true Unix milliseconds; null: never. */
  firstAsked(blockchain: string, key: string): number | null {
    return this.#asked.get(`${this.spaceOf(blockchain)} ${key}`) ?? null;
  }

  /** From now on no one does anything new. */
  calm(): void {
    this.#quiet = true;
  }

  /** Everyone acts at their own time. */
  live(): void {
    const { plan } = this.#options;
    const next = () => {
      this.#world.after(this.#random.exponential(plan.action_seconds) * 1000, () => {
        if (this.#quiet) return;
        void this.#act(this.#random.weighted(plan.actions));
        next();
      });
    };
    next();
  }

  async #act(action: Action): Promise<void> {
    if (this.#options.plan.off.has(`actions.${action}`)) return;
    this.#world.note(`act ${action}`);
    const actions: Record<Action, () => Promise<unknown> | undefined> = {
      invoice: () => this.#sell(this.#random.pick(this.#honest())),
      checkout: () => this.#checkout(this.#random.pick(this.#honest())),
      refill: () => this.#refill(this.#random.pick(this.#honest()), null),
      credit: () => this.#credit(this.#random.pick(this.#honest())),
      check: () => this.#check(this.#openBill()),
      cancel: () => this.#cancel(this.#openBill()),
      switch: () => this.#switch(this.#openBill()),
      resolve: () => this.#resolve(this.#anyBill()),
      read: () => this.#read(),
      operator_income: async () => this.#earn(),
      dust: () => this.#dust(),
      flood: () => this.#flood(),
      outage: async () => this.#outage(),
      lie: async () => this.#lie(),
      trap: () => this.#trap(),
      squat: () => this.#squat(),
      squat_elsewhere: () => this.#squatElsewhere(),
      mint_credit: () => this.#mintCredit(),
      front_run: () => this.#frontRun(),
      claim: () => this.#claim(),
      claim_invented: () => this.#claimInvented(),
    };
    await actions[action]();
  }

  /** What was planned is left undone once everyone is quiet. */
  #later(ms: number, work: () => void): void {
    this.#world.after(ms, () => {
      if (!this.#quiet) work();
    });
  }

  #honest(): Merchant[] {
    return this.merchants.filter(({ hostile }) => !hostile);
  }

  #villain(): Merchant | undefined {
    const villains = this.merchants.filter(({ hostile }) => hostile);
    return villains.length > 0 ? this.#random.pick(villains) : undefined;
  }

  #model(chain: string): Model {
    return this.#options.models.find(({ chains }) => chains.includes(chain)) as Model;
  }

  #anyChain(): string {
    return this.#random.pick(this.#random.pick(this.#options.models).chains);
  }

  #anyBill(): Bill | undefined {
    const all = [...this.bills.values()];
    return all.length === 0 ? undefined : all[Math.max(0, all.length - this.#random.int(1, 40))];
  }

  #openBill(): Bill | undefined {
    const bill = this.#anyBill();
    return bill && bill.ends_ms > this.#world.now_ms ? bill : undefined;
  }

  /** One call over HTTP, sent again a few times where the daemon is not there; undefined where it stays away. */
  async call(method: string, path: string, caller: Caller, body?: unknown): Promise<Reply | undefined> {
    for (let attempt = 0; attempt < RETRIES; attempt++) {
      const reply = (await this.#options.daemon()?.fetch(method, path, caller, body)) ?? 'lost';
      if (reply !== 'lost') {
        this.#world.note(`${method} ${reply.status}`, () => {
          const reported = JSON.stringify(reply.json).slice(0, 200);
          return `${method} ${path} ${JSON.stringify(body ?? null)} → ${reply.status} ${reported}`;
        });
        if (reply.status >= 500 && reply.status !== 503)
          this.#options.fail('no-bug', `${method} ${path} answered ${reply.status}`);
        if (reply.status !== 503 && reply.json?.code !== 'idempotency_in_progress') return reply;
      }
      // Without a key a repetition may make a second thing: then it is not repeated.
      if (method === 'POST' && !caller.idempotency_key) return undefined;
      await this.#world.sleep(1_000 + this.#random.unit() * 20_000);
    }
    return undefined;
  }

  async #sell(
    merchant: Merchant,
    chain = this.#anyChain(),
    amount: string = this.#random.pick(PRICES),
  ): Promise<Bill | null> {
    const idempotency_key = this.#random.chance(0.5) ? `key ${++this.#serial}` : undefined;
    const caller = { key: merchant.key, idempotency_key };
    const payable_with = this.#options.models.flatMap(({ chains }) => chains);
    const reply = await this.call('POST', '/v1/invoices', caller, { chain, amount, payable_with });
    return reply?.status === 200 ? this.#bill(merchant, reply, 'sale') : null;
  }

  async #checkout(merchant: Merchant): Promise<void> {
    if (!merchant.unit_id) return;
    const caller = { ip: `203.0.113.${this.#random.int(1, 250)}`, idempotency_key: `buy ${++this.#serial}` };
    const path = `/v1/units/${merchant.unit_id}/checkout`;
    const reply = await this.call('POST', path, caller, { chain: this.#anyChain() });
    if (reply?.status === 200) this.#bill(merchant, reply, 'sale');
  }

  async #refill(merchant: Merchant, native: { chain: string; amount: string } | null): Promise<Bill | null> {
    const chain = native?.chain ?? this.#anyChain();
    const body = native
      ? { chain, amount: native.amount, amount_unit: 'native' }
      : { chain, amount: this.#random.pick(PRICES) };
    const caller = { token: merchant.token, idempotency_key: `refill ${++this.#serial}` };
    const reply = await this.call('POST', '/api/v1/merchant/refill', caller, body);
    return reply?.status === 200 ? this.#bill(merchant, reply, 'refill', native === null) : null;
  }

  /** What was asked for, and a buyer for it. */
  #bill(merchant: Merchant, { json }: Reply, kind: Bill['kind'], has_buyer = !merchant.hostile): Bill {
    const known = this.bills.get(json.id);
    if (known) return known;
    const { blockchain } = this.#model(json.chain);
    const wallet = kind === 'refill' ? this.platform.get(blockchain) : merchant.wallets.get(blockchain);
    const created_ms = this.#options.madeAt(json.id) ?? this.#world.now_ms;
    const usual_ms = (json.expires_at - json.created_at) * 1000;
    const bill: Bill = {
      id: json.id,
      merchant: merchant.index,
      kind,
      chain: json.chain,
      blockchain,
      wallet: wallet ?? NO_WALLET,
      amount: parseDecimal(json.amount, decimalsOf(json.chain)) ?? 0n,
      memo: json.memo,
      reference: /[?&]reference=([^&]+)/.exec(json.qr_payload)?.[1] ?? null,
      volume_micros: parseDecimal(json.amount_usd, 6) ?? 0n,
      asked_ms: created_ms,
      created_ms,
      ends_ms: created_ms + usual_ms,
      usual_ms,
      payments: [],
      offers: [],
      changes: { unanswered: 0 },
      cancelled: false,
      resolved: false,
    };
    bill.offers.push(bill);
    this.bills.set(bill.id, bill);
    const place = `${this.spaceOf(blockchain)} ${bill.wallet.key}`;
    this.#asked.set(place, this.#asked.get(place) ?? created_ms);
    if (has_buyer) this.#buy(bill);
    return bill;
  }

  #buy(bill: Bill): void {
    const { plan } = this.#options;
    const drawn = this.#random.weighted(plan.buying);
    const buying = plan.off.has(`buying.${drawn}`) ? 'exact' : drawn;
    this.#world.note(
      `buy ${buying}`,
      () => `${bill.id} (${bill.chain} ${bill.amount} ${bill.memo}): ${buying}`,
    );
    const time_ms = bill.ends_ms - bill.created_ms;
    const at = (share: number, work: () => void) =>
      this.#later(Math.max(500, share * time_ms - 2 * EDGE_MS), work);
    const soon = this.#random.unit() * 0.9;
    const part = (bill.amount * BigInt(this.#random.int(10, 90))) / 100n + 1n;
    const pay = (amount: bigint, extra: Partial<PayOptions> = {}) =>
      this.#pay(bill, { kind: buying, amount, ...extra });
    const steps: Record<Buying, () => void> = {
      nothing: () => {},
      exact: () => void at(soon, () => pay(bill.amount)),
      under: () => void at(soon, () => pay(part)),
      topped_up: () => {
        at(soon, () => pay(part));
        at(soon + (1 - soon) * this.#random.unit(), () => pay(bill.amount - part));
      },
      over: () => void at(soon, () => pay(bill.amount + part)),
      twice: () => {
        at(soon, () => pay(bill.amount));
        at(soon + 0.3 * this.#random.unit(), () => pay(bill.amount));
      },
      late: () => void at(1.1 + 2 * this.#random.unit(), () => pay(bill.amount)),
      last_moment: () => {
        this.#later(time_ms - EDGE_MS - this.#random.unit() * 5_000, () => pay(bill.amount));
      },
      no_memo: () => void at(soon, () => pay(bill.amount, { memo: null, reference: null })),
      other_memo: () => {
        const other = this.#openBill();
        // Where no memo names an invoice, it is its amount that is paid.
        const meant = bill.memo === null ? bill : other;
        at(soon, () => pay(bill.amount, { memo: meant?.memo ?? null, meant, reference: null }));
      },
      wrong_asset: () => {
        const chain = this.#random.pick(this.#model(bill.chain).chains);
        at(soon, () => pay(bill.amount, { chain }));
      },
      reference_only: () => void at(soon, () => pay(bill.amount, { memo: null })),
      forwarded: () => void at(soon, () => pay(bill.amount, { forwards: true })),
      bumped: () => this.#bump(bill, { kind: buying, first: bill.amount, at: soon, again: soon + 0.2 }),
      // Paid so late that it is in no block yet when the time is over, and bumped when lists of after the end lacked it.
      bumped_late: () => {
        const share = (ms: number): number => ms / time_ms;
        const [first, again] = [
          share(-this.#random.unit() * 60_000),
          share(60_000 + this.#random.unit() * 120_000),
        ];
        this.#bump(bill, { kind: buying, first: bill.amount, at: 1 + first, again: 1 + again });
      },
      bumped_to_exact: () => this.#bump(bill, { kind: buying, first: part, at: soon, again: soon + 0.05 }),
      taken_back: () => {
        at(soon, () => {
          const payment = pay(bill.amount);
          payment.may_vanish = true;
          this.#later(this.#random.unit() * 120_000, () => this.#model(bill.chain).takeBack(payment));
        });
      },
      // Where a memo names the invoice, one amount of many names none.
      batched: () => void at(soon, () => (bill.memo === null ? this.#payMany(bill) : pay(bill.amount))),
      wrong_network: () => {
        const other = this.#elsewhere(bill);
        at(soon, () =>
          pay(other?.amount ?? bill.amount, other ? { chain: other.chain, elsewhere: bill } : {}),
        );
      },
    };
    steps[buying]();
  }

  #bump(
    bill: Bill,
    { kind, first, at, again }: { kind: string; first: bigint; at: number; again: number },
  ): void {
    const time_ms = bill.ends_ms - bill.created_ms;
    this.#later(Math.max(500, at * time_ms - 2 * EDGE_MS), () => {
      const payment = this.#pay(bill, { kind, amount: first });
      this.#later(Math.max(500, (again - at) * time_ms), () => {
        const version = this.#model(bill.chain).bump(payment, bill.amount);
        if (!version) return;
        payment.versions.push(version);
        this.#addVersion(payment, version);
        this.#world.note(
          `bump ${payment.serial}`,
          () => `payment ${payment.serial} bumped to ${version.txid}`,
        );
      });
    });
  }

  #pay(bill: Bill, options: PayOptions): Payment {
    const chain = options.chain ?? bill.chain;
    const memo = options.memo === undefined ? bill.memo : options.memo;
    const reference = options.reference === undefined ? bill.reference : options.reference;
    const model = this.#model(chain);
    const order = { chain, wallet: bill.wallet, amount: options.amount, memo, reference };
    const version = model.pay(order, { forwards: options.forwards ?? false });
    const meant = options.meant ?? bill;
    const isHere = meant.chain === chain && meant.wallet.key === bill.wallet.key;
    const names_it =
      isHere &&
      (meant.memo === null
        ? options.amount === meant.amount
        : memo === meant.memo || (memo === null && reference !== null && reference === meant.reference));
    return this.#noted({
      kind: options.kind,
      elsewhere: options.elsewhere,
      chain,
      wallet: bill.wallet,
      bill: isHere && (names_it || meant.memo === null) ? meant : null,
      names_it,
      versions: [version],
    });
  }

  /** The same in the same asset, on another blockchain that has this address. */
  #elsewhere({ chain, amount }: Bill): { chain: string; amount: bigint } | null {
    const played = this.#options.models.flatMap(({ chains }) => chains);
    const others = builtIn.sameAssetElsewhere(chain).filter((each) => played.includes(each.chain));
    if (others.length === 0) return null;
    const other = this.#random.pick(others);
    const more = other.decimals - decimalsOf(chain);
    return {
      chain: other.chain,
      amount: more < 0 ? amount / 10n ** BigInt(-more) : amount * 10n ** BigInt(more),
    };
  }

  /** Who pays out to many at once pays it, another bill and something else in one transaction. */
  #payMany(bill: Bill): void {
    const { chain } = bill;
    const model = this.#model(chain);
    const others = Array.from({ length: this.#random.int(1, 3) }, () => this.#openBill());
    const bills = [bill, ...others.filter((each) => each?.chain === chain)] as Bill[];
    const unnamed = { memo: null, reference: null };
    const orders = bills.map(({ wallet, amount }) => ({ chain, wallet, amount, ...unnamed }));
    if (this.#random.chance(0.5)) {
      const amount = (bill.amount * BigInt(this.#random.int(1, 99))) / 100n + 1n;
      orders.splice(this.#random.int(0, orders.length), 0, {
        ...unnamed,
        chain,
        wallet: bill.wallet,
        amount,
      });
    }
    const versions = model.payMany?.(orders) ?? orders.map((order) => model.pay(order));
    for (const [at, { wallet, amount }] of orders.entries()) {
      const meant = bills.find((each) => each.wallet.key === wallet.key && each.amount === amount) ?? null;
      this.#noted({
        kind: 'batched',
        chain,
        wallet,
        bill: meant ?? bill,
        names_it: meant !== null,
        versions: [versions[at] as Version],
      });
    }
  }

  #noted({ elsewhere = null, ...made }: Made): Payment {
    const { blockchain } = this.#model(made.chain);
    const sent_ms = this.#world.now_ms;
    const serial = ++this.#serial;
    const payment: Payment = { ...made, elsewhere, serial, blockchain, sent_ms, may_vanish: false };
    this.payments.push(payment);
    payment.bill?.payments.push(payment);
    if (isSlow(this.#options.plan)) this.#countReceived(payment.wallet, 1);
    this.#options.paid(blockchain);
    const [version] = payment.versions;
    if (version) this.#addVersion(payment, version);
    this.#world.note(`pay ${payment.kind}`, () => {
      const of = `${version?.amount} ${payment.chain} to ${payment.wallet.key}`;
      return `payment ${payment.serial} (${payment.kind}): ${of} for ${payment.bill?.id} as ${version?.txid}`;
    });
    return payment;
  }

  async #credit(merchant: Merchant): Promise<void> {
    const caller = { token: this.#operator.token, idempotency_key: `credit ${++this.#serial}` };
    const path = `/api/v1/admin/merchants/${merchant.id}/credit`;
    await this.call('POST', path, caller, { prepaid_usd: CREDIT_USD, note: 'for the simulator' });
  }

  async #check(bill: Bill | undefined): Promise<void> {
    const merchant = bill && bill.kind === 'sale' ? this.merchants[bill.merchant] : undefined;
    if (bill && merchant) await this.call('POST', `/v1/invoices/${bill.id}/check`, { key: merchant.key });
  }

  async #cancel(bill: Bill | undefined): Promise<void> {
    if (!bill) return;
    bill.cancelled = true;
    const reply = await this.call('POST', `/v1/invoices/${bill.id}/cancel`, { ip: '203.0.113.9' });
    // Refused, it is as if no one had asked.
    if (reply?.status === 409) bill.cancelled = false;
  }

  /** Another coin: who was about to pay the first one does so all the same, and someone pays the new one. */
  async #switch(bill: Bill | undefined): Promise<void> {
    const merchant = bill && this.merchants[bill.merchant];
    if (!bill || !merchant || merchant.hostile || bill.kind === 'refill') return;
    const { offers, changes } = bill;
    const chain = this.#anyChain();
    const asked_ms = this.#world.now_ms;
    changes.unanswered++;
    const reply = await this.call('POST', `/v1/invoices/${bill.id}/switch`, { ip: '203.0.113.9' }, { chain });
    if (reply) changes.unanswered--;
    if (reply?.status !== 200) return;
    const { blockchain } = this.#model(chain);
    const { json } = reply;
    const ends_ms = Math.max(bill.ends_ms, bill.created_ms + (json.expires_at - json.created_at) * 1000);
    for (const offer of offers) offer.ends_ms = ends_ms;
    if (offers.some((offer) => offer.chain === chain)) return;
    const next: Bill = {
      ...bill,
      chain,
      blockchain,
      wallet: merchant.wallets.get(blockchain) ?? NO_WALLET,
      amount: parseDecimal(json.amount, decimalsOf(chain)) ?? 0n,
      memo: json.memo,
      reference: /[?&]reference=([^&]+)/.exec(json.qr_payload)?.[1] ?? null,
      asked_ms,
      created_ms: this.#world.now_ms,
      ends_ms,
      payments: [],
    };
    offers.push(next);
    const place = `${this.spaceOf(blockchain)} ${next.wallet.key}`;
    this.#asked.set(place, this.#asked.get(place) ?? this.#world.now_ms);
    this.#buy(next);
  }

  async #resolve(bill: Bill | undefined): Promise<void> {
    if (!bill) return;
    bill.resolved = true;
    const txid = bill.payments.at(-1)?.versions.at(-1)?.txid ?? null;
    const action = this.#random.pick(['recheck', 'expire', 'fail', 'confirm', 'confirm']);
    const body = action === 'confirm' ? { action, txid } : { action };
    await this.call(
      'POST',
      `/api/v1/admin/payments/${bill.id}/resolve`,
      { token: this.#operator.token },
      body,
    );
  }

  async #read(): Promise<void> {
    const merchant = this.#random.pick(this.merchants);
    const { token, key } = merchant;
    await this.call('GET', '/api/v1/merchant/events?limit=20', { token });
    await this.call('GET', '/v1/invoices?limit=10', { key });
    await this.call('GET', '/api/v1/admin/observers', { token: this.#operator.token });
  }

  /** The operator is paid for something else. */
  #earn(
    chain = this.#anyChain(),
    amount = BigInt(this.#random.int(1_000, 90_000)) * 10n ** BigInt(decimalsOf(chain) - 5),
  ): void {
    const wallet = this.platform.get(this.#model(chain).blockchain) as Wallet;
    const version = this.#model(chain).pay({ chain, wallet, amount, memo: null, reference: null });
    this.#noted({ kind: 'operator_income', chain, wallet, bill: null, names_it: false, versions: [version] });
    this.#operator_income.push({ chain, amount });
  }

  /**
   * Who sees in the public pool what the operator is about to be paid asks for a refill of just as much, before it is in a
   * block: as few digits as may be asked for, and so much that an amount which is drawn near it is as good as never the same.
   */
  async #frontRun(): Promise<void> {
    const chain = this.#anyChain();
    const { least, most } = FRONT_RUN;
    this.#earn(chain, BigInt(this.#random.int(least, most)) * 10n ** BigInt(decimalsOf(chain) - 4));
    await this.#world.sleep(this.#random.int(1, NOTICED_MS));
    await this.#mintCredit();
  }

  /** Who sees what the operator is paid asks for a refill of just as much. */
  async #mintCredit(): Promise<void> {
    const villain = this.#villain();
    const income = this.#operator_income.pop();
    if (!villain || !income) return;
    const amount = formatDecimal(income.amount, decimalsOf(income.chain));
    await this.#refill(villain, { chain: income.chain, amount });
  }

  async #dust(): Promise<void> {
    const villain = this.#villain() ?? this.#random.pick(this.merchants);
    const model = this.#random.pick(this.#options.models);
    const wallet = villain.wallets.get(model.blockchain);
    if (!wallet || this.traps.has(wallet.key)) return;
    // Only what is asked to be paid to is read.
    if (this.firstAsked(model.blockchain, wallet.key) === null)
      await this.#sell(villain, this.#random.pick(model.chains));
    this.#sendDust(model, wallet, this.#random.pick(DUST));
  }

  /** A merchant gives a stranger's busy wallet as his own, and asks for one payment to it. */
  async #flood(): Promise<void> {
    const villain = this.#villain();
    const models = this.#options.models.filter(({ flood }) => flood > 0);
    if (!villain || models.length === 0 || this.#floods >= MOST_FLOODS) return;
    this.#floods++;
    const model = this.#random.pick(models);
    const wallet = model.newWallet();
    if (!(await this.#setWallet(villain, model.blockchain, wallet))) return;
    await this.#sell(villain, this.#random.pick(model.chains));
    this.flooded.add(wallet.key);
    this.#sendDust(model, wallet, model.flood);
  }

  #countReceived(wallet: Wallet, count: number): void {
    const received = (this.#received.get(wallet.key) ?? 0) + count;
    this.#received.set(wallet.key, received);
    if (received >= FLOODED_BY) this.flooded.add(wallet.key);
  }

  /** Small payments of a minute, some of them at a time where there are many. */
  #sendDust(model: Model, wallet: Wallet, count: number): void {
    this.busy.add(wallet.key);
    this.#countReceived(wallet, count);
    const at_once = Math.ceil(count / MOST_MOMENTS);
    for (let sent = 0; sent < count; sent += at_once)
      this.#later(this.#random.unit() * 60_000, () => {
        for (let each = sent; each < Math.min(count, sent + at_once); each++) {
          const dust = model.dust(wallet);
          if (!dust) continue;
          const { chain, version } = dust;
          this.#noted({ kind: 'dust', chain, wallet, bill: null, names_it: false, versions: [version] });
        }
      });
  }

  #outage(): void {
    const { blockchain } = this.#random.pick(this.#options.models);
    this.#options.outage(blockchain, this.#random.unit() * this.#options.plan.outage_seconds * 1000);
  }

  #lie(): void {
    const bill = this.#openBill();
    if (bill) this.#model(bill.chain).lie(bill, 60_000);
  }

  async #setWallet(merchant: Merchant, blockchain: string, wallet: Wallet): Promise<boolean> {
    const body = { blockchain, address: wallet.address };
    const reply = await this.call('PUT', '/api/v1/merchant/wallets', { token: merchant.token }, body);
    if (reply?.status === 200) merchant.wallets.set(blockchain, wallet);
    return reply?.status === 200;
  }

  /** A merchant gives as his own wallet what is part of another's. */
  async #trap(): Promise<void> {
    const villain = this.#villain();
    const model = this.#random.pick(this.#options.models);
    const victim = this.#random.pick(this.#honest()).wallets.get(model.blockchain);
    const traps = victim ? model.traps(victim) : [];
    if (!villain || traps.length === 0) return;
    const trap = this.#random.pick(traps);
    this.traps.add(trap.key);
    if (!(await this.#setWallet(villain, model.blockchain, trap))) return;
    for (const chain of model.chains) await this.#sell(villain, chain, '10');
  }

  /** A merchant gives another's wallet as his own, and asks for every amount that the other asks for. */
  async #squat(): Promise<void> {
    const villain = this.#villain();
    const bill = this.#openBill();
    if (!villain || !bill || bill.kind !== 'sale' || this.traps.has(bill.wallet.key)) return;
    if (!(await this.#setWallet(villain, bill.blockchain, bill.wallet))) return;
    const price = this.#random.pick(PRICES);
    const count = this.#random.int(1, MOST_SQUATTED);
    for (let each = 0; each < count; each++) await this.#sell(villain, bill.chain, price);
  }

  /** A merchant gives another's wallet as his own on a network where that one sells nothing now, and makes one invoice there. */
  async #squatElsewhere(): Promise<void> {
    const villain = this.#villain();
    const bill = this.#openBill();
    const other = bill?.kind === 'sale' ? this.#elsewhere(bill) : null;
    if (!villain || !bill || !other || this.merchants[bill.merchant] === villain) return;
    if (!(await this.#setWallet(villain, this.#model(other.chain).blockchain, bill.wallet))) return;
    await this.#sell(villain, other.chain, '990');
  }

  /** A payer names a transaction: what was sent for the invoice, or for another; it may be on a branch by then. */
  async #claim(): Promise<void> {
    const bill = this.#openBill();
    const payments = this.#random.chance(0.7) ? bill?.payments : this.payments.slice(-20);
    if (!bill || !payments || payments.length === 0) return;
    const { versions } = this.#random.pick(payments);
    await this.#claimTransaction(bill, this.#random.pick(versions).txid);
  }

  /** A payer names what was never sent, and the provider shows it to who asks for just that. */
  async #claimInvented(): Promise<void> {
    const bill = this.#openBill();
    const txid = bill && this.#model(bill.chain).invent?.(bill, 40_000);
    if (bill && txid) await this.#claimTransaction(bill, txid);
  }

  async #claimTransaction({ id }: Bill, txid: string): Promise<void> {
    const caller = {
      ip: `203.0.113.${this.#random.int(1, 250)}`,
      idempotency_key: `claim ${++this.#serial}`,
    };
    await this.call('POST', `/v1/invoices/${id}/claim`, caller, { txid });
  }
}

/** What is known of a payment when it is made. */
type Made = Pick<Payment, 'kind' | 'chain' | 'wallet' | 'bill' | 'names_it' | 'versions'> & {
  elsewhere?: Bill | null | undefined;
};

interface PayOptions {
  kind: string;
  amount: bigint;
  chain?: string;
  memo?: string | null;
  reference?: string | null;
  /** The bill that its memo names. */
  meant?: Bill | undefined;
  /** The bill that asks for it on another network. */
  elsewhere?: Bill;
  forwards?: boolean;
}
