// The rows of a list: a window on it of bounded size, loaded page by page, moved on at its ends, and read again so that it
// stays true.
import { Rounds } from './poll.ts';

/** The largest page the service gives. */
export const PAGE = 200;
/** Rows of the page before that a page repeats: they show that nothing lies between the two. */
const OVERLAP = 5;
/** Rows held at most. */
export const MAX_ROWS = 10_000;
/** Rows that a list keeps while another view is shown. */
const REMAINING = 1_000;
/** Pages read again in one round for rows in view that lie far apart, as a filter leaves them. */
const MAX_VIEW_PAGES = 4;
/** Pages that are read until they meet what is held, before all of it is read again. */
const MAX_NEW_PAGES = 5;
/** So near to an end of the window the next page is read. */
const NEAR_END = 100;

/** Where a page begins: how many rows lie before it, and which is the last of them. */
export interface From<Row> {
  skip: number;
  after: Row | undefined;
  limit: number;
}

export interface Page<Row> {
  rows: readonly Row[];
  has_more: boolean;
}

export interface Source<Row> {
  keyOf(row: Row): string;
  read(from: From<Row>): Promise<Page<Row>>;
}

interface Dropped<Row> {
  count: number;
  /** The last row before what was dropped. */
  after: Row | undefined;
}

export class Rows<Row> {
  rows: readonly Row[] = [];
  /** Whether there are rows behind the last one. */
  has_more = false;
  /** Whether a first answer is still awaited, or the window is being filled. */
  loading = true;
  readonly rounds: Rounds;
  readonly #source: Source<Row>;
  readonly #inView: () => readonly Row[];
  readonly #changed: () => void;
  readonly #read_at = new Map<string, number>();
  #newest_at = 0;
  /** What was held above the window, page by page. */
  #above: Dropped<Row>[] = [];
  #last_above: Row | undefined;
  #turn = 0;
  #isFilled = false;
  #wanted: 'before' | 'behind' | undefined;

