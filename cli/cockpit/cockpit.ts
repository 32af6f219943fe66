// The cockpit: its frame, where one has been, the keys that work everywhere, and the view inside.

import { listAdminMerchants } from '../../src/api/endpoints/admin.ts';
import { getPublicConfig, listGateways } from '../../src/api/endpoints/buyer.ts';
import type { Explorer } from '../../src/chains/gateways.ts';
import { cleanText } from '../../src/clean.ts';
import { nearest } from '../../src/nearest.ts';
import type { Context } from '../engine/command.ts';
import { GwError } from '../engine/errors.ts';
import { clean } from '../output/text.ts';
import { relative } from '../output/value.ts';
import { pad, shorten, widthOf, wrapped } from '../output/width.ts';
import { copySequence, openBrowser } from './browser.ts';
import { Layouts } from './layouts.ts';
import { BLANK, bold, colored, dim, ends, type Line, line, type Piece, sideBySide } from './paint.ts';
import { failureText } from './poll.ts';
import { Choice, Menu, type Prompt, Typing } from './prompt.ts';
import { type Key, type Program, runSession, type Session, type Size } from './session.ts';
import type { Desk, Place, View } from './view.ts';
import { detailOf, openView, viewNames } from './views.ts';

/** What the view is, and what it says. */
const HEAD_ROWS = 2;
/** Views that one can go back to. */
const MAX_HISTORY = 8;
/** Data that is younger than two rounds of reading is called new, within these: its age would only flicker. */
const NEW_SECONDS = { least: 4, most: 10 };
const SECOND_MS = 1000;
const HELP_KEY = 14;
/** The keys of one view have room in it. */
const HELP_WIDTH = 38;
/** Network and gateways are asked for again until they are known. */
const RETRY_MS = 3_000;

export interface CockpitOptions {
  who: 'operator' | 'merchant';
  place: Place;
  readonly: boolean;
  refresh_ms: number;
}

interface Service {
  network: 'mainnet' | 'testnet';
  demo_mode: boolean;
  public_base_url: string;
  blockchains: ReadonlyMap<string, string>;
  explorerOf(blockchain: string): Explorer | undefined;
}

