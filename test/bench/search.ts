// Searching by intent: how long the index and the endpoint take over the written intents.
import { createSearch } from '../../daemon/discovery/search.ts';
import { catalog } from '../../src/api/project/catalog.ts';
import { intents } from '../daemon/discovery/intents.ts';
import { median, say } from './measure.ts';
import { startWorld } from './world.ts';

const ROUNDS = 5;

export async function benchSearch(): Promise<void> {
  const search = createSearch(catalog({ base_url: 'http://127.0.0.1:4020', network: 'testnet' }));
  const options = { limit: 8, include_docs: true, include_hidden: false };
  const { home, daemon } = await startWorld();
  const ways: [string, (query: string) => unknown][] = [
    ['the index', (query) => search(query, options)],
    [
      'GET /v1/search',
      async (query) => (await fetch(`${daemon.url}/v1/search?q=${encodeURIComponent(query)}`)).text(),
    ],
  ];
  for (const [name, ask] of ways) {
    const rounds: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const times: number[] = [];
      for (const { query } of intents) {
        const started = performance.now();
        await ask(query);
        times.push(performance.now() - started);
      }
      rounds.push(times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? 0);
    }
    say(`${name}: p95 ${median(rounds).toFixed(2)} ms over ${intents.length} intents`);
  }
  await home.remove();
}
