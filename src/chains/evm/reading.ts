// What one reading carries along: the provider, its tip, what is watched, and how deep blocks stand.

import { rejectClockSkew } from '../clock-skew.ts';
import {
  type Json,
  type Page,
  ProviderError,
  type ReadRequest,
  type Tip,
  type UnreadableAsset,
  type WatchedAddress,
} from '../family.ts';
import { badAnswer, type Header, headerOf } from './answers.ts';
import { type Assets, assetsOf, checkDecimals, filtersFor } from './assets.ts';
import type { BalancesAt } from './balances.ts';
import { readCredits, type Seen, type Watched } from './credits.ts';
import { cursorOf, type EvmCursor, hashAt, headOf } from './cursor.ts';
import { blockSeconds, blocksIn, placer } from './depth.ts';
import { type Asker, askEach, blockCall, given, type Host, heightsOf, newHost } from './hosts.ts';
import { absentOf, type EvmContext } from './memory.ts';
import type { EvmNetwork } from './networks.ts';
import type { Filter } from './ranges.ts';
import type { WholeBlock } from './whole-blocks.ts';

/** How often the tag `finalized` is asked for. */
const FINALIZED_SECONDS = 30;
/** A provider that ran no code is asked to again after so long. */
const CODE_AGAIN_SECONDS = 600;
/**
 * Where a poll finds no more blocks than these, each is asked for alone, and its logs by its hash, which a node that lags
 * refuses; where it finds more, they are read in one piece, so that a minute costs the same at any pace.
 */
export const NEWEST_BLOCKS = 3;
/** A main network whose provider shows no new block for so long, and for so many times the average, is not read there. */
const STUCK_SECONDS = 120;
const STUCK_BLOCKS = 20;

export interface Reading {
  network: EvmNetwork;
  context: EvmContext;
  asker: Asker;
  request: ReadRequest;
  assets: Assets;
  unreadable: UnreadableAsset[];
  tip: Header;
  /** When that was the newest block by the provider, Unix seconds of our clock. */
  tip_at: number;
  /** Whether a poll finds so few blocks that each is asked for alone. */
  by_block: boolean;
  /** Blocks after the last one that was read before, as far as they are known. */
  ahead: readonly Header[];
  watched: Watched;
  filters: readonly Filter[];
  /** Transactions that stood in blocks which left the chain in this reading. */
  displaced: Set<string>;
  /** As stored with the last page. */
  cursor: EvmCursor;
  /** Up to when this reading has stated that all is read. */
  read_through?: number;
  /** Addresses whose state is asked for with the balances. */
  checking?: readonly string[];
  is_checked?: boolean;
  /** By height: whole blocks that were read for coins, with what moves watched addresses alone. */
  whole: Map<number, WholeBlock>;
  /** The balances at the head, once they were asked for. */
  looked?: BalancesAt;
  /** Whether it came further, and left what the next one could read at once. */
  is_unfinished?: boolean;
  /** Whether its blocks are read a second time. */
  is_second?: boolean;
  /** Whether what another provider alone lists is held against this one. */
  is_others?: boolean;
  /** Above one block, and up to another, the balances of these keys have changed. */
  changed?: { after: number; by: number; keys: string };
}

/** At first a filter of logs spans so long, in as many blocks as few providers refuse. */
const RANGE_SECONDS = 60;
const MOST_RANGE_BLOCKS = 2_000;

/** Once blocks come so many times as fast, how many a host takes at once is tried again. */
const FASTER_TIMES = 2;

/** Where blocks are fast, a minute of them is asked for in as many requests as where they are slow. */
function paced(network: EvmNetwork, cursor: EvmCursor | null): EvmNetwork {
  const { range_blocks, whole_blocks, most_whole_blocks = whole_blocks } = network;
  const wanted = blocksIn(network, cursor, RANGE_SECONDS);
  return {
    ...network,
    range_blocks: Math.max(range_blocks, Math.min(MOST_RANGE_BLOCKS, wanted)),
    whole_blocks: Math.max(whole_blocks, Math.min(most_whole_blocks, wanted)),
    block_seconds: blockSeconds(network, cursor),
  };
}

function hostOf(network: EvmNetwork, { rpc, memory }: EvmContext): Host {
  const known = memory.hosts.get(rpc);
  const now = paced(network, memory.cursor);
  if (known && known.block_seconds < FASTER_TIMES * now.block_seconds) return known;
  const { blocks, whole, ...rest } = newHost(now, rpc.limits);
  return { ...rest, ...known, blocks, whole, block_seconds: now.block_seconds };
}

export function askerOf(network: EvmNetwork, context: EvmContext): Asker {
  const { rpc, memory, now } = context;
  const host = hostOf(network, context);
  memory.hosts.set(rpc, host);
  tryCodeAgain(host, now());
  return { rpc, host, batch_bytes: network.batch.bytes };
}

/** One failure may have been for something else than the code. */
function tryCodeAgain(host: Host, now: number): void {
  if (host.runs_code) {
    host.runs_none_since = null;
    return;
  }
  const since = Math.min(host.runs_none_since ?? now, now);
  host.runs_none_since = since;
  if (now - since < CODE_AGAIN_SECONDS) return;
  host.runs_code = true;
  host.runs_none_since = null;
}

