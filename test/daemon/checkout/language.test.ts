// Twelve languages: each says everything, fills in the same values, and is chosen as asked.
import { expect, test } from 'vitest';
import {
  chooseLanguage,
  type LanguageCode,
  languageOf,
  languages,
} from '../../../daemon/checkout/language.ts';
import type { Texts } from '../../../daemon/checkout/texts/texts.ts';

const codes = Object.keys(languages) as LanguageCode[];
const placeholders = (text: string): string[] => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort();

test('twelve languages are spoken', () => {
  const twelve = ['ar', 'de', 'en', 'es', 'fa', 'fr', 'hi', 'ja', 'pt', 'ru', 'tr', 'zh'];
  expect(codes).toEqual(expect.arrayContaining(twelve));
});

test('Arabic and Persian are written from right to left', () => {
  const dirs = (['ar', 'fa', 'en', 'hi', 'ja'] as const).map((code) => languageOf(code).dir);
  expect(dirs).toEqual(['rtl', 'rtl', 'ltr', 'ltr', 'ltr']);
});

test.each(codes)('%s fills in what English fills in, and says nothing twice over', (code) => {
  const texts: Texts = languages[code];
  for (const [name, english] of Object.entries(languages.en) as [keyof Texts, string][]) {
    expect(placeholders(texts[name]), `${code}.${name}`).toEqual(placeholders(english));
    expect(texts[name].trim(), `${code}.${name}`).toBe(texts[name]);
    if (code !== 'en' && english.length > 20)
      expect(texts[name], `${code}.${name} is not translated`).not.toBe(english);
  }
});

test.each([
  [{ lang: 'de', unit: 'fr', accept: 'es' }, 'de'],
  [{ lang: 'xx', unit: 'fr', accept: 'es' }, 'fr'],
  [{ unit: 'pt-BR', accept: 'es' }, 'pt'],
  [{ unit: null, accept: 'sv, es;q=0.5, tr;q=0.8, *;q=0.1' }, 'tr'],
  [{ accept: 'zh-Hant-TW,en;q=0.9' }, 'zh'],
  [{ accept: 'ja;q=0, en' }, 'en'],
  [{ lang: '__proto__', accept: 'constructor' }, 'en'],
  [{ lang: '', accept: null }, 'en'],
  [{}, 'en'],
])('%j chooses %s', (preferences, code) => {
  expect(chooseLanguage(preferences).code).toBe(code);
});

test('money keeps every digit and numbers follow the language', () => {
  expect(languageOf('en').usd('1234.5')).toBe('$1,234.50');
  expect(languageOf('en').usd('0.000001')).toBe('$0.000001');
  expect(languageOf('en').usd('123456789.123456')).toBe('$123,456,789.123456');
  expect(languageOf('de').usd('1234.5').replace(/\s/, ' ')).toBe('1.234,50 $');
  expect(languageOf('en').coin('1234567.123456789123456789')).toBe('1,234,567.123456789123456789');
  expect(languageOf('de').coin('0.00001234')).toBe('0,00001234');
  expect(languageOf('fa').number(32)).toBe('۳۲');
  expect(languageOf('en').clock(3_725)).toBe('1:02:05');
  expect(languageOf('en').clock(65)).toBe('1:05');
});

test('the sign of the currency stays whole alongside Arabic: no mark turns the sum around', () => {
  expect(languageOf('ar').usd('5000').replace(/\s/, ' ')).toBe('5,000.00 US$');
});

test('no line of French begins with a mark that a space stands before', () => {
  expect(languageOf('fr').say('choose')).toBe('Comment souhaitez-vous payer\u00a0?');
});

test('values are isolated where directions could mix', () => {
  expect(languageOf('en').say('pay_with', { wallet: 'Keeper' })).toBe('Pay with Keeper');
  expect(languageOf('ar').say('pay_with', { wallet: 'Keeper' })).toContain('\u2068Keeper\u2069');
  expect(languageOf('en').say('pay_to', { merchant: 'متجر' })).toBe('Payment to \u2068متجر\u2069');
});
