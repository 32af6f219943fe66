// Whether each request of the product has an answer that was really given, and where that is published.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { rateSources } from '../../../src/rate-sources.ts';
import { kinds, type RecordedKind, recordedOf } from './recorded.ts';

const LEAST = 60;
/** Requests as the sources of the product write them, by the kind of provider that is asked. */
const written: Record<Exclude<RecordedKind, 'prices' | 'telegram'>, { files: string[]; request: RegExp }> = {
  toncenter: { files: ['ton/providers/toncenter'], request: /const path = '(\/\w+)'/g },
  solana: { files: ['solana/providers/rpc'], request: /'(get[A-Z]\w+|isBlockhashValid)'/g },
  esplora: {
    files: ['utxo/providers/esplora'],
    request: /`(\/[a-z]\S*?)`|'(\/blocks[^']*)'|\$\{path\}(\/[a-z/]+)/g,
  },
  core: { files: ['utxo/providers/core'], request: /'(get[a-z]+|uptime)'/g },
  evm: {
    files: [
      'answers',
      'balances',
      'credits',
      'family',
      'hosts',
      'ranges',
      'recheck',
      'whole-blocks',
      'reading',
    ].map((file) => `evm/${file}`),
    request: /'(eth_\w+)'/g,
  },
  tron: {
    files: ['tron/blocks', 'tron/solid'],
    request: /ask\(rpc, ('\w+', '\w+')|askSolid\(rpc, ('\w+')/g,
  },
};

/** As records name it: what is put into a path is left out. */
const plain = (request: string): string =>
  request.replace(/\$\{[^}]*\}|:\w+/g, '*').replace(/^scripthash/, '/scripthash');

function requestsIn(kind: keyof typeof written): string[] {
  const { files, request } = written[kind];
  const found = files.flatMap((file) => {
    const text = readFileSync(new URL(`../../../src/chains/${file}.ts`, import.meta.url), 'utf8');
    return [...text.matchAll(request)].map(([, ...groups]) => groups.find(Boolean) as string);
  });
  return [...new Set(found.map((each) => plain(asRecorded(kind, each))))];
}

function asRecorded(kind: keyof typeof written, request: string): string {
  if (kind === 'esplora' && /^\/(txs|utxo)/.test(request)) return `/scripthash/:hash${request}`;
  if (kind !== 'tron') return request;
  const words = request.replace(/'/g, '').split(', ');
  return words.length === 2 ? words.join('/') : `walletsolidity/${words[0]}`;
}

describe.each(Object.keys(written) as (keyof typeof written)[])('%s', (kind) => {
  test('each request of the product has a recorded answer', () => {
    const asked = new Set(recordedOf(kind).flatMap(({ asks }) => asks.split(' ').map(plain)));
    const requests = requestsIn(kind);
    expect(requests.length).toBeGreaterThan(2);
    expect(requests.filter((request) => !asked.has(request))).toEqual([]);
  });
});

test('each source of prices has a recorded answer', () => {
  const asked = new Set(recordedOf('prices').map(({ asks }) => asks));
  expect(rateSources.filter(({ id }) => !asked.has(id))).toEqual([]);
});

test('there are enough of them, each with where it is published, and refusals of each kind', () => {
  const given = kinds.flatMap((kind) => recordedOf(kind).filter(({ recorded }) => recorded !== 'documented'));
  expect(given.length).toBeGreaterThanOrEqual(LEAST);
  for (const kind of kinds)
    for (const { name, source, recorded } of recordedOf(kind)) {
      expect([name, source.length > 5, recorded.length > 0]).toEqual([name, true, true]);
    }
});
