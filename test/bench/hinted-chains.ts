// Model chains at the pace that networks have, each behind a provider that is asked over HTTP and says over a WebSocket what has moved.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { networks } from '../../src/chains/evm/networks.ts';
import { builtIn } from '../../src/chains/gateways.ts';
import { type ChainLog, EvmChain, wordOf } from '../simulator/chains/evm.ts';
import { evmMethods } from '../simulator/chains/evm-node.ts';
import { type Front, jsonRpc } from '../simulator/chains/front.ts';
import { SolanaChain } from '../simulator/chains/solana.ts';
import { solanaNode } from '../simulator/chains/solana-node.ts';
import { comment, keyOf, TonChain } from '../simulator/chains/ton.ts';
import { toncenter } from '../simulator/chains/toncenter.ts';
import { Random } from '../simulator/random.ts';

const SOLANA_SLOT_MS = 200;
const SOLANA_FINAL_SLOTS = 1;
const TON_BLOCK_MS = 400;
const BASE_BLOCK_MS = 200;
const BASE_HISTORY = 300;
const FINAL_BLOCKS = 64;
const PAGE_CAP = 1_000;
/** Below what is left unpaid at one new merchant, where invoices differ only by their amount. */
const AMOUNTS_EACH = 15;
const PAYER = 'DRpbCBMxVnDK7maPM5tGv6MvB3v1sRMC86PZ8okm21hy';

/** What is owed: an address, an amount, and the text that goes with it. */
export interface Owed {
  address_key: string;
  amount: bigint;
  memo: string | null;
}

export interface HintedChain {
  /** The gateway that is paid through. */
  gateway: string;
  blockchain: string;
  walletOf(merchant: number): string;
  /** Open invoices that a merchant may have: where amounts tell them apart, a new one has few. */
  invoices_each: number;
  url: string;
  hints_url: string;
  /** Requests until now. */
  asked(): number;
  /** Pays; resolves with the moment (Unix ms) from which the chain calls it final, or deep enough. */
  pay(owed: Owed): Promise<number>;
  stop(): Promise<void>;
}

/** A model of a chain, and how it says to who asked for it that an address has changed. */
interface Model {
  gateway: string;
  blockchain: string;
  walletOf(merchant: number): string;
  invoices_each: number;
  front: Front;
  pay(owed: Owed, reported: (key: string, logs?: readonly ChainLog[]) => void): Promise<number>;
  /** What is asked for by a message, and the answer to it. */
  subscribe(message: Asked, id: number): { keys: readonly string[]; answer: object };
  notice(id: number, key: string, logs?: readonly ChainLog[]): object;
  stop?(): void;
}

interface Asked {
  id?: number | string;
  method?: string;
  params?: [unknown, { topics?: string[][] }?];
  addresses?: string[];
  operation?: string;
}

const at = (moment_ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.max(0, moment_ms - Date.now())));

function solana(): Model {
  const chain = new SolanaChain({
    random: new Random('hints'),
    now: Date.now,
    slot_ms: SOLANA_SLOT_MS,
    final_slots: SOLANA_FINAL_SLOTS,
  });
  for (const { token_contract } of builtIn.values)
    if (token_contract?.testnet) chain.addMint(token_contract.testnet);
  const front = solanaNode({
    chain,
    view: () => ({
      slot: chain.slotAt(Date.now()),
      lists: () => true,
      gives: () => true,
      page_cap: PAGE_CAP,
    }),
  });
  return {
    gateway: 'solana',
    blockchain: 'solana',
    walletOf: () => 'HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk',
    invoices_each: Number.POSITIVE_INFINITY,
    front,
    async pay({ address_key, amount, memo }, reported) {
      const changes = [{ owner: address_key, mint: null, amount }];
      const { slot } = chain.send({ payer: PAYER, changes, memo });
      const final_ms = chain.timeOf(slot + SOLANA_FINAL_SLOTS);
      await at(final_ms);
      reported(address_key);
      return final_ms;
    },
    subscribe: ({ id, params: [key] = [''] }, subscription) => ({
      keys: [String(key)],
      answer: { jsonrpc: '2.0', id, result: subscription },
    }),
    notice: (subscription) => ({
      jsonrpc: '2.0',
      method: 'accountNotification',
      params: {
        subscription,
        result: { context: { slot: 0 }, value: { lamports: 1, data: ['', 'base64'] } },
      },
    }),
  };
}

