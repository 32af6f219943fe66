// A list: rows to move through, filter, sort, mark and act on, with the row under the cursor next to it where there is room.
import type { Section } from '../output/card.ts';
import { screenColor } from '../output/status.ts';
import { clean } from '../output/text.ts';
import { shortId } from '../output/value.ts';
import { Text } from './detail.ts';
import { type Copy, copyMenu, type Link, linkMenu } from './menus.ts';
import { BLANK, bold, colored, type Line, line, sideBySide } from './paint.ts';
import { Panel } from './panel.ts';
import { failureText } from './poll.ts';
import { Rows, type Source } from './rows.ts';
import type { Key, Size } from './session.ts';
import { type Column, moved, rowsInView, type Sort, Table } from './table.ts';
import type { Desk, MenuItem, Place, Status, View } from './view.ts';

/** What can be done with a row, or with all marked ones. */
export interface Action<Row> {
  key: string;
  label: string;
  /** Why it cannot be done with this row; undefined where it can. */
  refuses?(row: Row): string | undefined;
  /** Whether a word is to be typed first. */
  destroys?: true;
  run(row: Row): Promise<unknown>;
}

export interface ListSpec<Row> {
  name: string;
  /** Rows in the order of the service. */
  source(choice: string): Source<Row>;
  columns: readonly Column<Row>[];
  /** The words that `t` goes through; the first is ''. */
  choices?: readonly string[];
  /** What the filter searches. */
  textOf(row: Row): string;
  /** What is shown next to the list, and on the whole screen where nothing is opened. */
  facts(row: Row, now_s: number): readonly Section[];
  /** Where enter leads. */
  open?(row: Row): Place | undefined;
  copies?(row: Row): readonly Copy[];
  links?(row: Row): readonly Link[];
  actions?: readonly Action<Row>[];
  /** Whether what enter opens says all that the facts do: next to the list it stands in their place, else below them. */
  isWhole?: true;
  /** What an empty list says. */
  empty: string;
  /** More figures for the line above. */
  about?(): string;
}

/** From this width on the row under the cursor stands next to the list. */
const MIN_SIDE_BY_SIDE = 150;
const MAX_PANEL = 84;

export class List<Row extends object> implements View {
  readonly #desk: Desk;
  readonly #spec: ListSpec<Row>;
  readonly #owner: Place['owner'];
  readonly #table = new Table<Row>();
  readonly #texts = new WeakMap<Row, string>();
  readonly #marks = new Set<string>();
  readonly #facts = new Text();
  readonly #panel: Panel;
  #choice: string;
  #filter: string;
  #sort: Sort | undefined;
  #hidden: Set<string>;
  #rows: Rows<Row>;
  #source: Source<Row>;
  #cursor: { id: string | null; place: number };
  #page = 1;
  #inView: readonly Row[] = [];
  #isOpen = false;
  /** When what stands next to the list was read. */
  #panel_at = Number.POSITIVE_INFINITY;
  #shown: { key: string; from: readonly Row[]; rows: readonly Row[] } | undefined;

