// Which language a page or a mail speaks, and how it writes numbers, money and times.
import { boundedCache } from '../cache.ts';
import * as spoken from './texts/languages.ts';
import type { Texts } from './texts/texts.ts';

export const languages: Readonly<typeof spoken> = { ...spoken };
export type LanguageCode = keyof typeof languages;

/** Entries of an Accept-Language header that are read. */
const MAX_ACCEPTED = 20;
/** Figures of one kind in one language that are cached. */
const MAX_CACHED = 1_000;
const USD_DIGITS = 2;
const USD_MAX_DIGITS = 6;
const MINUTE = 60;
const ABOUT_A_SECOND = 1.5;
/** Up to here one waits without doing something else. */
const FEW_SECONDS = 45;
/** Up to here a wait is stated in seconds, and in minutes. */
const MOST_IN_SECONDS = 90;
const MOST_IN_MINUTES = 120;
/** Of the finest coins; no figure is rounded. */
const COIN_MAX_DIGITS = 18;
/** French writes a space before these marks, and none begins a line. */
const SPACED_MARK = / (?=[:;?!»])/g;
/** Written by Arabic before sums, it would turn the sign of the currency around: sums stand isolated instead. */
const RIGHT_TO_LEFT_MARK = /\u200f/g;

export interface Language {
  code: LanguageCode;
  dir: 'ltr' | 'rtl';
  /** A sentence with its `{names}` filled in; values never turn their neighbours around. */
  say(name: keyof Texts, values?: Record<string, string>): string;
  /** Words of a merchant or buyer where no markup can part them from ours: they turn nothing around. */
  apart(words: string): string;
  /** A decimal string of USD as money; no digit is lost. */
  usd(amount: string): string;
  /** A decimal string of coins as people read it, digit for digit; what is copied stays as it is. */
  coin(amount: string): string;
  /** How long something usually takes, in coarse words. */
  usually(time: { seconds: number; at_most: number }): string;
  /** When something is, from now: “in 14 minutes”, in no finer unit than one waits in. */
  inTime(seconds: number): string;
  number(value: number): string;
  /** `4:05`, `1:00:00`. */
  clock(seconds: number): string;
  /** Date and time in UTC, which is stated. */
  date(unix_seconds: number): string;
}

/** The first of these that is spoken here, else English: what the address asks for, the unit's own, what the browser prefers. */
export function chooseLanguage(preferences: {
  lang?: string | undefined;
  unit?: string | null | undefined;
  accept?: string | null | undefined;
}): Language {
  const accepted = (preferences.accept ?? '')
    .split(',', MAX_ACCEPTED)
    .map((entry) => {
      const [tag = '', ...parameters] = entry.trim().split(';');
      const q = parameters.find((parameter) => parameter.trim().startsWith('q='));
      return { tag, q: q === undefined ? 1 : Number(q.trim().slice(2)) || 0 };
    })
    .filter(({ q }) => q > 0)
    .sort((a, b) => b.q - a.q)
    .map(({ tag }) => tag);
  for (const tag of [preferences.lang, preferences.unit, ...accepted]) {
    const code = tag?.trim().toLowerCase().split(/[-_]/)[0];
    if (code !== undefined && Object.hasOwn(languages, code)) return languageOf(code as LanguageCode);
  }
  return languageOf('en');
}

/** The language of a request that says nothing of it but what its browser prefers: an account has none. */
export const languageOfRequest = (headers: Headers): Language =>
  chooseLanguage({ accept: headers.get('accept-language') });

const made = new Map<LanguageCode, Language>();

export function languageOf(code: LanguageCode): Language {
  const known = made.get(code);
  if (known) return known;
  const language = makeLanguage(code);
  made.set(code, language);
  return language;
}

