// TRON's node over an EVM node: its dialect of JSON-RPC with the limits and texts of java-tron, and its own API for blocks.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { contractTransaction, type TronTransaction, tronHex } from './tron-transactions.ts';

/** Asks the EVM node; a refusal is thrown with its `code`. */
export type AskNode = <T = unknown>(method: string, ...params: unknown[]) => Promise<T>;

interface Block {
  number: string;
  hash: string;
  parentHash: string;
  timestamp: string;
  transactions: Transaction[];
}
interface Transaction {
  hash: string;
  from: string;
  to: string | null;
  value: string;
  input: string;
  blockHash: string;
  blockNumber: string;
}

/** Solidified: when eighteen others have built on it. */
const SOLID_BLOCKS = 18;
/** In which a transaction can be put into a block, as wallets have it. */
const LIFE_SECONDS = 60;
const MAX_RANGE = 5000;
const MAX_TOPICS = 1000;
const MAX_ADDRESSES = 1000;
const MAX_RESULTS = 10_000;
const MAX_BATCH = 100;
const MAX_BLOCKS = 100;
const INVALID_PARAMS = -32_602;
const EXCEED_LIMIT = -32_005;
const ZEROS = `0x${'0'.repeat(64)}`;
const OVERLOADED = '{"Error":"class java.lang.IllegalAccessException : lack of computing resources"}';
const SUSPENDED =
  '{"Success":false,"Error":"The key exceeds the frequency limit(15), and the query server is suspended for 30 seconds"}';

class Refused extends Error {
  readonly code: number;
  constructor(message: string, code = INVALID_PARAMS) {
    super(message);
    this.code = code;
  }
}

const heightHash = (height: number, hash: string): string =>
  height < 0 ? ZEROS : `0x${height.toString(16).padStart(16, '0')}${hash.slice(18)}`;
export type TronFront = Awaited<ReturnType<typeof startTronFront>>;