  constructor(desk: Desk, spec: ListSpec<Row>, { choice = '', filter = '', owner, id }: Place) {
    this.#desk = desk;
    this.#spec = spec;
    this.#owner = owner;
    this.#choice = choice;
    this.#filter = filter;
    this.#cursor = { id: id ?? null, place: 0 };
    const { columns, sort } = desk.layoutOf(spec.name);
    this.#hidden = new Set(
      spec.columns.slice(1).flatMap(({ extra, title }) => ((columns[title] ?? !extra) ? [] : [title])),
    );
    this.#sort = this.#columns().some(({ title }) => title === sort?.title) ? sort : undefined;
    this.#panel = new Panel(desk.refresh_ms, desk.changed);
    this.#source = spec.source(choice);
    this.#rows = this.#open();
  }

  #open(): Rows<Row> {
    return new Rows(this.#source, {
      refresh_ms: this.#desk.refresh_ms,
      inView: () => this.#inView,
      changed: () => this.#desk.changed(),
    });
  }

  get title(): string {
    return [this.#spec.name, this.#choice, this.#owner && `of ${this.#owner.name}`].filter(Boolean).join(' ');
  }

  get keys(): View['keys'] {
    const { choices, copies, links, actions = [] } = this.#spec;
    const acts = this.#desk.readonly ? [] : actions.map(({ key, label }) => [key, label] as const);
    if (this.#isOpen) return [['esc', 'back'], ...acts];
    return [
      ['enter', 'open'],
      ['/', 'filter'],
      ...(choices ? [['t', 'status'] as const] : []),
      ['s S', 'sort'],
      ...acts,
      ...(acts.length > 0 ? [['space', 'mark'] as const] : []),
      ...(copies ? [['y', 'copy'] as const] : []),
      ...(links ? [['o', 'browser'] as const] : []),
      ['c', 'columns'],
      ['ctrl-r', 'read'],
    ];
  }

  start(): void {
    this.#rows.rounds.start();
  }

  stop(): void {
    this.#rows.stop();
    this.#panel.stop();
  }

  #again(): void {
    this.#rows.rounds.again();
    this.#panel.again();
  }

  status(): Status {
    const { rows, loading, has_more, before, rounds } = this.#rows;
    const shown = this.#visible();
    const { found } = this.#where(shown);
    const held =
      before > 0 || (has_more && !loading)
        ? before > 0
          ? `rows ${before + 1} to ${before + rows.length}${has_more ? ', more behind' : ''}`
          : `the newest ${rows.length}`
        : String(rows.length);
    const text = [
      loading && rows.length === 0
        ? 'loading'
        : `${shown.length} of ${held}${loading ? ' and more to come' : ''}`,
      found < 0 && shown.length > 0 && 'the marked row has left',
      this.#marks.size > 0 && `${this.#marks.size} marked`,
      this.#choice && `status ${this.#choice}`,
      this.#filter && `filter ${this.#filter}`,
      this.#spec.about?.(),
    ];
    return {
      text: text.filter(Boolean).join('   '),
      error: rounds.error,
      read_at: Math.min(this.#rows.readAt(this.#inView), this.#panel_at),
    };
  }

  /** The rows that hold the filter (or do not, after `!`), in the order asked for. */
  #visible(): readonly Row[] {
    const from = this.#rows.rows;
    const key = JSON.stringify([this.#filter, this.#sort]);
    if (this.#shown?.from === from && this.#shown.key === key) return this.#shown.rows;
    const rows = this.#sorted(this.#filtered(from));
    this.#shown = { key, from, rows };
    return rows;
  }

  #filtered(rows: readonly Row[]): readonly Row[] {
    const wanted = this.#filter.toLowerCase();
    if (wanted === '' || wanted === '!') return rows;
    const isInverse = wanted.startsWith('!');
    const text = isInverse ? wanted.slice(1) : wanted;
    return rows.filter((row) => this.#textOf(row).includes(text) !== isInverse);
  }

  #textOf(row: Row): string {
    const known = this.#texts.get(row);
    if (known !== undefined) return known;
    const text = this.#spec.textOf(row).toLowerCase();
    this.#texts.set(row, text);
    return text;
  }

  #sorted(rows: readonly Row[]): readonly Row[] {
    const column = this.#spec.columns.find(({ title }) => title === this.#sort?.title);
    if (!column) return rows;
    const by = column.by ?? ((row: Row) => column.value(row, 0));
    const keyed = rows.map((row, index) => ({ row, key: by(row), index }));
    const way = this.#sort?.reversed ? -1 : 1;
    keyed.sort((one, other) =>
      one.key < other.key ? -way : one.key > other.key ? way : one.index - other.index,
    );
    return keyed.map(({ row }) => row);
  }

  /** Where the row under the cursor is now, negative where it has left; `around`: where it was. */
  #where(shown: readonly Row[]): { found: number; around: number } {
    const { id, place } = this.#cursor;
    const isAt = (index: number) => {
      const row = shown[index];
      return row !== undefined && this.#source.keyOf(row) === id;
    };
    const found =
      id === null
        ? shown.length > 0
          ? 0
          : -1
        : isAt(place)
          ? place
          : shown.findIndex((row) => this.#source.keyOf(row) === id);
    // The first row has the cursor until another one has: from then on it is that row, wherever it goes.
    const first = shown[0];
    if (id === null && first) this.#cursor = { id: this.#source.keyOf(first), place: 0 };
    else if (found >= 0) this.#cursor = { id, place: found };
    return { found, around: Math.max(0, Math.min(found < 0 ? place : found, shown.length - 1)) };
  }

  /** The row under the cursor. */
  #current(): Row | undefined {
    const shown = this.#visible();
    return shown[this.#where(shown).found];
  }

  lines(size: Size, now_s: number): Line[] {
    const shown = this.#visible();
    const { found, around } = this.#where(shown);
    this.#page = Math.max(1, size.rows - 1);
    const row = shown[found];
    if (this.#isOpen && row) {
      this.#inView = [row];
      return this.#facts.draw(this.#spec.facts(row, now_s), size);
    }
    this.#isOpen = false;
    const isWide = size.columns >= MIN_SIDE_BY_SIDE;
    const panel = isWide ? Math.min(MAX_PANEL, Math.floor(size.columns * 0.4)) : 0;
    const width = size.columns - panel;
    this.#inView = rowsInView(shown, around, size.rows);
    const table = this.#table.draw({
      columns: this.#columns(),
      rows: shown,
      keyOf: this.#source.keyOf,
      selected: found,
      around,
      marks: this.#marks,
      sort: this.#sort,
      height: size.rows,
      width: width - (isWide ? 1 : 0),
      now_s,
    });
    if (shown.length === 0 && !this.#rows.loading && this.#rows.rounds.error === null)
      table.push(BLANK, line({ text: `  ${this.#emptyText()}`, dim: true }));
    this.#panel_at = Number.POSITIVE_INFINITY;
    if (!isWide || !row) this.#panel.stop();
    if (!isWide) return table;
    const side = row ? this.#sideOf(row, { columns: panel - 2, rows: size.rows }, now_s) : [];
    return sideBySide(
      table,
      Array.from({ length: size.rows }, (_, index) => side[index] ?? BLANK),
      width - 1,
    );
  }

  /** The row itself, and once the cursor rests on it all that is known of it. */
  #sideOf(row: Row, size: Size, now_s: number): Line[] {
    const { facts, isWhole } = this.#spec;
    const place = this.#spec.open?.(row);
    const detail = place && this.#desk.detailOf(place);
    if (!detail) this.#panel.stop();
    const held =
      detail &&
      this.#panel.of({
        key: JSON.stringify(place),
        load: async () => {
          const data = await detail.load();
          return (now_s) => ({
            headline: detail.headline(data, now_s),
            sections: detail.sections(data, now_s),
          });
        },
      });
    if (held) this.#panel_at = held.at;
    const { error } = this.#panel;
    const known = held?.read(now_s);
    const headline =
      known && line(bold(clean(known.headline.text), screenColor(known.headline.status) ?? undefined));
    const lines = error === null ? [] : [line(colored(`! ${clean(error)}`, 'red'))];
    if (!known || !isWhole) lines.push(...new Text().draw(facts(row, now_s), size), BLANK);
    if (headline) lines.push(headline);
    return [...lines, ...new Text().draw(known?.sections ?? [], size)].slice(0, size.rows);
  }

  #emptyText(): string {
    if (this.#filter !== '') return `nothing with “${clean(this.#filter)}”: esc clears the filter`;
    return this.#choice === '' ? this.#spec.empty : `nothing is ${this.#choice}: t shows others`;
  }

  #columns(): readonly Column<Row>[] {
    return this.#spec.columns.filter(({ title }) => !this.#hidden.has(title));
  }

  key(key: Key): boolean {
    if (this.#isOpen) return this.#keyOpen(key);
    const { text, name, ctrl } = key;
    const shown = this.#visible();
    const { around } = this.#where(shown);
    if (text === 'g' && !this.#rows.toTop()) this.#cursor = { id: null, place: 0 };
    const to = moved(key, { selected: around, count: shown.length, page: this.#page });
    if (to !== undefined) this.#moveTo(shown, to);
    else if (ctrl && name === 'r') this.#again();
    else if (name === 'return') this.#openRow();
    else if (name === 'escape') return this.#clear();
    else if (text === '/') this.#askFilter();
    else if (text === 't' && this.#spec.choices) this.#nextChoice(this.#spec.choices);
    else if (text === 's') this.#nextSort();
    else if (text === 'S' && this.#sort) this.#sortBy({ ...this.#sort, reversed: !this.#sort.reversed });
    else if (text === ' ') this.#mark(shown, around);
    else if (text === 'c') this.#chooseColumns();
    else return this.#keyOfRow(key);
    return true;
  }

  #keyOpen(key: Key): boolean {
    if (key.name === 'escape' || key.name === 'left') this.#isOpen = false;
    else if (key.ctrl && key.name === 'r') this.#again();
    else if (!this.#facts.key(key)) return this.#keyOfRow(key);
    return true;
  }

  /** Copying, the browser, and what can be done with rows. */
  #keyOfRow({ text }: Key): boolean {
    const row = this.#current();
    if (text === 'y' && this.#spec.copies) this.#copy(row);
    else if (text === 'o' && this.#spec.links) this.#browse(row);
    else {
      const action = this.#spec.actions?.find(({ key }) => key === text && text !== '');
      if (!action || this.#desk.readonly) return false;
      this.#act(action);
    }
    return true;
  }

  #moveTo(shown: readonly Row[], to: number): void {
    const row = shown[to];
    if (row) this.#cursor = { id: this.#source.keyOf(row), place: to };
    // By another order the ends of the list are not those of what is held.
    const isInOrder = this.#sort === undefined && this.#filter === '';
    if (isInOrder) this.#rows.near(to);
    else if (to === shown.length - 1) this.#rows.near(this.#rows.rows.length - 1);
  }

  #openRow(): void {
    const row = this.#current();
    if (!row) return;
    const place = this.#spec.open?.(row);
    if (place) this.#desk.go(place);
    else {
      this.#facts.toTop();
      this.#isOpen = true;
    }
  }

  /** Escape gives up the filter, then the marks; then it leads back. */
  #clear(): boolean {
    if (this.#filter !== '') this.#filter = '';
    else if (this.#marks.size > 0) this.#marks.clear();
    else return false;
    return true;
  }

  #askFilter(): void {
    this.#desk.ask({
      label: '/',
      initial: this.#filter,
      onType: (text) => {
        this.#filter = text;
        this.#cursor = { id: null, place: 0 };
      },
      onDone: () => {},
      onLeave: () => {
        this.#filter = '';
      },
    });
  }

  #nextChoice(choices: readonly string[]): void {
    this.#choice = choices[(choices.indexOf(this.#choice) + 1) % choices.length] ?? '';
    this.#rows.stop();
    this.#source = this.#spec.source(this.#choice);
    this.#rows = this.#open();
    this.#rows.rounds.start();
    this.#marks.clear();
    this.#cursor = { id: null, place: 0 };
  }

  /** The order of the service, then by each column. */
  #nextSort(): void {
    const titles = this.#columns().map(({ title }) => title);
    const next = titles[this.#sort === undefined ? 0 : titles.indexOf(this.#sort.title) + 1];
    this.#sortBy(next === undefined ? undefined : { title: next, reversed: false });
  }

  #sortBy(sort: Sort | undefined): void {
    this.#sort = sort;
    this.#keepLayout();
  }

  #keepLayout(): void {
    const columns = this.#spec.columns.flatMap(({ title, extra }) => {
      const isShown = !this.#hidden.has(title);
      return isShown === !extra ? [] : [[title, isShown] as const];
    });
    this.#desk.keepLayout(this.#spec.name, {
      columns: Object.fromEntries(columns),
      ...(this.#sort ? { sort: this.#sort } : {}),
    });
  }

  #mark(shown: readonly Row[], at: number): void {
    const row = shown[at];
    if (!row || !this.#spec.actions || this.#desk.readonly) return;
    const id = this.#source.keyOf(row);
    if (!this.#marks.delete(id)) this.#marks.add(id);
    if (at + 1 < shown.length) this.#moveTo(shown, at + 1);
  }

  #chooseColumns(): void {
    const { columns } = this.#spec;
    const items = columns.slice(1).map(({ title }, index): MenuItem => {
      const isShown = !this.#hidden.has(title);
      return {
        key: 'abcdefghijklmnopqrstuvwxyz'[index] ?? '',
        label: `${isShown ? '[x]' : '[ ]'} ${title.toLowerCase()}`,
        run: () => {
          if (!this.#hidden.delete(title)) this.#hidden.add(title);
          if (this.#sort?.title === title) this.#sort = undefined;
          this.#keepLayout();
          this.#chooseColumns();
        },
      };
    });
    this.#desk.menu('columns', items);
  }

  #copy(row: Row | undefined): void {
    const copies = row ? (this.#spec.copies?.(row) ?? []) : [];
    copyMenu(this.#desk, copies);
  }

  #browse(row: Row | undefined): void {
    const links = row ? (this.#spec.links?.(row) ?? []) : [];
    linkMenu(this.#desk, links);
  }

  #act(action: Action<Row>): void {
    const marked = this.#rows.rows.filter((row) => this.#marks.has(this.#source.keyOf(row)));
    const current = this.#current();
    const targets = marked.length > 0 ? marked : current ? [current] : [];
    const able = targets.filter((row) => action.refuses?.(row) === undefined);
    const [first] = targets;
    if (!first) return;
    const [one] = able;
    if (!one) {
      this.#desk.say(`${action.label}: ${action.refuses?.(first) ?? 'not possible'}`, 'bad');
      return;
    }
    const left_out = targets.length - able.length;
    const what = able.length === 1 ? shortId(this.#source.keyOf(one)) : `${able.length} rows`;
    const word = action.destroys
      ? able.length === 1
        ? shortId(this.#source.keyOf(one))
        : String(able.length)
      : undefined;
    const without = left_out > 0 ? `, without ${left_out} that it is not for` : '';
    this.#desk.confirm(`${action.label} ${what}${without}`, word, () => this.#do(action, able));
  }

  async #do(action: Action<Row>, rows: readonly Row[]): Promise<string> {
    const failures: string[] = [];
    for (const [index, row] of rows.entries()) {
      this.#desk.say(`${action.label}: ${index + 1} of ${rows.length} …`);
      try {
        await action.run(row);
        this.#marks.delete(this.#source.keyOf(row));
      } catch (failure) {
        failures.push(`${shortId(this.#source.keyOf(row))}: ${failureText(failure)}`);
      }
    }
    this.#again();
    const done = rows.length - failures.length;
    if (failures.length === 0) return `${action.label}: ${rows.length === 1 ? 'done' : `${done} done`}`;
    throw new Error(
      `${action.label}: ${done > 0 ? `${done} done, ` : ''}${failures.length} refused: ${failures[0]}`,
    );
  }
}
