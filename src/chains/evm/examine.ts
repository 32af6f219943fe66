// What reading needs of a provider and this one does not serve: asked by who examines a deployment, not while reading.
import { type Lack, ProviderError } from '../family.ts';
import { headerOf } from './answers.ts';
import { assetsOf, filtersFor } from './assets.ts';
import { balancesAt } from './balances.ts';
import { type Asker, askAll, blockCall } from './hosts.ts';
import type { EvmContext } from './memory.ts';
import type { Coins, EvmNetwork } from './networks.ts';
import { readLogRange, takesBatches } from './ranges.ts';
import { askerOf } from './reading.ts';
import { readSource, wholeBlocksIn, wholeCalls } from './whole-blocks.ts';

/** What is asked about, enough of them that code is run for their balances; no one has them. */
const KEYS = Array.from({ length: 5 }, (_, at) => `0x${(at + 1).toString(16).repeat(40)}`);
/** The newest block may not be at every host of a provider yet. */
const BELOW_TIP = 3;

export async function examineEvm(network: EvmNetwork, context: EvmContext): Promise<Lack[]> {
  const asker = askerOf(network, context);
  const [newest] = await askAll(asker, [blockCall('latest')]);
  const height = Math.max(1, (headerOf(newest, 'latest')?.height ?? 0) - BELOW_TIP);
  const { logs, coin } = assetsOf(network, context);
  const filters = filtersFor(logs, KEYS, network.dialect.topic_values);
  const lacks: Lack[] = [];
  const from = Math.max(1, height - network.range_blocks + 1);
  if (filters.length > 0)
    await note(lacks, 'it serves no logs, so that no payment in these is seen', true, async () => {
      await readLogRange(asker, filters, from, height);
    });
  if (coin) await examineCoin(asker, { name: network.name, by: coin.by, height }, lacks);
  if (!takesBatches(asker.host))
    lacks.push({
      is_needed: false,
      says: 'it takes no batches: reading takes several times as many requests, and invoices end minutes later',
    });
  return lacks;
}

async function examineCoin(
  asker: Asker,
  { name, by, height }: { name: string; by: Exclude<Coins, { found_by: 'none' | 'log' }>; height: number },
  lacks: Lack[],
): Promise<void> {
  const of = `no payment in the coin of ${name} is seen`;
  if (by.found_by === 'source') {
    const { rpc } = asker;
    await note(lacks, `it serves no blocks of the node's own API, so that ${of}`, true, async () => {
      await readSource(asker, by.source, height, height);
    });
    await note(lacks, 'it tells balances one by one: what contracts pay is listed late', false, async () => {
      await by.source.solid.balances(rpc, KEYS, true);
    });
    return;
  }
  await note(lacks, `it serves no whole blocks, so that ${of}`, true, async () => {
    await wholeBlocksIn(asker, await askAll(asker, wholeCalls(height, height)), height);
  });
  await note(lacks, `it tells no balances, so that ${of}`, by.found_by === 'balances', async () => {
    const [answer] = await askAll(asker, [blockCall(height)]);
    const hash = headerOf(answer, height)?.hash ?? '';
    await balancesAt(asker, KEYS, [height, hash]);
  });
  if (!asker.host.runs_code)
    lacks.push({ is_needed: false, says: 'it runs no code: each balance takes a call of its own' });
}

async function note(
  lacks: Lack[],
  says: string,
  is_needed: boolean,
  ask: () => Promise<void>,
): Promise<void> {
  try {
    await ask();
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    lacks.push({ is_needed, says: `${says}: ${error.message}` });
  }
}