function ton(): Model {
  const chain = new TonChain({ random: new Random('hints'), now: Date.now, block_ms: TON_BLOCK_MS });
  for (const { token_contract, blockchain } of builtIn.values)
    if (blockchain === 'ton' && token_contract?.testnet) chain.addJetton(token_contract.testnet);
  return {
    gateway: 'ton',
    blockchain: 'ton',
    walletOf: () => `0:${'11'.repeat(32)}`,
    invoices_each: Number.POSITIVE_INFINITY,
    front: toncenter({
      chain,
      view: () => ({
        tip_seqno: chain.seqnoAt(Date.now()),
        shows: () => true,
        page_cap: PAGE_CAP,
        repeats_pages: false,
        lacks_masters: false,
      }),
    }),
    async pay({ address_key, amount, memo }, reported) {
      const source = `0:${'22'.repeat(32)}`;
      const { mc_seqno } = chain.run({
        account: keyOf(address_key),
        source,
        value: amount,
        body: comment(memo),
      });
      const final_ms = chain.timeOf(mc_seqno);
      await at(final_ms);
      reported(keyOf(address_key));
      return final_ms;
    },
    subscribe: ({ id, addresses = [] }) => ({
      keys: addresses.map(keyOf),
      answer: { id, status: 'subscribed' },
    }),
    notice: (_, account) => ({ type: 'account_state_change', finality: 'finalized', account, state: {} }),
  };
}

function base(): Model {
  const chain = new EvmChain({
    random: new Random('hints'),
    now: Date.now,
    block_seconds: 1,
    history: BASE_HISTORY,
  });
  const value = builtIn.values.find((each) => each.chain === 'base-usdc');
  const contract = String(value?.token_contract?.testnet).toLowerCase();
  const { confirm_seconds, min_confirmations = 1 } = value ?? {};
  const methods = evmMethods({
    chain,
    chain_id: networks.base.chain_ids.testnet,
    decimals: new Map([[contract, 6]]),
    seen: () => Date.now() / 1000,
    final_blocks: FINAL_BLOCKS,
  });
  const mining = setInterval(() => chain.mine(), BASE_BLOCK_MS);
  const minedUntil = async (isSo: () => boolean) => {
    while (!isSo()) await at(Date.now() + BASE_BLOCK_MS / 10);
    return Date.now();
  };
  return {
    gateway: 'base-usdc',
    blockchain: 'base',
    walletOf: (merchant) => `0x${(0xa11ce000 + merchant).toString(16).padStart(40, '9')}`,
    invoices_each: AMOUNTS_EACH,
    front: jsonRpc(methods, true),
    async pay({ address_key, amount }, reported) {
      const { hash, logs } = chain.payToken(contract, address_key, amount);
      await minedUntil(() => chain.blockOf(hash) !== undefined);
      reported(wordOf(address_key), logs);
      return minedUntil(() => {
        const { number, timestamp } = chain.blockOf(hash) ?? chain.tip;
        return confirm_seconds === undefined
          ? chain.tip.number >= number + min_confirmations - 1
          : chain.tip.timestamp >= timestamp + confirm_seconds;
      });
    },
    subscribe: ({ id, params }, subscription) => ({
      keys: params?.[1]?.topics?.[2] ?? [],
      answer: { jsonrpc: '2.0', id, result: `0x${subscription.toString(16)}` },
    }),
    notice: (subscription, _, [log] = []) => ({
      jsonrpc: '2.0',
      method: 'eth_subscription',
      params: { subscription: `0x${subscription.toString(16)}`, result: log },
    }),
    stop: () => clearInterval(mining),
  };
}

export const models: readonly (() => Model)[] = [solana, base, ton];

/** Opens what answers for a model, and what reports on it. */
export async function startHinted(open: () => Model): Promise<HintedChain> {
  const model = open();
  let asked = 0;
  const http = createServer(async (request, response) => {
    asked++;
    let body = '';
    for await (const chunk of request) body += chunk;
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    const method = request.method === 'POST' ? 'POST' : 'GET';
    const given = model.front({ method, path: pathname, query: searchParams, body: body || null });
    response.writeHead(given.status, { 'content-type': 'application/json', ...given.headers });
    response.end(given.body);
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const reports = await openReports(model);
  return {
    ...model,
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    hints_url: reports.url,
    asked: () => asked,
    pay: (owed) => model.pay(owed, reports.report),
    async stop() {
      model.stop?.();
      reports.close();
      await closed(http);
    },
  };
}

async function openReports(model: Model) {
  const subscriptions = new Map<string, Set<{ socket: WebSocket; id: number }>>();
  let last = 0;
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  server.on('connection', (socket) => {
    socket.on('message', (data) => {
      const id = ++last;
      const { keys, answer } = model.subscribe(JSON.parse(Buffer.from(data).toString()), id);
      for (const key of keys)
        subscriptions.set(key, (subscriptions.get(key) ?? new Set()).add({ socket, id }));
      socket.send(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.on('listening', resolve));
  return {
    url: `ws://127.0.0.1:${server.address().port}`,
    report(key: string, logs?: readonly ChainLog[]) {
      for (const { socket, id } of subscriptions.get(key) ?? [])
        if (server.clients.has(socket)) socket.send(JSON.stringify(model.notice(id, key, logs)));
    },
    close() {
      for (const client of server.clients) client.terminate();
      server.close();
    },
  };
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