  constructor(
    source: Source<Row>,
    options: { refresh_ms: number; inView: () => readonly Row[]; changed: () => void },
  ) {
    this.#source = source;
    this.#inView = options.inView;
    this.#changed = options.changed;
    this.rounds = new Rounds(() => this.#round(), options.refresh_ms, options.changed);
  }

  /** How many rows of the list lie above the window. */
  get before(): number {
    return this.#above.reduce((sum, { count }) => sum + count, 0);
  }

  /** When the oldest reading of these rows was, Unix seconds; of the newest page where none is known. */
  readAt(rows: readonly Row[]): number {
    const times = rows.flatMap((row) => this.#read_at.get(this.#source.keyOf(row)) ?? []);
    return times.length > 0 ? Math.min(...times) : this.#newest_at;
  }

  /** Reads on at an end of the window that a place is near to. */
  near(index: number): void {
    const wanted =
      index >= this.rows.length - NEAR_END && this.has_more && this.#isFilled
        ? 'behind'
        : index < NEAR_END && this.#above.length > 0
          ? 'before'
          : undefined;
    if (wanted === undefined) return;
    this.#wanted = wanted;
    this.rounds.again();
  }

  /** Whether the first row held is the first of the list; if not, it is read again from there. */
  toTop(): boolean {
    if (this.#above.length === 0) return true;
    this.#reset();
    this.rounds.again();
    return false;
  }

  /** Puts a row that was changed here in the place of the old one, and reads again. */
  put(row: Row): void {
    const key = this.#source.keyOf(row);
    this.rows = this.rows.map((other) => (this.#source.keyOf(other) === key ? row : other));
    this.rounds.again();
  }

  /** Reads no more, and gives up what is far from the first rows. */
  stop(): void {
    this.rounds.stop();
    if (this.rows.length <= REMAINING) return;
    for (const row of this.rows.slice(REMAINING)) this.#read_at.delete(this.#source.keyOf(row));
    this.rows = this.rows.slice(0, REMAINING);
    this.has_more = true;
    this.#isFilled = false;
    this.#turn = 0;
  }

  #reset(): void {
    this.#above = [];
    this.#last_above = undefined;
    this.rows = [];
    this.#read_at.clear();
    this.#isFilled = false;
    this.loading = true;
    this.#turn = 0;
  }

  async #round(): Promise<void> {
    if (this.#wanted !== undefined) return this.#move();
    if (this.#above.length === 0) await this.#readNewest();
    this.#dropEnd();
    if (!this.#isFilled) return this.#fill();
    for (const index of this.#pagesInView()) await this.#readAt(index);
    if (this.#turn >= this.rows.length) this.#turn = 0;
    if (this.rows.length > PAGE) {
      const page = await this.#readAt(this.#turn);
      this.#turn += Math.max(1, page.rows.length - OVERLAP);
    }
  }

  /** What is new at the top, up to what is held; where they do not meet, all is read again. */
  async #readNewest(): Promise<void> {
    const known = new Set(this.rows.map((row) => this.#source.keyOf(row)));
    let fresh: readonly Row[] = [];
    for (let count = 0; count < MAX_NEW_PAGES; count += 1) {
      const page = await this.#ask(fresh.length, fresh.at(-1));
      fresh = [...fresh, ...page.rows];
      const isMet = page.rows.some((row) => known.has(this.#source.keyOf(row)));
      if (!page.has_more || isMet || known.size === 0) {
        this.#newest_at = Date.now() / 1000;
        return this.#take({ rows: fresh, has_more: page.has_more }, true);
      }
    }
    this.#reset();
    this.#newest_at = Date.now() / 1000;
    this.#take({ rows: fresh, has_more: true }, true);
  }

  async #fill(): Promise<void> {
    while (!this.rounds.isStopped && this.has_more && this.rows.length < MAX_ROWS) {
      if ((await this.#readAt(this.rows.length)).rows.length === 0) break;
      // What the keys ask for goes first.
      if (this.#wanted !== undefined) break;
    }
    if (this.rounds.isStopped) return;
    this.#dropEnd();
    this.#isFilled = !this.has_more || this.rows.length >= MAX_ROWS;
    this.loading = !this.#isFilled;
    if (!this.#isFilled) this.rounds.again();
  }

  async #move(): Promise<void> {
    const wanted = this.#wanted;
    this.#wanted = undefined;
    if (wanted === 'behind') {
      await this.#readAt(this.rows.length);
      for (let over = this.rows.length - MAX_ROWS; over > 0; over -= PAGE)
        this.#dropTop(Math.min(over, PAGE));
      return;
    }
    const last = this.#above.pop();
    if (!last) return;
    this.#last_above = last.after;
    const page = await this.#source.read({ skip: this.before, after: last.after, limit: last.count });
    this.#note(page.rows);
    const held = new Set(page.rows.map((row) => this.#source.keyOf(row)));
    this.rows = [...page.rows, ...this.rows.filter((row) => !held.has(this.#source.keyOf(row)))];
    this.#dropEnd();
  }

  #dropTop(count: number): void {
    const gone = this.rows.slice(0, count);
    this.#above.push({ count: gone.length, after: this.#last_above });
    this.#last_above = gone.at(-1);
    for (const row of gone) this.#read_at.delete(this.#source.keyOf(row));
    this.rows = this.rows.slice(count);
  }

  #dropEnd(): void {
    if (this.rows.length <= MAX_ROWS) return;
    for (const row of this.rows.slice(MAX_ROWS)) this.#read_at.delete(this.#source.keyOf(row));
    this.rows = this.rows.slice(0, MAX_ROWS);
    this.has_more = true;
  }

  /** Where pages begin that together hold the rows in view, but for the newest page. */
  #pagesInView(): number[] {
    const wanted = new Set(this.#inView().map((row) => this.#source.keyOf(row)));
    const isTop = this.#above.length === 0;
    const pages: number[] = [];
    this.rows.forEach((row, index) => {
      if (!wanted.has(this.#source.keyOf(row)) || (isTop && index < PAGE)) return;
      if (index >= (pages.at(-1) ?? -PAGE) + PAGE - OVERLAP) pages.push(index);
    });
    return pages.slice(0, MAX_VIEW_PAGES);
  }

  /** Reads the page at a place of the window; where it does not meet what is held, the one before it, too. */
  async #readAt(index: number): Promise<Page<Row>> {
    for (let at = Math.max(0, index - OVERLAP); ; at = Math.max(0, at - PAGE)) {
      const held = new Set(this.rows.map((row) => this.#source.keyOf(row)));
      const after = at === 0 ? this.#last_above : this.rows[at - 1];
      const page = await this.#ask(this.before + at, after);
      const isTop = at === 0 && this.#above.length === 0;
      if (isTop || page.rows.length === 0 || page.rows.some((row) => held.has(this.#source.keyOf(row)))) {
        if (page.rows.length > 0 || isTop) this.#take(page, isTop);
        else if (!page.has_more) this.#endAt(at);
        return page;
      }
      if (at === 0) return page;
    }
  }

  async #ask(skip: number, after: Row | undefined): Promise<Page<Row>> {
    const page = await this.#source.read({ skip, after, limit: PAGE });
    this.#note(page.rows);
    return page;
  }

  #note(rows: readonly Row[]): void {
    const now = Date.now() / 1000;
    for (const row of rows) this.#read_at.set(this.#source.keyOf(row), now);
  }

  /** Nothing is left from here on. */
  #endAt(index: number): void {
    for (const row of this.rows.slice(index)) this.#read_at.delete(this.#source.keyOf(row));
    this.rows = this.rows.slice(0, index);
    this.has_more = false;
    this.#changed();
  }

  /** Takes a page in: what is held between its ends and is not on it has left the list. */
  #take({ rows, has_more }: Page<Row>, isTop: boolean): void {
    const { keyOf } = this.#source;
    const known = new Set(rows.map(keyOf));
    const places = this.rows.flatMap((row, index) => (known.has(keyOf(row)) ? [index] : []));
    const first = isTop ? 0 : (places[0] ?? this.rows.length);
    const end = has_more ? (places.at(-1) ?? (isTop ? -1 : this.rows.length)) + 1 : this.rows.length;
    for (const row of this.rows.slice(first, end))
      if (!known.has(keyOf(row))) this.#read_at.delete(keyOf(row));
    const behind = this.rows.slice(end);
    // A row that has moved to another place is on the page already.
    const rest = (part: readonly Row[]) => part.filter((row) => !known.has(keyOf(row)));
    this.rows = [...rest(this.rows.slice(0, first)), ...rows, ...rest(behind)];
    if (behind.length === 0) this.has_more = has_more;
    this.#changed();
  }
}