interface Known {
  tip: Header;
  tip_at: number;
  by_block: boolean;
  /** Blocks after the last one that was read, as far as there are any. */
  ahead: Header[];
  /** The newest block that the network itself calls final; null where it was not asked for, or is not known. */
  finalized: Header | null;
}

/** The newest block, those between it and what was read where they are few, and now and then the newest final one. */
async function readTip(
  network: EvmNetwork,
  context: EvmContext,
  asker: Asker,
  cursor: EvmCursor | null,
): Promise<Known> {
  const { memory, now, gateways } = context;
  const isDue = now() - memory.finalized_at >= FINALIZED_SECONDS || now() < memory.finalized_at;
  const poll_seconds = Math.min(...gateways.map((each) => each.poll_interval_seconds));
  const found = poll_seconds / blockSeconds(network, cursor);
  const by_block = Math.round(found) <= NEWEST_BLOCKS;
  const usual = by_block ? Math.min(NEWEST_BLOCKS, Math.ceil(found)) : 1;
  const head = cursor && headOf(cursor)[0];
  const next = head === null ? [] : heightsOf(head + 1, head + usual - 1);
  const answers = await askEach(asker, [
    blockCall('latest'),
    ...next.map((height) => blockCall(height)),
    ...(isDue ? [blockCall('finalized')] : []),
  ]);
  const tip = headerOf(given(answers[0]), 'latest');
  if (!tip) throw badAnswer('the provider has no newest block');
  const tip_at = now();
  rejectClockSkew('the newest block', tip.time, tip_at);
  if (isDue) memory.finalized_at = now();
  const ahead = next.flatMap((height, at) => headerOf(given(answers[1 + at]), height) ?? []);
  return { tip, tip_at, by_block, ahead, finalized: finalizedIn(answers[1 + next.length], tip) };
}

/** A network without the tag has blocks that are final by their depth alone. */
function finalizedIn(answer: unknown, tip: Header): Header | null {
  if (answer === undefined || answer instanceof ProviderError) return null;
  const finalized = headerOf(answer, 'finalized');
  return finalized && finalized.height <= tip.height ? finalized : null;
}

/** Throws ProviderError where a provider of a main network has stood still for so long that it must be stuck. */
export function rejectStuck({ network, context, cursor, asker: { host }, tip, tip_at }: Reading): void {
  const most = Math.max(STUCK_SECONDS, STUCK_BLOCKS * blockSeconds(network, cursor));
  const { height, at } = host.tip ?? { height: -1, at: tip_at };
  if (height !== tip.height || at > tip_at) {
    host.tip = { height: tip.height, at: tip_at };
    const behind = tip_at - context.local(tip.time).latest_at;
    if (context.network === 'mainnet' && behind > most)
      throw badAnswer(`the provider is behind: its newest block is ${behind} seconds old`);
    return;
  }
  if (context.network === 'mainnet' && tip_at - at > most)
    throw badAnswer(`the provider has shown no block after ${tip.height} for ${tip_at - at} seconds`);
}

export async function openReading(
  network: EvmNetwork,
  context: EvmContext,
  request: ReadRequest,
): Promise<Omit<Reading, 'cursor' | 'watched' | 'filters' | 'displaced' | 'whole'> & Known> {
  const asker = askerOf(network, context);
  const known = await readTip(network, context, asker, cursorOf(request.cursor));
  const { unreadable, refused } = await checkDecimals(network, context, asker);
  const assets = assetsOf(network, context, refused);
  return { network, context, asker, request, assets, unreadable, ...known };
}

export function filtersOf(network: EvmNetwork, { logs }: Assets, watched: Watched): Filter[] {
  return filtersFor(logs, [...watched.keys()].sort(), network.dialect.topic_values);
}

export const watchedOf = async (request: ReadRequest): Promise<Map<string, WatchedAddress>> =>
  new Map((await request.addresses()).map((each) => [each.key, each]));

export const tipOf = ({ height, hash, time }: Header): Tip => ({ height, hash, time });

/** Takes over what the network calls final, as far as it was read and is the same chain. */
export function withFinal(cursor: EvmCursor, finalized: Header | null): EvmCursor {
  if (!finalized || finalized.height <= cursor.final || finalized.height > headOf(cursor)[0]) return cursor;
  const held = hashAt(cursor, finalized.height);
  const { height: final, hash: final_hash } = finalized;
  return held === undefined || held === final_hash ? { ...cursor, final, final_hash } : cursor;
}

/** Yields a page with the cursor that stands after it, which counts once the page is stored. */
export function* stored(reading: Reading, page: Omit<Page, 'cursor'>, cursor: EvmCursor): Generator<Page> {
  yield { ...page, cursor: cursor as unknown as Json };
  reading.cursor = cursor;
  if (page.read_through !== undefined) reading.read_through = page.read_through;
  const { memory } = reading.context;
  memory.cursor = cursor;
  // The second time is a time of its own.
  memory.proofs.clear();
}

/** Payments as they stand once the chain is read up to the head of `cursor`. */
export function creditsAt(
  { network, asker, assets, watched, displaced, context, is_second = false, is_others = false }: Reading,
  cursor: EvmCursor,
  seen: Seen,
): ReturnType<typeof readCredits> {
  const place = placer(network, cursor);
  const { local, memory } = context;
  const { proofs } = memory;
  const how = { is_second, is_others, absent: absentOf(context), place, local };
  return readCredits({ network, asker, assets, watched, displaced, proofs, ...how }, seen);
}
