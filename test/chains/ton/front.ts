// toncenter v3 over HTTP in front of the ledger, with its shapes, its limits and its bad days.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Address, Cell, type TupleItem } from '@ton/core';
import { GetMethodError } from '@ton/sandbox';
import { keyOf } from '../../../src/chains/ton/address.ts';
import type { TonLedger, TonRecord } from './ledger.ts';
import { accountStateJson, beaconJson, blockJson, transactionJson } from './shapes.ts';

const DEFAULT_LIMIT = 10;
const MOST_LIMIT = 1000;
const BODY_LIMIT_BYTES = 1024 * 1024;
/** Longer than a busy machine keeps a test waiting between two requests. */
const KEEP_ALIVE_MS = 60_000;
/** The elector, which has a transaction in every masterchain block. */
const BEACON = `-1:${'3'.repeat(64)}`;

/** What the indexer writes with its statuses where one question is more than it can answer. */
const REFUSALS: Readonly<Record<number, string>> = {
  422: 'timeout: context deadline exceeded',
  500: 'timeout: context deadline exceeded',
  501: 'failed to decode api/v2 stack: unsupported stack entry type: unsupported',
};

/** 429; a proxy's page instead of JSON; 500, of this question; 502, of the server; a body that breaks off; valid HTTP with half a JSON text; no answer. */
export type TonFailure =
  | 'rate_limited'
  | 'html'
  | 'server_error'
  | 'bad_gateway'
  | 'broken_body'
  | 'half_json'
  | 'hang';

export interface TonFrontOptions {
  global_id: number;
  /** Where set, requests without it in `X-API-Key` are refused. */
  api_key?: string;
}

/** The requests whose answers come from the indexer's database. */
export type LaggingPath = 'masterchainInfo' | 'transactions' | 'accountStates';

/** Blocks by which an answer is behind the chain; a function is asked for each request. */
export type TonLag = number | (() => number);

/** What one answer about transactions or states leaves out or adds: the replica that gives it is not like the others. */
export type Distort = (rows: unknown[], path: LaggingPath, query: URLSearchParams) => unknown[];

export interface TonRequest {
  path: string;
  query: URLSearchParams;
  api_key: string | undefined;
}

export class TonFront {
  readonly requests: TonRequest[] = [];
  /** Blocks by which the indexer's answers are behind the chain. */
  lag: Record<LaggingPath, TonLag> = { masterchainInfo: 0, transactions: 0, accountStates: 0 };
  /** Whether there is such a request as `accountStates`. */
  has_states = true;
  /** Whether contracts answer; without, all of them are as if they had no code. */
  has_methods = true;
  distort: Distort = (rows) => rows;
  /** The status with which a question is refused for what it asks; null where it is answered. */
  refuse: (path: string, query: URLSearchParams, body: string) => number | null = () => null;
  /** The most rows of one answer, whatever is asked. */
  page_cap = MOST_LIMIT;
  /** The network that `masterchainInfo` claims. */
  global_id: number;
  private readonly ledger: TonLedger;
  private readonly api_key: string | undefined;
  private readonly failures: { failure: TonFailure; path: string | undefined; after: number }[] = [];
  private readonly server = createServer((request, response) => void this.answer(request, response));

  constructor(ledger: TonLedger, options: TonFrontOptions) {
    this.ledger = ledger;
    this.global_id = options.global_id;
    this.api_key = options.api_key;
  }