function makeLanguage(code: LanguageCode): Language {
  const entries = Object.entries(languages[code]) as [keyof Texts, string][];
  const texts = Object.fromEntries(
    entries.map(([name, text]) => [name, text.replace(SPACED_MARK, '\u00a0')]),
  ) as Record<keyof Texts, string>;
  const plain = new Intl.NumberFormat(code);
  const two = new Intl.NumberFormat(code, { minimumIntegerDigits: 2 });
  const money = new Intl.NumberFormat(code, {
    style: 'currency',
    currency: 'USD',
    minimumFractionDigits: USD_DIGITS,
    maximumFractionDigits: USD_MAX_DIGITS,
  });
  const coins = memoize((digits: number) => {
    const fraction = { minimumFractionDigits: digits, maximumFractionDigits: COIN_MAX_DIGITS };
    return new Intl.NumberFormat(code, fraction);
  });
  const minute = new Intl.NumberFormat(code, { style: 'unit', unit: 'minute', unitDisplay: 'long' });
  const relative = new Intl.RelativeTimeFormat(code, { numeric: 'always' });
  const time = new Intl.DateTimeFormat(code, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });
  const number = memoize((value: number) => plain.format(value));
  const twoDigits = memoize((value: number) => two.format(value));
  const patterns = new Map<keyof Texts, string[]>();
  const dir = RIGHT_TO_LEFT.test(texts.amount) ? 'rtl' : 'ltr';
  return {
    code,
    dir,
    say(name, values) {
      if (values === undefined) return texts[name];
      // The text between the names, and the names at the odd places.
      const parts = patterns.get(name) ?? texts[name].split(/\{(\w+)\}/);
      patterns.set(name, parts);
      return parts.map((part, at) => (at % 2 === 0 ? part : isolate(values[part] ?? '', dir))).join('');
    },
    apart: (words) => isolate(words, dir),
    // Intl reads decimal strings exactly; its types do not know it yet.
    usd: memoize((amount: string) => money.format(amount as `${number}`).replace(RIGHT_TO_LEFT_MARK, '')),
    coin: memoize((amount: string) => coins(amount.split('.')[1]?.length ?? 0).format(amount as `${number}`)),
    usually({ seconds, at_most }) {
      const minutes = Math.round(seconds / MINUTE);
      const most = Math.round(at_most / MINUTE);
      if (most > minutes) return this.say('time_range', { n: number(minutes), time: minute.format(most) });
      if (seconds < ABOUT_A_SECOND) return this.say('time_second');
      if (seconds <= FEW_SECONDS) return this.say('time_seconds');
      return minutes <= 1
        ? this.say('time_minute')
        : this.say('time_minutes', { time: minute.format(minutes) });
    },
    inTime(seconds) {
      const minutes = Math.ceil(seconds / MINUTE);
      if (seconds <= MOST_IN_SECONDS) return relative.format(Math.max(1, Math.ceil(seconds)), 'second');
      return minutes <= MOST_IN_MINUTES
        ? relative.format(minutes, 'minute')
        : relative.format(Math.ceil(minutes / MINUTE), 'hour');
    },
    number,
    clock(seconds) {
      const left = Math.max(0, Math.floor(seconds));
      const hours = Math.floor(left / 3600);
      const minutes = Math.floor((left % 3600) / 60);
      const parts = hours > 0 ? [number(hours), twoDigits(minutes)] : [number(minutes)];
      return [...parts, twoDigits(left % 60)].join(':');
    },
    date: memoize((unix_seconds: number) => `${time.format(unix_seconds * 1000)} UTC`),
  };
}

/** The same few figures come again and again, and writing one by the rules of a language is slow. */
function memoize<Key extends string | number, Made extends object | string>(
  write: (key: Key) => Made,
): (key: Key) => Made {
  const cached = boundedCache<Key, Made>(MAX_CACHED);
  return (key) => {
    const text = cached.get(key) ?? write(key);
    cached.set(key, text);
    return text;
  };
}

/** Letters written from right to left, and what steers directions. */
const RIGHT_TO_LEFT =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

/** FIRST STRONG ISOLATE … POP DIRECTIONAL ISOLATE, where the directions differ. */
const isolate = (value: string, dir: Language['dir']): string =>
  dir === 'ltr' && !RIGHT_TO_LEFT.test(value) ? value : `\u2068${value}\u2069`;