export class Cockpit implements Program {
  readonly #session: Session;
  readonly #options: CockpitOptions;
  readonly #desk: Desk;
  readonly #where: string;
  readonly #new_seconds: number;
  #views: View[] = [];
  /** Which of them is shown. */
  #at = -1;
  #prompt: Prompt | null = null;
  #help = false;
  #notice: { text: string; kind: 'good' | 'bad' | 'plain' } | undefined;
  #busy = '';
  #service: Service | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    context: Context,
    session: Session,
    options: CockpitOptions,
    { where, layouts }: { where: string; layouts: Layouts },
  ) {
    this.#session = session;
    this.#options = options;
    this.#where = where;
    this.#new_seconds = Math.min(
      NEW_SECONDS.most,
      Math.max(NEW_SECONDS.least, (2 * options.refresh_ms) / SECOND_MS),
    );
    this.#desk = this.#openDesk(context, layouts);
    this.#go(options.place);
    void this.#learn(context);
    // Ages grow.
    this.#timer = setInterval(session.changed, SECOND_MS);
  }

  close(): void {
    clearInterval(this.#timer);
    for (const view of this.#views) view.stop();
  }

  get #view(): View {
    return this.#views[this.#at] as View;
  }

  /** Which network it is, and on which blockchain each gateway pays. */
  async #learn(context: Context): Promise<void> {
    try {
      const [{ network, demo_mode, public_base_url }, { data }] = await Promise.all([
        context.call(getPublicConfig),
        context.call(listGateways),
      ]);
      // The list of all blockchains is loaded once something is shown.
      const { explorerOf } = await import('../../src/chains/gateways.ts');
      this.#service = {
        explorerOf: (blockchain) => explorerOf(blockchain, network),
        ...{ network, demo_mode, public_base_url },
        blockchains: new Map(data.map(({ chain, blockchain }) => [chain, blockchain])),
      };
      this.#session.changed();
    } catch {
      setTimeout(() => void this.#learn(context), RETRY_MS).unref();
    }
  }

  #openDesk(context: Context, layouts: Layouts): Desk {
    const { who, readonly, refresh_ms } = this.#options;
    return {
      ...{ context, who, readonly, refresh_ms },
      changed: this.#session.changed,
      go: (place) => this.#go(place),
      back: () => this.#back(-1),
      detailOf: (place) => detailOf(this.#desk, place),
      layoutOf: (list) => layouts.of(`${who} ${list}`),
      keepLayout: (list, layout) => {
        try {
          layouts.keep(`${who} ${list}`, layout);
        } catch (error) {
          this.#say(`the columns are not stored: ${(error as Error).message}`, 'bad');
        }
      },
      say: (text, kind) => this.#say(text, kind),
      menu: (title, items) => {
        this.#prompt = new Menu(title, items);
      },
      choose: (title, choices, onPick) => {
        this.#prompt = new Choice(title, choices, onPick);
      },
      ask: (question) => {
        this.#prompt = new Typing(question);
      },
      confirm: (question, word, work) => this.#confirm(question, word, work),
      copy: (what, text) => {
        this.#session.send(copySequence(text));
        this.#say(`copied ${what}: ${text}`, 'good');
      },
      browse: (url) => void this.#browse(url),
      payPage: (id) => this.#service && `${this.#service.public_base_url}/pay/${id}`,
      explorer: (chain, kind, id) => {
        const blockchain = this.#service?.blockchains.get(chain);
        if (blockchain === undefined || !this.#service) return undefined;
        return this.#service.explorerOf(blockchain)?.[kind].replace('{id}', encodeURIComponent(id));
      },
    };
  }

  #say(text: string, kind: 'good' | 'bad' | 'plain' = 'plain'): void {
    this.#notice = { text, kind };
    this.#session.changed();
  }

  async #browse(url: string): Promise<void> {
    if (await openBrowser(url, this.#desk.context.io.env)) return this.#say(`opened ${url}`, 'good');
    this.#session.send(copySequence(url));
    this.#say(`no browser here, copied ${url}`, 'good');
  }

  #confirm(question: string, word: string | undefined, work: () => Promise<string>): void {
    const what = word === undefined ? 'enter does it' : `type ${word}, then enter`;
    this.#prompt = new Typing({
      label: `${question}: ${what}: `,
      onDone: (typed) => {
        if (cleanText(typed) === (word ?? '')) void this.#do(question, work);
        else this.#say(`that is not ${word ?? 'enter alone'}; nothing was done`, 'bad');
      },
      onLeave: () => this.#say('nothing was done'),
    });
  }

  async #do(question: string, work: () => Promise<string>): Promise<void> {
    this.#busy = question;
    try {
      this.#say(await work(), 'good');
    } catch (failure) {
      this.#say(failureText(failure), 'bad');
    }
    this.#busy = '';
    this.#session.changed();
  }

  /** Shows a place; what was ahead in the history is given up. */
  #go(place: Place): void {
    const view = openView(this.#desk, place);
    if (this.#at >= 0) this.#view.stop();
    this.#views = [...this.#views.slice(0, this.#at + 1), view].slice(-MAX_HISTORY);
    this.#at = this.#views.length - 1;
    view.start();
  }

  #back(by: 1 | -1): boolean {
    const to = this.#at + by;
    if (this.#views[to] === undefined) return false;
    this.#view.stop();
    this.#at = to;
    this.#view.start();
    return true;
  }

  key(key: Key): void {
    if (key.ctrl && key.name === 'c') {
      this.#session.end(new GwError('interrupted', 'interrupted'));
      return;
    }
    // What is being done says itself what came of it.
    if (this.#busy !== '') return;
    this.#notice = undefined;
    if (key.name === 'paste' && !this.#prompt) {
      this.#say('text can be pasted where it is asked for: after / or :', 'bad');
      return;
    }
    if (this.#prompt) {
      const asked = this.#prompt;
      // What it leads to may ask something else.
      this.#prompt = null;
      const next = asked.key(key);
      if (next) this.#prompt = next;
      return;
    }
    if (this.#help) {
      if (key.text === 'q') this.#session.end();
      this.#help = false;
      return;
    }
    if (key.text === '?') this.#help = true;
    else if (key.text === 'q') this.#session.end();
    else if (key.text === ':') this.#askCommand();
    else if (key.text === '[') this.#step(-1);
    else if (key.text === ']') this.#step(1);
    else if (!this.#view.key(key) && key.name === 'escape') this.#step(-1);
  }

  #step(by: 1 | -1): void {
    if (!this.#back(by)) this.#say(by < 0 ? 'this is where you began: q leaves' : 'there is nothing ahead');
  }

  #askCommand(): void {
    const names = viewNames(this.#desk.who);
    const matching = (typed: string) => names.filter((name) => name.startsWith(typed.trim()));
    this.#prompt = new Typing({
      label: ':',
      hint: (typed) => (/\s/.test(typed) ? '' : `   ${matching(typed).join('  ')}`),
      complete: (typed) => {
        const [first = typed, second] = matching(typed);
        return second === undefined ? `${first} ` : common(matching(typed));
      },
      onDone: (typed) => this.#obey(cleanText(typed)),
    });
  }

  /** `:payments held`: a view, and what of it; a word that is no status is searched for. */
  #obey(typed: string): void {
    const [word = '', ...rest] = typed.split(/\s+/);
    if (word === '') return;
    const names = viewNames(this.#desk.who);
    const found = names.find((name) => name === word) ?? names.find((name) => name.startsWith(word));
    if (word === 'q' || word === 'quit') this.#session.end();
    else if (found === undefined)
      this.#say(`no view “${word}”: did you mean ${nearest(word, names)}?`, 'bad');
    else this.#go({ view: found, ...(rest.length > 0 ? { filter: rest.join(' ') } : {}) });
  }

  frame(size: Size): Line[] {
    const now_s = Math.floor(Date.now() / SECOND_MS);
    const foot = this.#foot(size.columns);
    const inner = { columns: size.columns, rows: Math.max(1, size.rows - HEAD_ROWS - foot.length) };
    // Drawn first: what is in view decides what the line above says.
    const view = this.#view.lines(inner, now_s);
    const body = this.#help ? this.#helpLines(size.columns) : view;
    return [
      this.#head(size.columns),
      this.#statusLine(size.columns, now_s),
      ...Array.from({ length: inner.rows }, (_, index) => body[index] ?? BLANK),
      ...foot,
    ].slice(0, size.rows);
  }

  #head(width: number): Line {
    const network = this.#service?.network;
    const isMain = network === 'mainnet';
    const name = isMain ? 'MAINNET' : (network ?? 'network unknown');
    const demo = this.#service?.demo_mode ? ' demo' : '';
    const readonly = this.#desk.readonly ? '  read-only' : '';
    const right = `${this.#where}  ${name}${demo} `;
    const left = ` gw  ${this.#view.title}${readonly}`;
    // The network is never cut: it says whether the money is real.
    const most = Math.max(widthOf(name) + 6, width - 14);
    const shown = widthOf(right) > most ? `…${right.slice(-(most - 1))}` : right;
    return {
      pieces: ends([bold(clean(left))], [bold(clean(shown))], width),
      inverse: isMain ? 'red' : 'plain',
    };
  }

  /** What was done or typed wrong, else why nothing comes, else figures; and how old what is in view is. */
  #statusLine(width: number, now_s: number): Line {
    const { text, error, read_at } = this.#view.status(now_s);
    // While nothing comes, nothing is new.
    const isOld = error !== null || now_s - read_at >= this.#new_seconds;
    const age = read_at === 0 ? '' : `read ${isOld ? relative(Math.floor(read_at), now_s) : 'just now'}`;
    const shown: Piece = this.#busy
      ? { text: `${this.#busy} …`, color: 'cyan' }
      : this.#notice
        ? colored(this.#notice.text, { good: 'green', bad: 'red', plain: 'cyan' }[this.#notice.kind])
        : error !== null
          ? colored(`! ${error}; trying again`, 'red')
          : { text, color: 'gray' };
    const left = { ...shown, text: clean(shown.text) };
    return line(...ends([left], [colored(age, isOld ? 'yellow' : 'gray')], width));
  }

  #foot(width: number): readonly Line[] {
    if (this.#prompt) return this.#prompt.lines(width);
    const keys = this.#view.keys.map(([key, what]) => `${key} ${what}`);
    const always = ['? help', ': go to', 'q quit'];
    // What has room, from the left: the help has all.
    let text = always.join('  ');
    for (const key of keys) if (widthOf(text) + widthOf(key) + 2 <= width) text += `  ${key}`;
    return [line(dim(shorten(text, width)))];
  }

  /** The keys of this view next to those of all, or above them where there is no room. */
  #helpLines(width: number): Line[] {
    const isWide = width >= 2 * HELP_WIDTH;
    const left = isWide ? HELP_WIDTH : width;
    const right = isWide ? width - HELP_WIDTH - 2 : width;
    const here = keyLines(`here: ${clean(this.#view.title)}`, this.#view.keys, left);
    const everywhere = keyLines(
      'everywhere',
      [
        [':name', `go to ${viewNames(this.#desk.who).join(' ')}`],
        [':name text', 'the same, filtered: :payments held, :payments order-7'],
        ['tab', 'completes a name'],
        ['esc [ ]', 'clear, then back; back; ahead again'],
        ['j k ↑ ↓', 'move; pgup pgdn ctrl-b ctrl-f by a page; g G to the ends'],
        ['/ text', 'show what holds it; !text what does not'],
        ['?', 'this help'],
        ['q ctrl-c', 'leave'],
      ],
      right,
    );
    return isWide ? sideBySide(here, everywhere, left) : [...here, BLANK, ...everywhere];
  }
}

