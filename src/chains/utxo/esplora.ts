// Reads a chain through an Esplora HTTP API (mempool.space, blockstream.info, litecoinspace.org, self-hosted).
// Source: github.com/Blockstream/esplora, API.md. Scripts are asked by hash, so no address is ever compared.
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { ProviderError, type Rpc } from '../chain.ts';
import { parseBlock, parseHeader, type Transaction } from './block.ts';
import {
  asBytes,
  asHash,
  asNumber,
  asObject,
  badAnswer,
  type Memory,
  nextTurn,
  type Payment,
  type Presence,
  parsedAs,
  provedTip,
  type Source,
  transactionAs,
  type Watched,
} from './source.ts';

/** Mempool listings asked for in one read, in turns: bounds the requests however many invoices are open. */
const SCRIPTS_PER_READ = 16;
/** Scripts whose pending payments are asked about in one recheck, in turns. */
const SCRIPTS_PER_RECHECK = 10;
/** Transactions missing from a listing that are looked up one by one in one recheck. */
const LOOKUPS_PER_RECHECK = 10;
/** A listing shows no more than this; a longer one tells nothing about what is missing from it. */
const LISTED_LIMIT = 50;
/** Inputs of a missing transaction looked up. */
const INPUTS_PER_CONFLICT = 3;
const NOT_FOUND = 404;

export function esploraSource(rpc: Rpc, memory: Memory): Source {
  const hashAt = async (height: number) => asHash(rpc, await rpc.text(`/block-height/${height}`));
  return {
    hashAt,
    /** One request while nothing changes; hash and height come from one answer, so they belong together. */
    async tip() {
      const hash = asHash(rpc, await rpc.text('/blocks/tip/hash'));
      if (memory.tip?.hash === hash) return memory.tip;
      const block = asObject(await rpc.json(`/block/${hash}`));
      const time = asNumber(rpc, block.timestamp);
      const tip = { hash: asHash(rpc, block.id), height: asNumber(rpc, block.height), time };
      memory.tip = await provedTip(rpc, tip, hashAt);
      return memory.tip;
    },
    header: async (hash) =>
      parsedAs(rpc, hash, parseHeader, asBytes(rpc, await rpc.text(`/block/${hash}/header`))),
    block: async (hash) => parsedAs(rpc, hash, parseBlock, await rpc.bytes(`/block/${hash}/raw`)),
    mempool: async (now) => (watched) => scanScripts(rpc, memory, openScripts(watched), now),
    listedThrough: (watched) =>
      openScripts(watched).reduce((least, script) => {
        const listed_at = memory.listed_at.get(script) ?? watched.get(script)?.since ?? 0;
        return Math.min(least, listed_at);
      }, Infinity),
    presence: (payments) => findPayments(rpc, memory, payments),
    async spentByOther(txid, inputs) {
      for (const input of inputs.slice(0, INPUTS_PER_CONFLICT)) {
        const [spent, vout] = input.split(':');
        const answer = asObject(await orNotFound(rpc.json(`/tx/${spent}/outspend/${vout}`)));
        if (answer.spent === true && asHash(rpc, answer.txid) !== txid) return true;
      }
      return false;
    },
  };
}

const openScripts = (watched: Watched): string[] =>
  [...watched.values()].filter((each) => each.open).map((each) => each.key);

/** The newest (at most 50) unconfirmed transactions of each script; any that do not fit are met in their block. */
async function* scanScripts(
  rpc: Rpc,
  memory: Memory,
  scripts: string[],
  now: number,
): AsyncGenerator<Transaction[]> {
  const current = new Set(scripts);
  for (const script of memory.listed.keys()) {
    if (current.has(script)) continue;
    memory.listed.delete(script);
    memory.listed_at.delete(script);
  }
  for (const script of nextTurn(current, memory.last_script, SCRIPTS_PER_READ)) {
    // Before the request: one script that always fails must not keep the others from their turn.
    memory.last_script = script;
    const listed = await listScript(rpc, script);
    const read = memory.listed.get(script) ?? new Set();
    memory.listed.set(script, read);
    for (const txid of read) if (!listed.has(txid)) read.delete(txid);
    for (const txid of listed) {
      if (read.has(txid)) continue;
      const transaction = await readUnconfirmed(rpc, txid);
      if (transaction === undefined) continue;
      if (transaction) yield [transaction];
      read.add(txid);
    }
    memory.listed_at.set(script, now);
  }
}

/** The txids alone: what a transaction pays is taken from its bytes, which its txid proves. */
async function listScript(rpc: Rpc, script: string): Promise<Set<string>> {
  const answer = await rpc.json(`/scripthash/${bytesToHex(sha256(hexToBytes(script)))}/txs/mempool`);
  if (!Array.isArray(answer)) throw badAnswer(rpc, 'a list of transactions was expected');
  return new Set(answer.map((each) => asHash(rpc, asObject(each).txid)));
}

/** Null where there is nothing in it to read; undefined where it was mined or replaced since it was listed. */
async function readUnconfirmed(rpc: Rpc, txid: string): Promise<Transaction | null | undefined> {
  const hex = await orNotFound(rpc.text(`/tx/${txid}/hex`));
  return hex === undefined ? undefined : transactionAs(rpc, txid, asBytes(rpc, hex));
}
/**
 * One listing per script answers for all its payments. A transaction that is known but unconfirmed is not proof
 * by itself: the index keeps transactions of blocks that left the chain, in the mempool or not.
 */
async function findPayments(
  rpc: Rpc,
  memory: Memory,
  payments: readonly Payment[],
): Promise<Map<string, Presence>> {
  const found = new Map<string, Presence>();
  let lookups = 0;
  const scripts = new Set(payments.map(({ address_key }) => address_key));
  for (const script of nextTurn(scripts, memory.last_asked, SCRIPTS_PER_RECHECK)) {
    memory.last_asked = script;
    const listed = await listScript(rpc, script);
    for (const { txid, address_key } of payments) {
      if (address_key !== script || found.has(txid)) continue;
      if (listed.has(txid)) {
        found.set(txid, { in: 'mempool' });
      } else if (lookups++ < LOOKUPS_PER_RECHECK) {
        const presence = await lookUp(rpc, txid, listed.size < LISTED_LIMIT);
        if (presence) found.set(txid, presence);
      }
    }
  }
  return found;
}

/** A transaction that its script's listing does not show; null where that listing was cut off. */
async function lookUp(rpc: Rpc, txid: string, isListingWhole: boolean): Promise<Presence | null> {
  const answer = await orNotFound(rpc.json(`/tx/${txid}`));
  if (answer === undefined) return { in: 'absent' };
  const { confirmed, block_hash, block_height } = asObject(asObject(answer).status);
  if (confirmed === false) return isListingWhole ? { in: 'absent' } : null;
  if (confirmed !== true) throw badAnswer(rpc, 'a transaction status was expected');
  return { in: 'block', hash: asHash(rpc, block_hash), height: asNumber(rpc, block_height) };
}

/** Undefined only for the provider's own "not found": every other failure is thrown on. */
async function orNotFound(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ProviderError && error.code === NOT_FOUND) return undefined;
    throw error;
  }
}
