// What the foot of the cockpit asks: a command, text, one of several, or a word before something is done.
import { shorten, widthOf } from '../output/width.ts';
import { bold, dim, type Line, line, type Piece } from './paint.ts';
import type { Key } from './session.ts';
import { moved, windowStart } from './table.ts';
import type { MenuItem, Question } from './view.ts';

const CURSOR = '█';
/** Longer than any id, hash or reason. */
const MAX_TYPED = 400;

export interface Prompt {
  lines(width: number): readonly Line[];
  /** What remains to be asked: this, something else, or nothing. */
  key(key: Key): Prompt | null;
}

/** The end of what is typed stays in sight. */
function typedLine(label: string, typed: string, rest: string, width: number): Line {
  const text = `${typed}${CURSOR}`;
  let shown = `${label}${text}`;
  while (widthOf(shown) > width && shown.length > 1) shown = `…${[...shown].slice(2).join('')}`;
  return line(bold(shown), dim(shorten(rest, Math.max(0, width - widthOf(shown)))));
}

/** The text with what a key does to it; undefined where it does nothing to text. */
function edited(typed: string, { name, ctrl, text }: Key): string | undefined {
  if (name === 'backspace' || name === 'delete') return [...typed].slice(0, -1).join('');
  if (ctrl && name === 'u') return '';
  if (ctrl && name === 'w') return typed.replace(/\S+\s*$/, '');
  return text === '' ? undefined : (typed + text).slice(0, MAX_TYPED);
}

/** Reads a line. `hint` is shown behind it, `complete` is what tab makes of it. */
export class Typing implements Prompt {
  #typed: string;
  readonly #question: Question & { hint?(typed: string): string; complete?(typed: string): string };

  constructor(question: Question & { hint?(typed: string): string; complete?(typed: string): string }) {
    this.#question = question;
    this.#typed = question.initial ?? '';
  }

  lines(width: number): readonly Line[] {
    const { label, hint } = this.#question;
    // What is asked stays in sight, however much is typed.
    if (label.length > 1 && widthOf(`${label}${this.#typed}`) >= width)
      return [line(bold(shorten(label, width))), typedLine('', this.#typed, '', width)];
    return [typedLine(label, this.#typed, hint?.(this.#typed) ?? '', width)];
  }

  key(key: Key): Prompt | null {
    const { onDone, onLeave, onType, complete } = this.#question;
    if (key.name === 'escape') {
      onLeave?.();
      return null;
    }
    if (key.name === 'return') {
      onDone(this.#typed);
      return null;
    }
    const typed = key.name === 'tab' ? complete?.(this.#typed) : edited(this.#typed, key);
    if (typed === undefined) return this;
    this.#typed = typed;
    onType?.(typed);
    return this;
  }
}

/** Lines of a choice that are shown at once. */
const MAX_CHOICES = 9;

/** One of several lines: the cursor moves over them, and enter takes one. */
export class Choice implements Prompt {
  readonly #title: string;
  readonly #choices: readonly string[];
  readonly #onPick: (index: number) => void;
  #at = 0;

  constructor(title: string, choices: readonly string[], onPick: (index: number) => void) {
    this.#title = title;
    this.#choices = choices;
    this.#onPick = onPick;
  }

  lines(): readonly Line[] {
    const start = windowStart(this.#at, this.#choices.length, MAX_CHOICES);
    return [
      line(bold(this.#title)),
      ...this.#choices
        .slice(start, start + MAX_CHOICES)
        .map((text, index) => line(start + index === this.#at ? bold(`› ${text}`) : `  ${text}`)),
      line(dim('j k move   enter take it   esc leave it')),
    ];
  }

  key(key: Key): Prompt | null {
    if (key.name === 'escape') return null;
    if (key.name === 'return') {
      this.#onPick(this.#at);
      return null;
    }
    const to = moved(key, { selected: this.#at, count: this.#choices.length, page: MAX_CHOICES });
    if (to !== undefined) this.#at = to;
    return this;
  }
}

export class Menu implements Prompt {
  readonly #title: string;
  readonly #items: readonly MenuItem[];

  constructor(title: string, items: readonly MenuItem[]) {
    this.#title = title;
    this.#items = items;
  }

  /** In as many lines as all have room in. */
  lines(width: number): readonly Line[] {
    const lines: Piece[][] = [[bold(`${this.#title}: `)]];
    let used = widthOf(this.#title) + 2;
    for (const { key, label } of [...this.#items, { key: 'esc', label: 'leave it' }]) {
      const cells = widthOf(`${key} ${label}   `);
      if (used > 0 && used + cells > width) {
        lines.push([]);
        used = 0;
      }
      lines.at(-1)?.push(bold(key), { text: ` ${label}   ` });
      used += cells;
    }
    return lines.map((pieces) => ({ pieces }));
  }

  key({ name, text }: Key): Prompt | null {
    if (name === 'escape') return null;
    const item = this.#items.find(({ key }) => key === text);
    if (!item || name === 'paste') return this;
    item.run();
    return null;
  }
}