const keyLines = (title: string, keys: View['keys'], width: number): Line[] => [
  line(bold(title)),
  ...keys.flatMap(([key, what]) =>
    wrapped(what, width - HELP_KEY).map((text, index) =>
      line(colored(pad(index === 0 ? `  ${key}` : '', HELP_KEY), 'cyan'), text),
    ),
  ),
];

/** What several words begin with. */
function common(words: readonly string[]): string {
  const [first = ''] = words;
  let length = first.length;
  while (!words.every((word) => word.startsWith(first.slice(0, length)))) length -= 1;
  return first.slice(0, length);
}

/** Refuses who may not see it with an exit code; a service that is away is waited for on the screen. */
async function requireOperator(context: Context): Promise<void> {
  try {
    await context.call(listAdminMerchants, { query: { limit: 1 } });
  } catch (error) {
    if (!(error instanceof GwError) || !['unreachable', 'retry'].includes(error.kind)) throw error;
  }
}

/** Runs the cockpit, beginning at a place. */
export async function runCockpit(context: Context, options: CockpitOptions): Promise<void> {
  const { url, profile, store } = await context.settings();
  if (options.who === 'operator') await requireOperator(context);
  const setup = {
    where: `${profile.value} ${new URL(url).host}`,
    layouts: new Layouts(store.path, profile.value),
  };
  let cockpit: Cockpit | undefined;
  try {
    await runSession(context.io, (session) => {
      cockpit = new Cockpit(context, session, options, setup);
      return cockpit;
    });
  } finally {
    cockpit?.close();
  }
}