export async function startTronFront(ask: AskNode) {
  /** The node's hashes by those that the front has shown. */
  const shown = new Map<string, string>();
  const planted = new Map<number, TronTransaction[]>();
  /** Blocks that were shown, which are there also after they have left the chain, for a while. */
  const blocks = new Map<string, object>();
  const state = {
    /** So many of the newest blocks are not there yet. */
    lag: 0,
    /** What the next requests are answered with, in place of an answer. */
    faults: [] as ('overloaded' | 'suspended' | null)[],
    /** Changes the text of answers. */
    rewrite: null as null | ((text: string) => string),
    /** Whether transactions of blocks are left out of the API's answers, and where blocks are. */
    omits: null as null | 'transactions' | 'blocks',
    /** Whether it runs code that changes nothing, and by how much the next balance that this tells is too high. */
    runs_code: true,
    too_high: 0n,
    /** Its newest block that no branch replaces, where it stands still; and how far ahead code says that it ran. */
    solid_at: null as number | null,
    ahead: 0,
    requests: [] as string[],
  };

  const head = async (): Promise<number> => Number(await ask<string>('eth_blockNumber')) - state.lag;
  const nodeHash = (hash: unknown): string => shown.get(String(hash).toLowerCase()) ?? String(hash);
  const show = (height: number, hash: string): string => {
    const own = heightHash(height, hash);
    shown.set(own, hash);
    return own;
  };

  async function heightOf(tag: unknown): Promise<number> {
    const text = String(tag);
    if (text === 'latest') return head();
    if (text === 'earliest') return 0;
    if (text === 'finalized') return Math.max(0, (await head()) - SOLID_BLOCKS);
    if (text === 'pending' || text === 'safe') throw new Refused(`TAG ${text} not supported`);
    if (!/^(0x[0-9a-f]+|\d+)$/i.test(text)) throw new Refused('invalid block number');
    return Number(text);
  }

  async function blockAt(height: number): Promise<Block | null> {
    if (height > (await head())) return null;
    return ask<Block | null>('eth_getBlockByNumber', `0x${height.toString(16)}`, true);
  }

  /** Anything that names a block, with the hashes of TRON. */
  function inBlock<T extends { blockHash?: string | null; blockNumber?: string | null }>(of: T): T {
    if (of.blockHash == null || of.blockNumber == null) return of;
    return { ...of, blockHash: show(Number(of.blockNumber), of.blockHash) };
  }

  /** What JSON-RPC makes of a planted transaction: `to` and `value` are filled whatever it is. */
  function disguised(height: number, hash: string) {
    return (planted.get(height) ?? []).map((each) => {
      const { contract } = (each.raw_data ?? {}) as { contract?: unknown };
      const [first] = Array.isArray(contract) ? contract : [];
      const value = (first as { parameter?: { value?: object } } | null)?.parameter?.value ?? {};
      const { to_address = '', owner_address = '', amount = 0 } = value as Record<string, string>;
      return {
        hash: `0x${each.txID}`,
        from: `0x${owner_address.slice(2)}`,
        to: `0x${to_address.slice(2)}`,
        value: `0x${Math.abs(Math.floor(Number(amount))).toString(16)}`,
        input: '0x',
        type: '0x0',
        nonce: '0x0',
        blockHash: hash,
        blockNumber: `0x${height.toString(16)}`,
      };
    });
  }

  function tronBlock(block: Block, full: boolean) {
    const height = Number(block.number);
    const hash = show(height, block.hash);
    const transactions = [
      ...block.transactions.map((each) => ({ ...inBlock(each), type: '0x0', nonce: '0x0' })),
      ...disguised(height, hash),
    ];
    return {
      ...block,
      hash,
      parentHash: show(height - 1, block.parentHash),
      logsBloom: `0x${'0'.repeat(512)}`,
      stateRoot: '0x',
      transactionsRoot: ZEROS,
      nonce: '0x0',
      transactions: full ? transactions : transactions.map(({ hash: id }) => id),
    };
  }

  function checkFilter({ address, topics }: { address?: unknown; topics?: unknown }): void {
    const addresses = [address ?? []].flat();
    if (addresses.length > MAX_ADDRESSES) throw new Refused(`exceed max addresses: ${MAX_ADDRESSES}`);
    for (const each of addresses)
      if (!/^0x[0-9a-f]{40}$/i.test(String(each))) throw new Refused(`invalid address: ${each}`);
    for (const each of (topics ?? []) as unknown[])
      if (Array.isArray(each) && each.length > MAX_TOPICS)
        throw new Refused(`exceed max topics: ${MAX_TOPICS}`);
  }

  async function getLogs(filter: Record<string, unknown>): Promise<unknown[]> {
    checkFilter(filter);
    const { address, topics, blockHash } = filter;
    const newest = await head();
    if (blockHash !== undefined) {
      const hash = nodeHash(blockHash);
      const block = hash === blockHash ? null : await ask<Block | null>('eth_getBlockByHash', hash, false);
      if (!block || Number(block.number) > newest) throw new Refused('invalid blockHash');
      return (
        await ask<{ blockHash: string; blockNumber: string }[]>('eth_getLogs', {
          address,
          topics,
          blockHash: hash,
        })
      ).map(inBlock);
    }
    const from = await heightOf(filter.fromBlock ?? 'latest');
    const to = await heightOf(filter.toBlock ?? 'latest');
    if (from > to) throw new Refused('please verify: fromBlock <= toBlock');
    if (to - from >= MAX_RANGE) throw new Refused(`exceed max block range: ${MAX_RANGE}`);
    // What it does not have yet is answered as if it were empty.
    if (from > newest) return [];
    const range = { fromBlock: `0x${from.toString(16)}`, toBlock: `0x${Math.min(to, newest).toString(16)}` };
    const logs = await ask<{ blockHash: string; blockNumber: string }[]>('eth_getLogs', {
      address,
      topics,
      ...range,
    });
    if (logs.length > MAX_RESULTS)
      throw new Refused(`query returned more than ${MAX_RESULTS} results`, EXCEED_LIMIT);
    return logs.map(inBlock);
  }

  /** The receipt of a planted transaction, as the EVM node would name its block. */
  async function plantedReceipt(method: string, id: unknown) {
    const [place] = [...planted].filter(([, all]) => all.some(({ txID }) => `0x${txID}` === id));
    const block = place && method === 'eth_getTransactionReceipt' ? await blockAt(place[0]) : null;
    if (!block) return null;
    const { hash: blockHash, number: blockNumber } = block;
    return { transactionHash: String(id), blockHash, blockNumber, status: '0x1', logs: [] as [] };
  }

  const onlyLatest = (tag: unknown): void => {
    if (tag !== 'latest') throw new Refused('QUANTITY not supported, just support TAG as latest');
  };

  async function rpc(method: string, params: unknown[]): Promise<unknown> {
    if (method === 'eth_blockNumber') return `0x${(await head()).toString(16)}`;
    if (method === 'eth_getBlockByNumber') {
      const block = await blockAt(await heightOf(params[0]));
      return block && tronBlock(block, params[1] === true);
    }
    if (method === 'eth_getLogs') return getLogs(params[0] as Record<string, unknown>);
    if (method === 'eth_getTransactionReceipt' || method === 'eth_getTransactionByHash') {
      const found =
        (await plantedReceipt(method, params[0])) ??
        (await ask<{ blockHash: string; blockNumber: string; logs?: [] } | null>(method, params[0]));
      if (!found || Number(found.blockNumber) > (await head())) return null;
      const logs = found.logs ? { logs: found.logs.map(inBlock) } : {};
      return { ...inBlock(found), ...logs, type: '0x0', ...(found.logs ? {} : { nonce: '0x0' }) };
    }
    if (method === 'eth_call') {
      const [{ to, data }, tag] = params as [{ to: string; data: string }, unknown];
      onlyLatest(tag);
      return ask(method, { to: to.replace(/^(0x)41(?=.{40}$)/i, '$1'), data }, 'latest');
    }
    if (method === 'eth_getBalance') {
      onlyLatest(params[1]);
      return ask(method, params[0], 'latest');
    }
    if (method === 'eth_chainId') return ask(method);
    throw new Refused(`the method ${method} does not exist/is not available`, -32_601);
  }

  async function replyTo({ id, method, params }: { id: unknown; method: string; params: unknown[] }) {
    try {
      return { jsonrpc: '2.0', id, result: await rpc(method, params) };
    } catch (error) {
      const { message, code = -32_000 } = error as Refused;
      return { jsonrpc: '2.0', id, error: { code, message, data: '{}' } };
    }
  }

  async function apiTransaction({ hash, from, to, value, input }: Transaction): Promise<TronTransaction> {
    const { status } = await ask<{ status: string }>('eth_getTransactionReceipt', hash);
    const isCall = input !== '0x';
    const ret = [{ contractRet: status === '0x1' ? 'SUCCESS' : isCall ? 'OUT_OF_ENERGY' : 'REVERT' }];
    const owner_address = tronHex(from);
    const amount = Number(value);
    const contract_address = to === null ? '' : tronHex(to);
    return isCall || to === null
      ? contractTransaction(
          hash.slice(2),
          'TriggerSmartContract',
          {
            owner_address,
            contract_address,
            data: input.slice(2),
            ...(amount > 0 && { call_value: amount }),
          },
          ret,
        )
      : contractTransaction(
          hash.slice(2),
          'TransferContract',
          { owner_address, to_address: contract_address, amount },
          ret,
        );
  }

  async function apiBlock(height: number) {
    const block = await blockAt(height);
    if (!block) return null;
    const expiration = (Number(block.timestamp) + LIFE_SECONDS) * 1000;
    const made = await Promise.all(block.transactions.map(apiTransaction));
    const transactions = [
      ...made.map((each) => ({ ...each, raw_data: { ...(each.raw_data as object), expiration } })),
      ...(planted.get(height) ?? []),
    ];
    const raw_data = {
      number: height,
      timestamp: Number(block.timestamp) * 1000,
      parentHash: show(height - 1, block.parentHash).slice(2),
      txTrieRoot: transactions.length === 0 ? '0'.repeat(64) : 'ab'.repeat(32),
      witness_address: tronHex(`0x${'11'.repeat(20)}`),
      version: 31,
    };
    const blockID = show(height, block.hash).slice(2);
    const found = {
      blockID,
      block_header: { raw_data, witness_signature: '00' },
      ...(transactions.length > 0 && state.omits !== 'transactions' ? { transactions } : {}),
    };
    blocks.set(blockID, found);
    return found;
  }

  /** What the API tells of the newest block that no branch replaces; null where it tells nothing else there. */
  async function solidApi(method: string, body: Record<string, unknown>): Promise<unknown> {
    const solid = state.solid_at ?? (await heightOf('finalized'));
    const tag = `0x${solid.toString(16)}`;
    if (method === 'getnowblock') return apiBlock(solid);
    if (method === 'getaccount') {
      const balance = Number(await ask('eth_getBalance', `0x${String(body.address).slice(2)}`, tag));
      return balance === 0 ? {} : { address: body.address, balance };
    }
    if (method === 'gettransactioninfobyid') {
      const id = `0x${String(body.value)}`;
      const found = await ask<Record<string, string> | null>('eth_getTransactionReceipt', id);
      if (!found || Number(found.blockNumber) > solid) return {};
      const fee = Number(BigInt(found.gasUsed as string) * BigInt(found.effectiveGasPrice as string));
      return { id: body.value, ...(fee > 0 && { fee }), blockNumber: Number(found.blockNumber) };
    }
    if (method !== 'triggerconstantcontract') return null;
    if (!state.runs_code) {
      const message = Buffer.from('this node does not support constant').toString('hex');
      return { result: { code: 'CONTRACT_VALIDATE_ERROR', message } };
    }
    const { owner_address, contract_address, data } = body as Record<string, string>;
    if (!owner_address || contract_address !== undefined) return { Error: 'owner_address is not set' };
    const words = await ask<string>('eth_call', { data: `0x${data}` }, tag);
    const first = BigInt(words.slice(0, 66)) + state.too_high;
    state.too_high = 0n;
    const height = BigInt(`0x${words.slice(-64)}`) + BigInt(state.ahead);
    const shown_words = [first, height].map((value) => value.toString(16).padStart(64, '0'));
    shown_words.splice(1, 0, words.slice(66, -64));
    return {
      result: { result: true },
      energy_used: 1000,
      constant_result: [shown_words.join('')],
      transaction: {},
    };
  }

  async function api(method: string, body: Record<string, unknown>): Promise<unknown> {
    if (method === 'getnowblock') return apiBlock(await head());
    if (method === 'getblockbyid') return blocks.get(String(body.value)) ?? {};
    if (method === 'getblockbynum') return (await apiBlock(Number(body.num))) ?? {};
    if (method === 'getblockbylimitnext') {
      const [start, end] = [Number(body.startNum), Number(body.endNum)];
      if (!(end > start) || end - start > MAX_BLOCKS) return {};
      const heights = Array.from({ length: end - start }, (_, at) => start + at);
      const blocks = (await Promise.all(heights.map(apiBlock))).filter((each) => each !== null);
      if (state.omits === 'blocks') blocks.pop();
      return blocks.length > 0 ? { block: blocks } : {};
    }
    if (method === 'gettransactionbyid') {
      const own = [...planted.values()].flat().find(({ txID }) => txID === body.value);
      if (own) return own;
      const found = await ask<Transaction | null>('eth_getTransactionByHash', `0x${String(body.value)}`);
      return found?.blockNumber && Number(found.blockNumber) <= (await head()) ? apiTransaction(found) : {};
    }
    return { Error: 'class java.lang.UnsupportedOperationException : not found' };
  }

  async function answer(path: string, body: string): Promise<[status: number, text: string]> {
    const fault = state.faults.shift() ?? null;
    if (fault) return fault === 'overloaded' ? [200, OVERLOADED] : [403, SUSPENDED];
    const sent = body === '' ? {} : JSON.parse(body);
    const [, side, method] = /^\/wallet(solidity)?\/(\w+)/.exec(path) ?? [];
    if (method) {
      const solid = side ? await solidApi(method, sent) : null;
      return [200, JSON.stringify(solid ?? (await api(method, sent)))];
    }
    if (path !== '/jsonrpc') return [404, 'Not Found'];
    if (!Array.isArray(sent)) return [200, JSON.stringify(await replyTo(sent))];
    if (sent.length > MAX_BATCH) {
      const error = { code: EXCEED_LIMIT, message: `batch size exceeds limit: ${MAX_BATCH}` };
      return [200, JSON.stringify({ jsonrpc: '2.0', id: null, error })];
    }
    return [200, JSON.stringify(await Promise.all(sent.map(replyTo)))];
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += chunk;
    const path = request.url ?? '';
    state.requests.push(path);
    const [status, text] = await answer(path, body);
    const rewritten = state.rewrite?.(text) ?? text;
    response.writeHead(status, { 'content-type': 'application/json' }).end(rewritten);
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error) => response.writeHead(500).end(String(error)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };

  return {
    /** As settings name it: of the JSON-RPC. */
    url: `http://127.0.0.1:${port}/jsonrpc`,
    state,
    /** Puts a transaction into the API's answer for a block, which the EVM node knows nothing of. */
    plant(height: number, ...transactions: TronTransaction[]): void {
      planted.set(height, [...(planted.get(height) ?? []), ...transactions]);
    },
    async stop(): Promise<void> {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
