// Words to terms: one term for all forms and translations of a word, and the nearest one for what is typed wrongly.
import MiniSearch from 'minisearch';
import { stemmer } from 'stemmer';
import { asked, definition, pairs, phrases, stopWords, synonyms } from '../../src/guides/synonyms.ts';

/** Longest word that is read. */
const MAX_WORD = 40;
/** Most words of a query that are read. */
const MAX_WORDS = 32;
/** Shorter words are too near to too many others to be corrected. */
const MIN_CORRECTED = 5;
const HAN = /\p{Script=Han}/u;

/** Lower case without accents: `Factúra` → `factura`. */
const plain = (text: string): string =>
  text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replaceAll('’', "'");

interface Dictionary {
  /** Whole words as they are written … */
  words: Map<string, string>;
  /** … and by their stem, which may be that of another: the first of the list has it. */
  stemmed: Map<string, string>;
  /** Beginnings of words, longest first. */
  stems: [string, string][];
  /** Chinese words, longest first. */
  han: [string, string][];
  phrases: [RegExp, string][];
}

function read(): Dictionary {
  const dictionary: Dictionary = { words: new Map(), stemmed: new Map(), stems: [], han: [], phrases: [] };
  for (const [term, list] of Object.entries(synonyms)) {
    addWord(dictionary, term, term);
    for (const word of plain(list).split(/\s+/).filter(Boolean)) {
      if (HAN.test(word)) dictionary.han.push([word, term]);
      else if (word.endsWith('*')) dictionary.stems.push([word.slice(0, -1), term]);
      else addWord(dictionary, word, term);
    }
  }
  const longest = ([a]: [string, string], [b]: [string, string]) => b.length - a.length;
  dictionary.stems.sort(longest);
  dictionary.han.sort(longest);
  dictionary.phrases = Object.entries(phrases).map(([pattern, term]) => [
    new RegExp(`(?<![\\p{L}\\p{N}])(?:${pattern})(?![\\p{L}\\p{N}])`, 'gu'),
    ` ${term} `,
  ]);
  return dictionary;
}

function addWord({ words, stemmed }: Dictionary, word: string, term: string): void {
  words.set(word, term);
  const stem = stemmer(word);
  if (!stemmed.has(stem)) stemmed.set(stem, term);
}

const dictionary = read();

/** Chinese has no spaces: the longest known words, from left to right; what is unknown is left out. */
function hanTerms(run: string): string[] {
  const terms: string[] = [];
  for (let at = 0; at < run.length; ) {
    const found = dictionary.han.find(([word]) => run.startsWith(word, at));
    if (found) terms.push(found[1]);
    at += found?.[0].length ?? 1;
  }
  return terms;
}

/** The words of a text, before they become terms; Chinese as runs. */
export function wordsOf(text: string): string[] {
  let read = plain(text);
  for (const [pattern, term] of dictionary.phrases) read = read.replace(pattern, term);
  return (read.match(/\p{Script=Han}+|[\p{L}\p{N}]+/gu) ?? []).map((word) => word.slice(0, MAX_WORD));
}

/** The term of a word that the dictionary has. */
const known = (word: string): string | undefined =>
  dictionary.words.get(word) ??
  dictionary.stemmed.get(stemmer(word)) ??
  dictionary.stems.find(([stem]) => word.startsWith(stem))?.[1];

/** What pairs of terms mean. */
const together = (terms: readonly string[]): string[] =>
  pairs.filter(([one, other]) => terms.includes(one) && terms.includes(other)).map(([, , both]) => both);

/** Whether a query asks what something means. */
export const asksMeaning = (query: string): boolean => definition.test(plain(query));

const isStop = (word: string): boolean => stopWords.has(word);

export interface Reader {
  /** Of a text that is indexed. */
  terms(text: string): string[];
  /** Of a query: words that nothing knows become the nearest that is known. */
  queryTerms(text: string): string[];
}

/** `texts` are everything that is indexed. */
export function createReader(texts: readonly string[]): Reader {
  // Each text is taken apart once: its words are read here, and its terms when it is indexed.
  const read = new Map(texts.map((text) => [text, wordsOf(text)]));
  const vocabulary = [...new Set([...read.values()].flat())];
  const indexed = new Set(vocabulary.filter((word) => !HAN.test(word)).map((word) => stemmer(word)));
  const spelling = new MiniSearch<{ id: string }>({
    fields: ['id'],
    processTerm: (term) => term,
    tokenize: (text) => [text],
  });
  const correct = [
    ...new Set([
      ...vocabulary.filter((word) => word.length >= MIN_CORRECTED && !HAN.test(word) && !isStop(word)),
      ...[...dictionary.stems.map(([stem]) => stem), ...spelledSynonyms()].filter(
        (w) => w.length >= MIN_CORRECTED,
      ),
    ]),
  ];
  spelling.addAll(correct.map((id) => ({ id })));
  // Of indexed words only, so that it cannot grow.
  const termsOf = new Map<string, string>(vocabulary.map((word) => [word, known(word) ?? stemmer(word)]));
  const termOf = (word: string): string => termsOf.get(word) ?? known(word) ?? stemmer(word);
  const nearest = (word: string): string | undefined => {
    if (word.length < MIN_CORRECTED || /^\d+$/.test(word)) return undefined;
    const fuzzy = word.length < 5 ? 1 : 2;
    return spelling.search(word, { fuzzy, maxFuzzy: fuzzy, prefix: word.length >= 5 })[0]?.id as
      | string
      | undefined;
  };
  const terms = (text: string): string[] =>
    (read.get(text) ?? wordsOf(text)).flatMap((word) =>
      HAN.test(word) ? hanTerms(word) : isStop(word) ? [] : [termOf(word)],
    );
  return {
    terms,
    queryTerms: (text) => {
      const found = wordsOf(text)
        .slice(0, MAX_WORDS)
        .flatMap((word) => {
          if (HAN.test(word)) return hanTerms(word);
          if (isStop(word)) return [];
          const term = (Object.hasOwn(asked, word) ? asked[word] : undefined) ?? known(word);
          if (term) return [term];
          if (indexed.has(stemmer(word))) return [stemmer(word)];
          const near = nearest(word);
          return near && !isStop(near) ? [termOf(near)] : [];
        });
      return [...new Set([...found, ...together(found)])];
    },
  };
}

const spelledSynonyms = (): string[] =>
  Object.values(synonyms)
    .flatMap((list) => plain(list).split(/\s+/))
    .filter((word) => word !== '' && !word.endsWith('*') && !HAN.test(word));
