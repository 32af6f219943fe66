// One thing with everything about it: sections that scroll, read again while they are shown.
import { linesOf, type Section } from '../output/card.ts';
import { screenColor } from '../output/status.ts';
import { clean } from '../output/text.ts';
import { wrapped } from '../output/width.ts';
import { type Copy, copyMenu, type Link, linkMenu } from './menus.ts';
import { BLANK, bold, colored, dim, type Line, line } from './paint.ts';
import { Poll } from './poll.ts';
import type { Key, Size } from './session.ts';
import { moved } from './table.ts';
import type { Desk, Status, View } from './view.ts';

/** Sections as lines that scroll where they have no room. */
export class Text {
  #top = 0;
  #last = 0;
  #room = 1;

  get below(): number {
    return this.#last - this.#top;
  }

  toTop(): void {
    this.#top = 0;
  }

  draw(sections: readonly Section[], { columns, rows }: Size, head: readonly Line[] = []): Line[] {
    const lines = [...head, ...linesOf(sections).flatMap((each) => this.#wrapped(each, columns))];
    this.#room = rows;
    this.#last = Math.max(0, lines.length - rows);
    this.#top = Math.min(this.#top, this.#last);
    return lines.slice(this.#top, this.#top + rows);
  }

  #wrapped({ title, label, text }: ReturnType<typeof linesOf>[number], columns: number): Line[] {
    if (title !== '') return [line(bold(clean(title)))];
    if (text === '') return [label === '' ? BLANK : line(dim(label))];
    return wrapped(text, columns - label.length).map((piece, index) =>
      line(
        dim(index === 0 ? label : ' '.repeat(label.length)),
        colored(piece, screenColor(piece) ?? undefined),
      ),
    );
  }

  key(key: Key): boolean {
    const to = moved(key, { selected: this.#top, count: this.#last + 1, page: this.#room });
    if (to === undefined) return false;
    this.#top = to;
    return true;
  }
}

export interface DetailSpec<T> {
  title: string;
  load(): Promise<T>;
  headline(data: T, now_s: number): { text: string; status: string };
  sections(data: T, now_s: number): readonly Section[];
  copies?(data: T): readonly Copy[];
  links?(data: T): readonly Link[];
  actions?: readonly {
    key: string;
    label: string;
    /** Whether it changes something: not with `--readonly`. */
    writes?: true;
    run(data: T, again: () => void): void;
  }[];
}

export class Detail<T> implements View {
  readonly #desk: Desk;
  readonly #spec: DetailSpec<T>;
  readonly #poll: Poll<T>;
  readonly #text = new Text();

  constructor(desk: Desk, spec: DetailSpec<T>) {
    this.#desk = desk;
    this.#spec = spec;
    this.#poll = new Poll(spec.load, desk.refresh_ms, desk.changed);
  }

  get title(): string {
    return this.#spec.title;
  }

  get #actions() {
    return (this.#spec.actions ?? []).filter(({ writes }) => !writes || !this.#desk.readonly);
  }

  get keys(): View['keys'] {
    return [
      ...(this.#poll.data === undefined ? [] : this.#actions.map(({ key, label }) => [key, label] as const)),
      ['esc', 'back'],
      ...(this.#spec.copies ? [['y', 'copy'] as const] : []),
      ...(this.#spec.links ? [['o', 'browser'] as const] : []),
      ['ctrl-r', 'read'],
    ];
  }

  start(): void {
    this.#poll.rounds.start();
  }

  stop(): void {
    this.#poll.rounds.stop();
  }

  status(): Status {
    const { data, error, at } = this.#poll;
    const below = this.#text.below;
    const text = data === undefined ? 'loading' : below > 0 ? `${below} more lines below: j ↓` : '';
    return { text, error, read_at: at };
  }

  lines(size: Size, now_s: number): Line[] {
    const { data } = this.#poll;
    if (data === undefined) return [];
    const { text, status } = this.#spec.headline(data, now_s);
    const head = line(bold(clean(text), screenColor(status) ?? undefined));
    return this.#text.draw(this.#spec.sections(data, now_s), size, [head]);
  }

  key(key: Key): boolean {
    const { data, rounds } = this.#poll;
    if (key.ctrl && key.name === 'r') rounds.again();
    else if (this.#text.key(key)) return true;
    else if (key.name === 'left') this.#desk.back();
    else if (data === undefined) return false;
    else if (key.text === 'y' && this.#spec.copies) copyMenu(this.#desk, this.#spec.copies(data));
    else if (key.text === 'o' && this.#spec.links) linkMenu(this.#desk, this.#spec.links(data));
    else {
      const action = this.#actions.find((each) => each.key === key.text && key.text !== '');
      if (!action) return false;
      action.run(data, () => rounds.again());
    }
    return true;
  }
}
