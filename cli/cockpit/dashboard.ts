// The dashboard: figures with their trend, what waits for a person, and what happens now. Enter on a count opens the list
// behind it.
import { clean } from '../output/text.ts';
import { pad, widthOf } from '../output/width.ts';
import { type Board, type Item, loadBoard } from './board.ts';
import { BLANK, bold, colored, dim, type Line, line, type Piece, sideBySide } from './paint.ts';
import { Poll } from './poll.ts';
import type { Key, Size } from './session.ts';
import { windowStart } from './table.ts';
import type { Desk, Status, View } from './view.ts';

const LABEL = 10;
const GAP = 3;
/** From this width on what happens stands next to the figures. */
const MIN_SIDE_BY_SIDE = 150;
const TAPE_WIDTH = 76;

interface Laid {
  line: Line;
  /** The items on it that enter can open, in their order. */
  items: readonly Item[];
}

export class Dashboard implements View {
  readonly title = 'dashboard';
  readonly #desk: Desk;
  readonly #poll: Poll<Board>;
  /** What is under the cursor, by its name: figures come and go. */
  #cursor = '';
  /** What the cursor moves over, as last drawn. */
  #grid: (readonly Item[])[] = [];

  constructor(desk: Desk) {
    this.#desk = desk;
    this.#poll = new Poll(() => loadBoard(desk), desk.refresh_ms, desk.changed);
  }

  readonly keys: View['keys'] = [
    ['enter', 'open'],
    ['h j k l', 'move'],
    ['ctrl-r', 'read'],
  ];

  start(): void {
    this.#poll.rounds.start();
  }

  stop(): void {
    this.#poll.rounds.stop();
  }

  status(): Status {
    const { data, error, at } = this.#poll;
    return { text: data?.about ?? 'loading', error, read_at: at };
  }

  lines(size: Size): Line[] {
    const { data } = this.#poll;
    if (!data) return [];
    const isWide = size.columns >= MIN_SIDE_BY_SIDE;
    const width = isWide ? size.columns - TAPE_WIDTH - 2 : size.columns;
    const figures = data.sections.flatMap((section) => this.#section(section, width));
    const tape = data.tape.map((item): Laid => ({ line: line(...this.#itemPieces(item)), items: [item] }));
    if (tape.length === 0) tape.push({ line: line(dim(' nothing yet')), items: [] });
    const title: Laid = { line: line(bold(data.tape_title)), items: [] };
    if (isWide) {
      const [left, right] = [this.#inView(figures, size.rows), this.#inView([title, ...tape], size.rows)];
      this.#grid = [...figures, ...tape].map(({ items }) => items).filter(({ length }) => length > 0);
      return sideBySide(
        left,
        Array.from({ length: size.rows }, (_, index) => right[index] ?? BLANK),
        width,
      );
    }
    const all = [...figures, { line: BLANK, items: [] }, title, ...tape];
    this.#grid = all.map(({ items }) => items).filter(({ length }) => length > 0);
    return this.#inView(all, size.rows);
  }

  /** The lines that have room, with that of the cursor among them. */
  #inView(laid: readonly Laid[], rows: number): Line[] {
    const at = laid.findIndex(({ items }) => items.some(({ name }) => name === this.#cursor));
    const start = at < rows ? 0 : windowStart(at, laid.length, rows);
    return laid.slice(start, start + rows).map(({ line }) => line);
  }

  /** Items behind a label, in as many lines as they need. */
  #section({ label, items, note }: Board['sections'][number], width: number): Laid[] {
    const lines: Laid[] = [];
    let pieces: Piece[] = [bold(pad(label, LABEL))];
    let onLine: Item[] = [];
    let used = LABEL;
    const end = () => {
      lines.push({ line: { pieces }, items: onLine.filter(({ place }) => place) });
      pieces = [{ text: ' '.repeat(LABEL) }];
      onLine = [];
      used = LABEL;
    };
    for (const item of items) {
      const cells = widthOf(clean(item.text)) + 1;
      if (used > LABEL && used + cells > width) end();
      pieces.push(...this.#itemPieces(item), { text: ' '.repeat(GAP - 1) });
      onLine.push(item);
      used += cells + GAP - 1;
    }
    if (note) pieces.push(dim(clean(note)));
    end();
    return lines;
  }

  #itemPieces(item: Item): Piece[] {
    const text = clean(item.text);
    if (item.name !== this.#cursor) return [{ text: ' ' }, colored(text, item.color)];
    return [bold('›'), { text, color: 'inverse' }];
  }

  key(key: Key): boolean {
    if (key.ctrl && key.name === 'r') this.#poll.rounds.again();
    else if (key.name === 'return') return this.#open();
    else return this.#move(key);
    return true;
  }

  #open(): boolean {
    const item = this.#grid.flat().find(({ name }) => name === this.#cursor);
    if (item?.place) this.#desk.go(item.place);
    else this.#desk.say('move to a count with j k h l, then enter');
    return true;
  }

  /** To the next item, or to the one nearest in the next line. */
  #move({ name, text }: Key): boolean {
    const row = this.#grid.findIndex((items) => items.some((item) => item.name === this.#cursor));
    const column = this.#grid[row]?.findIndex((item) => item.name === this.#cursor) ?? 0;
    const go = (to: number, at: number) => {
      const items = this.#grid[Math.max(0, Math.min(to, this.#grid.length - 1))];
      this.#cursor = items?.[Math.max(0, Math.min(at, items.length - 1))]?.name ?? this.#cursor;
      return true;
    };
    const isLast = column >= (this.#grid[row]?.length ?? 1) - 1;
    if (name === 'down' || text === 'j') return go(row + 1, column);
    if (name === 'up' || text === 'k') return go(row - 1, column);
    if (name === 'right' || text === 'l' || name === 'tab')
      return isLast ? go(row + 1, 0) : go(row, column + 1);
    if (name === 'left' || text === 'h') return column === 0 ? go(row - 1, Infinity) : go(row, column - 1);
    if (text === 'g' || name === 'home') return go(0, 0);
    if (text === 'G' || name === 'end') return go(this.#grid.length - 1, 0);
    return false;
  }
}
