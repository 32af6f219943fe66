// What a view of the cockpit is, and what it is given.
import type { Context } from '../engine/command.ts';
import type { Section } from '../output/card.ts';
import type { Layout } from './layouts.ts';
import type { Line } from './paint.ts';
import type { Key, Size } from './session.ts';

/** Where one can go: a view, with what it shows. */
export interface Place {
  view: string;
  /** One of the words that the view goes through with `t`: a status. */
  choice?: string;
  filter?: string;
  /** Of the account whose rows are shown, and how it is called. */
  owner?: { id: string; name: string };
  /** What is shown, or under the cursor of a list. */
  id?: string;
  /** What else the list is asked for. */
  query?: Readonly<Record<string, unknown>>;
}

export interface Status {
  text: string;
  error: string | null;
  /** When what is in view was read, Unix seconds; 0 before the first answer. */
  read_at: number;
}

export interface View {
  /** What the head calls it: `payments held`. */
  readonly title: string;
  /** Keys of the foot, and of the help: `enter` → `open`. */
  readonly keys: readonly (readonly [key: string, what: string])[];
  status(now_s: number): Status;
  lines(size: Size, now_s: number): Line[];
  /** Whether it had a use for the key. */
  key(key: Key): boolean;
  /** Begins to read, when it comes into view. */
  start(): void;
  /** Reads no more, while another is in view. */
  stop(): void;
}

export interface MenuItem {
  key: string;
  label: string;
  run(): void;
}

/** Text that is asked for at the foot. */
export interface Question {
  label: string;
  initial?: string;
  /** The text as it is typed, and '' where it is left. */
  onType?(text: string): void;
  onDone(text: string): void;
  /** Where it is left with escape. */
  onLeave?(): void;
}

/** How everything about one thing is read, and what it says. */
export interface Known {
  load(): Promise<unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: what it has read itself
  headline(data: any, now_s: number): { text: string; status: string };
  // biome-ignore lint/suspicious/noExplicitAny: what it has read itself
  sections(data: any, now_s: number): readonly Section[];
}

/** What every view may do. */
export interface Desk {
  context: Context;
  who: 'operator' | 'merchant';
  readonly: boolean;
  refresh_ms: number;
  changed(): void;
  go(place: Place): void;
  back(): void;
  /** How everything about one thing is read and shown; undefined where the place is no such. */
  detailOf(place: Place): Known | undefined;
  /** Columns and order of a list, as they were left. */
  layoutOf(list: string): Layout;
  keepLayout(list: string, layout: Layout): void;
  /** Says at the top what came of something. */
  say(text: string, kind?: 'good' | 'bad'): void;
  menu(title: string, items: readonly MenuItem[]): void;
  /** Asks which of these lines it is. */
  choose(title: string, choices: readonly string[], onPick: (index: number) => void): void;
  ask(question: Question): void;
  /** Asks for a word, or for enter alone where there is none; then does it, and says what came of it. */
  confirm(question: string, word: string | undefined, work: () => Promise<string>): void;
  copy(what: string, text: string): void;
  browse(url: string): void;
  /** The page of an invoice; undefined until the service has answered. */
  payPage(invoice_id: string): string | undefined;
  /** Pages of explorers for a transaction or an address; undefined where none is known. */
  explorer(chain: string, kind: 'transaction' | 'address', id: string): string | undefined;
}