  async start(): Promise<string> {
    this.server.keepAliveTimeout = KEEP_ALIVE_MS;
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/api/v3`;
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }

  /** The next `times` requests (to the path, where one is named) fail, after letting `after` of them pass. */
  fail(
    failure: TonFailure,
    { times = 1, path, after = 0 }: { times?: number; path?: string; after?: number } = {},
  ) {
    for (let each = 0; each < times; each++)
      this.failures.push({ failure, path, after: each === 0 ? after : 0 });
  }

  /** No coming request fails any more. */
  forgive(): void {
    this.failures.length = 0;
  }

  private takeFailure(path: string): TonFailure | null {
    const at = this.failures.findIndex((each) => each.path === undefined || each.path === path);
    const next = this.failures[at];
    if (!next) return null;
    if (next.after > 0) {
      next.after--;
      return null;
    }
    this.failures.splice(at, 1);
    return next.failure;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const path = url.pathname.replace('/api/v3', '');
    const api_key = request.headers['x-api-key']?.toString();
    this.requests.push({ path, query: url.searchParams, api_key });
    try {
      const body = await readBody(request);
      if (this.api_key && api_key !== this.api_key) {
        send(response, 401, { ok: false, error: 'API key does not exist', code: 401 });
        return;
      }
      const refusal = this.refuse(path, url.searchParams, body);
      if (refusal !== null) return send(response, refusal, { error: REFUSALS[refusal] ?? 'timeout' });
      const failure = this.takeFailure(path);
      if (failure === 'rate_limited')
        send(response, 429, { ok: false, result: 'Ratelimit exceed', code: 429 });
      else if (failure === 'server_error') send(response, 500, { error: 'context deadline exceeded' });
      else if (failure === 'bad_gateway') send(response, 502, { error: 'bad gateway' });
      else if (failure === 'html')
        sendText(response, 200, 'text/html', '<!DOCTYPE html><title>Just a moment</title>');
      else if (failure === 'hang') return;
      else await this.route(path, url.searchParams, body, response, failure);
    } catch (error) {
      send(response, 500, { error: String(error) });
    }
  }

  private async route(
    path: string,
    query: URLSearchParams,
    body: string,
    response: ServerResponse,
    failure: TonFailure | null,
  ): Promise<void> {
    const limit = Number(query.get('limit') ?? DEFAULT_LIMIT);
    let reply: unknown;
    if (path === '/masterchainInfo') reply = this.masterchainInfo();
    else if (path === '/transactions' && limit > MOST_LIMIT) {
      send(response, 422, { error: `limit is not allowed: ${limit} > ${MOST_LIMIT}` });
      return;
    } else if (path === '/transactions') reply = this.transactions(query, limit);
    else if (path === '/accountStates' && this.has_states) reply = await this.accountStates(query);
    else if (path === '/runGetMethod') reply = await this.runGetMethod(body);
    else {
      send(response, 404, { error: 'not found' });
      return;
    }
    const text = JSON.stringify(reply);
    if (failure === 'half_json') sendText(response, 200, 'application/json', text.slice(0, text.length / 2));
    else if (failure === 'broken_body') breakOff(response, text);
    else sendText(response, 200, 'application/json', text);
  }

  private lagOf(path: LaggingPath): number {
    const lag = this.lag[path];
    return typeof lag === 'function' ? lag() : lag;
  }

  /** The last block that an answer to this request knows of. */
  private seen(path: LaggingPath): number {
    return this.ledger.last.seqno - this.lagOf(path);
  }

  private masterchainInfo() {
    this.ledger.catchUp();
    const { blocks } = this.ledger;
    const last = blocks[Math.max(0, blocks.length - 1 - this.lagOf('masterchainInfo'))] ?? this.ledger.last;
    const first = blocks[0] ?? last;
    return { last: blockJson(last, this.global_id), first: blockJson(first, this.global_id) };
  }

  private transactions(query: URLSearchParams, limit: number) {
    const accounts = query.getAll('account').map((text) => keyOf(Address.parse(text)));
    const hashes = query.getAll('hash').map(hexOf);
    const seen = this.seen('transactions');
    const from = Number(query.get('start_utime') ?? 0);
    const to = Number(query.get('end_utime') ?? Number.MAX_SAFE_INTEGER);
    const from_lt = BigInt(query.get('start_lt') ?? 0);
    const to_lt = BigInt(query.get('end_lt') ?? 2n ** 63n);
    const rows = this.ledger.records.filter(
      ({ account, txid, mc_seqno, transaction: { now, lt } }) =>
        mc_seqno !== null &&
        mc_seqno <= seen &&
        (accounts.length === 0 || accounts.includes(account)) &&
        (hashes.length === 0 || hashes.includes(txid)) &&
        now >= from &&
        now <= to &&
        lt >= from_lt &&
        lt <= to_lt,
    );
    const direction = query.get('sort') === 'asc' ? 1 : -1;
    const compare = query.has('start_utime') || query.has('end_utime') ? byTime : byLogicalTime;
    rows.sort((a, b) => direction * compare(a, b) || (a.account < b.account ? -1 : 1));
    const offset = Number(query.get('offset') ?? 0);
    const page = rows.slice(offset, offset + Math.min(limit, this.page_cap)).map(transactionJson);
    return { transactions: this.distort(page, 'transactions', query), address_book: {} };
  }

  private async accountStates(query: URLSearchParams) {
    const seen = this.seen('accountStates');
    const asked = query.getAll('address').map((text) => keyOf(Address.parse(text)));
    const accounts: unknown[] = [];
    for (const account of asked) {
      const block = account === BEACON && this.ledger.blocks.find(({ seqno }) => seqno === seen);
      if (block) accounts.push(beaconJson(account, block));
      const last = this.ledger.records.findLast(
        (record) => record.account === account && record.mc_seqno !== null && record.mc_seqno <= seen,
      );
      if (last) accounts.push(accountStateJson(last, await this.ledger.codeHash(account)));
    }
    return { accounts: this.distort(accounts, 'accountStates', query), address_book: {}, metadata: {} };
  }

  private async runGetMethod(body: string) {
    const asked = JSON.parse(body) as {
      address: string;
      method: string;
      stack: { type: string; value: string }[];
    };
    const stack = asked.stack.map(({ type, value }): TupleItem => {
      if (type === 'num') return { type: 'int', value: BigInt(value) };
      return { type: type === 'slice' ? 'slice' : 'cell', cell: Cell.fromBase64(value) };
    });
    if (!this.has_methods) return { gas_used: 0, exit_code: -13, stack: [] };
    try {
      const result = await this.ledger.runGetMethod(Address.parse(asked.address), asked.method, stack);
      const shown = result.stack.map((item) => {
        if (item.type === 'int') return { type: 'num', value: `0x${item.value.toString(16)}` };
        return { type: 'cell', value: 'cell' in item ? item.cell.toBoc().toString('base64') : null };
      });
      return { gas_used: Number(result.gasUsed), exit_code: 0, stack: shown };
    } catch (error) {
      const exit_code = error instanceof GetMethodError ? error.exitCode : -13;
      return { gas_used: 0, exit_code, stack: [] };
    }
  }
}

const byLogicalTime = ({ transaction: a }: TonRecord, { transaction: b }: TonRecord): number =>
  a.lt < b.lt ? -1 : a.lt > b.lt ? 1 : 0;

/** By time, then by logical time, as the indexer does where a time is asked. */
const byTime = (a: TonRecord, b: TonRecord): number =>
  a.transaction.now - b.transaction.now || byLogicalTime(a, b);

const hexOf = (hash: string): string =>
  /^[0-9a-f]{64}$/i.test(hash) ? hash.toLowerCase() : Buffer.from(hash, 'base64').toString('hex');

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > BODY_LIMIT_BYTES) throw new Error('body too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

const send = (response: ServerResponse, status: number, body: unknown) =>
  sendText(response, status, 'application/json', JSON.stringify(body));

function sendText(response: ServerResponse, status: number, type: string, text: string): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

/** Promises the whole body, gives half of it and hangs up. */
function breakOff(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.write(text.slice(0, text.length / 2), () => response.destroy());
}
