// Merchants who follow their feed of events page by page: each event comes once, and none is missing in the end.
import { eventPage } from '../../daemon/events/feed.ts';
import type { Books } from './books.ts';
import type { Daemon } from './daemon.ts';
import type { Random } from './random.ts';
import type { Merchant, Town } from './town.ts';
import type { World } from './world.ts';

const PAUSE_SECONDS = 0.7;
const PAGE_SIZES = [1, 3, 20] as const;
const LAST_PAGE_SIZE = 100;

export interface FeedOptions {
  world: World;
  random: Random;
  town: Town;
  books: Books;
  fail(law: string, text: string): void;
}

export class Feed {
  readonly #options: FeedOptions;
  /** Ids of the events that came, in their order, by merchant. */
  readonly #read = new Map<string, Set<string>>();
  #is_quiet = false;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /** Every merchant reads on, each at its own time. */
  follow(): void {
    for (const merchant of this.#options.town.merchants) {
      this.#read.set(merchant.id, new Set());
      this.#next(merchant);
    }
  }

  calm(): void {
    this.#is_quiet = true;
  }

  #next(merchant: Merchant): void {
    const { world, random } = this.#options;
    world.after(random.exponential(PAUSE_SECONDS) * 1000, () => void this.#turn(merchant));
  }

  async #turn(merchant: Merchant): Promise<void> {
    const { town, random } = this.#options;
    if (this.#is_quiet) return;
    const after = this.#lastOf(merchant);
    // Whatever is committed by now must come by the end of the feed.
    const committed = this.#missing(merchant);
    const query = `limit=${random.pick(PAGE_SIZES)}${after === undefined ? '' : `&after=${after}`}`;
    const reply = await town.call('GET', `/api/v1/merchant/events?${query}`, { token: merchant.token });
    if (this.#is_quiet) return;
    if (reply?.status === 200) {
      this.#take(merchant, reply.json.data as { id: string }[]);
      if (!reply.json.has_more) this.#demand(merchant, committed);
    }
    this.#next(merchant);
  }

  /** Events that are committed and were not given yet. */
  #missing({ id: merchant_id }: Merchant): string[] {
    return this.#options.books
      .rows<{ id: string }>('select id from events where merchant_id = ? order by seq', merchant_id)
      .flatMap(({ id }) => (this.#read.get(merchant_id)?.has(id) ? [] : [id]));
  }

  #demand({ id: merchant_id }: Merchant, events: readonly string[]): void {
    const lost = events.filter((id) => !this.#read.get(merchant_id)?.has(id));
    if (lost.length > 0)
      this.#options.fail(
        'feed-whole',
        `merchant ${merchant_id} read past ${lost.join(', ')} and was not given it`,
      );
  }

  #lastOf({ id }: Merchant): string | undefined {
    return [...(this.#read.get(id) ?? [])].at(-1);
  }

  #take({ id: merchant_id }: Merchant, events: readonly { id: string }[]): void {
    const read = this.#read.get(merchant_id) as Set<string>;
    for (const { id } of events) {
      if (read.has(id)) this.#options.fail('feed-once', `merchant ${merchant_id} was given ${id} again`);
      read.add(id);
    }
  }

  /** Reads to the end, and misses nothing. */
  async finish({ app }: Daemon): Promise<void> {
    const { town } = this.#options;
    if (!app) return;
    for (const merchant of town.merchants) {
      for (let has_more = true; has_more; ) {
        const page = await eventPage(app, merchant.id, {
          after: this.#lastOf(merchant),
          limit: LAST_PAGE_SIZE,
        });
        this.#take(merchant, page.data);
        has_more = page.has_more;
      }
      this.#demand(merchant, this.#missing(merchant));
    }
  }
}
