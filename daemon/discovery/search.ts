// Search by intent: plain words of several languages, with typing errors, to the entries that serve them.

import MiniSearch from 'minisearch';
import type { CatalogItem, Kind } from '../../src/api/project/catalog.ts';
import { keywords, secondary } from '../../src/api/project/keywords.ts';
import { cleanText } from '../../src/clean.ts';
import { verbs, weak } from '../../src/guides/synonyms.ts';
import { asksMeaning, createReader } from './tokenizer.ts';

export interface SearchOptions {
  limit: number;
  kind?: Kind | undefined;
  include_docs: boolean;
  include_hidden: boolean;
}

export interface Hit {
  entry: CatalogItem;
  /** Comparable within one answer only. */
  score: number;
  snippet: string;
}

export type Search = (query: string, options: SearchOptions) => Hit[];

const MAX_SNIPPET = 200;
const MIN_SENTENCE = 20;
/** How much a field says about what an entry is for. */
const boost = { title: 5, keywords: 5, name: 2, summary: 2, description: 0.7, docs: 0.3 };
/** Entries that are seldom meant. */
const SECONDARY = 0.6;
/** Concepts, where a question asks what something means. */
const MEANT = 2;
/** How much a term counts. */
const termBoost = (term: string): number => (weak.has(term) ? 0.5 : verbs.has(term) ? 1.4 : 1);
/** A word repeated often says little more than one used once: entries are short. */
const bm25 = { k: 0.4, b: 0.5, d: 0.5 };
const withoutDocs = ['title', 'keywords', 'name', 'summary', 'description'];

/** Indexes the entries; answers in memory. */
export function createSearch(entries: readonly CatalogItem[]): Search {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const reader = createReader(entries.flatMap((entry) => Object.values(fieldsOf(entry))));
  const snippetOf = createSnippets(reader.terms);
  const index = new MiniSearch<Record<string, string>>({
    fields: Object.keys(boost),
    tokenize: (text) => reader.terms(text),
    processTerm: (term) => term,
    searchOptions: { tokenize: (text) => reader.queryTerms(text), processTerm: (term) => term },
  });
  index.addAll(entries.map((entry) => ({ id: entry.id, ...fieldsOf(entry) })));
  return (query, { limit, kind, include_docs, include_hidden }) => {
    const fits = (entry: CatalogItem) => (!kind || entry.kind === kind) && (include_hidden || !entry.hidden);
    if (cleanText(query) === '')
      return entries
        .filter(fits)
        .slice(0, limit)
        .map((entry) => ({ entry, score: 0, snippet: entry.summary }));
    const meaning = asksMeaning(query);
    return index
      .search(query, {
        boost,
        boostTerm: termBoost,
        bm25,
        boostDocument: (id) =>
          secondary.has(id) ? SECONDARY : meaning && byId.get(id)?.kind === 'concept' ? MEANT : 1,
        ...(include_docs ? {} : { fields: withoutDocs }),
        filter: ({ id }) => {
          const entry = byId.get(id);
          return entry !== undefined && fits(entry);
        },
      })
      .slice(0, limit)
      .flatMap(({ id, score, terms }) => {
        const entry = byId.get(id);
        return entry
          ? [{ entry, score: Math.round(score * 100) / 100, snippet: snippetOf(entry, terms) }]
          : [];
      });
  };
}

const fieldsOf = (entry: CatalogItem): Record<keyof typeof boost, string> => ({
  title: entry.title,
  keywords: keywords[entry.id] ?? '',
  // `createInvoice` → `create Invoice`.
  name: entry.id.replace(/([a-z])([A-Z])/g, '$1 $2').replace(/^\w+\./, ''),
  summary: entry.summary,
  description: entry.description ?? '',
  docs: `${entry.path ?? ''} ${entry.docs ?? ''}`,
});

interface Sentence {
  text: string;
  terms: ReadonlySet<string>;
}

/** Of an entry, the sentence with most of the terms that matched; each entry is read once. */
function createSnippets(termsOf: (text: string) => string[]) {
  const read = new Map<string, Sentence[]>();
  const sentencesOf = (entry: CatalogItem): Sentence[] => {
    const text = entry.description ?? entry.docs ?? '';
    return [entry.summary, ...text.split(/(?<=[.:])\s+|\n+/)]
      .filter((sentence) => sentence.length >= MIN_SENTENCE && !sentence.startsWith('```'))
      .map((sentence) => ({ text: sentence, terms: new Set(termsOf(sentence)) }));
  };
  return (entry: CatalogItem, terms: readonly string[]): string => {
    const sentences = read.get(entry.id) ?? sentencesOf(entry);
    read.set(entry.id, sentences);
    let best = { text: entry.summary, count: 0 };
    for (const sentence of sentences) {
      const count = terms.filter((term) => sentence.terms.has(term)).length;
      if (count > best.count) best = { text: sentence.text, count };
    }
    const { text } = best;
    return text.length > MAX_SNIPPET ? `${text.slice(0, MAX_SNIPPET - 1).trimEnd()}…` : text;
  };
}
