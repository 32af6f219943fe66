// Reads a chain through an Esplora HTTP API (mempool.space, blockstream.info, litecoinspace.org, self-hosted).
// Source: github.com/Blockstream/esplora, API.md. Scripts are asked by hash, so no address is ever compared.
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { ProviderError, type Rpc } from '../chain.ts';
import { parseBlock, parseHeader, type Transaction } from './block.ts';
import {
  asHash,
  asNumber,
  badAnswer,
  type Memory,
  nextTurn,
  type Payment,
  type Presence,
  parsedAs,
  type Source,
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

interface EsploraTransaction {
  txid: unknown;
  vin: { txid: unknown; vout: unknown }[];
  vout: { scriptpubkey: unknown; value: unknown }[];
}

export function esploraSource(rpc: Rpc, memory: Memory): Source {
  const hashAt = async (height: number) => asHash(rpc, await rpc.text(`/block-height/${height}`));
  return {
    hashAt,
    /** One request while nothing changes; hash and height come from one answer, so they belong together. */
    async tip() {
      const hash = asHash(rpc, await rpc.text('/blocks/tip/hash'));
      if (memory.tip?.hash === hash) return memory.tip;
      const block = (await rpc.json(`/block/${hash}`)) as Record<string, unknown> | null;
      const time = asNumber(rpc, block?.timestamp);
      memory.tip = { hash: asHash(rpc, block?.id), height: asNumber(rpc, block?.height), time };
      return memory.tip;
    },
    async header(hash) {
      const hex = (await rpc.text(`/block/${hash}/header`)).trim();
      if (!/^(?:[0-9a-f]{2})+$/.test(hex)) throw badAnswer(rpc, 'a block header was expected');
      return parsedAs(rpc, hash, parseHeader, hexToBytes(hex));
    },
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
        const answer = await orNotFound(rpc.json(`/tx/${spent}/outspend/${vout}`));
        const { spent: isSpent, txid: by } = (answer ?? {}) as { spent?: unknown; txid?: unknown };
        if (isSpent === true && typeof by === 'string' && by !== txid) return true;
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
    const before = memory.listed.get(script);
    const fresh = listed.filter(({ txid }) => !before?.has(txid));
    if (fresh.length > 0) yield fresh;
    memory.listed.set(script, new Set(listed.map(({ txid }) => txid)));
    memory.listed_at.set(script, now);
  }
}

async function listScript(rpc: Rpc, script: string): Promise<Transaction[]> {
  const answer = await rpc.json(`/scripthash/${bytesToHex(sha256(hexToBytes(script)))}/txs/mempool`);
  if (!Array.isArray(answer)) throw badAnswer(rpc, 'a list of transactions was expected');
  return answer.map((each) => transactionOf(rpc, each as EsploraTransaction));
}

/** Inputs and outputs inside Litecoin's MWEB have neither script nor origin; they only keep their places. */
function transactionOf(rpc: Rpc, { txid, vin, vout }: EsploraTransaction): Transaction {
  if (!Array.isArray(vin) || !Array.isArray(vout)) throw badAnswer(rpc, 'a transaction was expected');
  return {
    txid: asHash(rpc, txid),
    coinbase: false,
    inputs: vin.flatMap((input) =>
      typeof input.txid === 'string' ? `${asHash(rpc, input.txid)}:${asNumber(rpc, input.vout)}` : [],
    ),
    outputs: vout.map(({ scriptpubkey: script, value }) =>
      typeof script === 'string'
        ? { script, amount: BigInt(asNumber(rpc, value)) }
        : { script: '', amount: 0n },
    ),
  };
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
    const listed = new Set((await listScript(rpc, script)).map(({ txid }) => txid));
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
  const { confirmed, block_hash, block_height } =
    (answer as { status?: Record<string, unknown> } | null)?.status ?? {};
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
