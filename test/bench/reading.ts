// Chains that live in memory, and a reader of one blockchain that keeps what it reads: time passes as its pace lets requests through.
import type {
  AccountProof,
  AccountRef,
  Json,
  ReadContext,
  ReadRequest,
  Rpc,
  Transfer,
  WatchedAddress,
} from '../../src/chains/family.ts';
import { findBlockchain, gatewaysOf } from '../../src/chains/gateways.ts';
import { createModel, keyOf } from '../chains/solana-model.ts';
import { createToncenter } from '../helpers/toncenter.ts';
import { core } from '../simulator/chains/core.ts';
import { esplora } from '../simulator/chains/esplora.ts';
import type { Front } from '../simulator/chains/front.ts';
import { UtxoChain } from '../simulator/chains/utxo.ts';
import { Random } from '../simulator/random.ts';

const START = 1_800_000_000;
/** What the observer leaves to single accounts: of the requests of one pause. */
const SPARE_SHARE = 0.5;
const SPARE_LEAST = 4;
/** In which time passes between two readings. */
const STEP_SECONDS = 0.125;
const HISTORY_BLOCKS = 30;
const BLOCK_SECONDS = 600;

export type Requests = Pick<Rpc, 'json' | 'text' | 'bytes' | 'call' | 'batch'>;

/** A chain in memory: what its provider answers, and how an address is paid. */
export interface Chain {
  blockchain: string;
  /** Gateways that are read. */
  chains: readonly string[];
  provider: string;
  requests: Requests;
  /** A wallet of its own for each number. */
  wallet(serial: number): string;
  pay(address_key: string, amount: bigint): void;
}

/** Unix seconds with fractions, moved by what asks. */
export interface Timer {
  now: number;
}

export const newTimer = (): Timer => ({ now: START });

const unused = (): never => {
  throw new Error('not asked by this family');
};

export function tonChain(timer: Timer): Chain {
  const now = () => Math.floor(timer.now);
  const toncenter = createToncenter(() => ({ seqno: now() - START + 40_000_000, now: now() }));
  return {
    blockchain: 'ton',
    chains: ['ton'],
    provider: 'toncenter',
    requests: {
      json: async (path, { query } = {}) =>
        toncenter.answer(path, (query ?? {}) as Record<string, Json>) ?? { exit_code: -13, stack: [] },
      text: unused,
      bytes: unused,
      call: unused,
      batch: unused,
    },
    wallet: (serial) => `0:${(serial + 1).toString(16).padStart(64, '0')}`.toUpperCase(),
    pay: (account, amount) =>
      void toncenter.add({
        account,
        now: now(),
        mc_block_seqno: now() - START + 40_000_000,
        orig_status: 'active',
        end_status: 'active',
        description: { type: 'ord', aborted: false, compute_ph: { success: true } },
        in_msg: {
          source: `0:${'7'.repeat(64)}`,
          value: `${amount}`,
          bounced: false,
          opcode: null,
          message_content: null,
        },
        out_msgs: [],
      }),
  };
}

export function solanaChain(timer: Timer): Chain {
  const model = createModel(START);
  const gateways = gatewaysOf('testnet').filter(({ blockchain }) => blockchain === 'solana');
  for (const { token_contract } of gateways) if (token_contract) model.addMint(token_contract);
  const rpc = model.rpc();
  return {
    blockchain: 'solana',
    chains: gateways
      .filter(({ token_contract, is_token }) => !is_token || token_contract)
      .map(({ chain }) => chain),
    provider: 'solana',
    requests: {
      json: unused,
      text: unused,
      bytes: unused,
      batch: unused,
      call(method, params) {
        model.now = timer.now;
        return rpc.call(method, params);
      },
    },
    wallet: (serial) => keyOf(serial),
    pay(to, amount) {
      model.now = timer.now;
      model.pay({ to, amount });
    },
  };
}

/** Blocks every ten minutes, none of which pays anyone. */
export function bitcoinChain(timer: Timer, provider: 'esplora' | 'core'): Chain {
  const chain = new UtxoChain({
    work: 'sha256d',
    random: new Random('bench'),
    now: () => timer.now * 1000,
    history_blocks: HISTORY_BLOCKS,
    history_interval_seconds: BLOCK_SECONDS,
  });
  const node = chain.miner;
  const front: Front = provider === 'core' ? core({ node }) : esplora({ node });
  const answer = (path: string, body: Json | undefined) => {
    const sent = body === undefined ? null : JSON.stringify(body);
    const { status, body: given } = front({
      method: sent === null ? 'GET' : 'POST',
      path,
      query: new URLSearchParams(),
      body: sent,
    });
    if (status >= 400) throw new Error(`${path}: ${given}`);
    return given;
  };
  const textAt = (path: string, body?: Json) => String(answer(path, body));
  const call = (method: string, params: Json) => {
    const reply = JSON.parse(textAt('', { jsonrpc: '2.0', id: 1, method, params })) as { result: unknown };
    return reply.result;
  };
  return {
    blockchain: 'bitcoin',
    chains: ['bitcoin'],
    provider,
    requests: {
      json: async (path, { body } = {}) => JSON.parse(textAt(path, body)) as unknown,
      text: async (path) => textAt(path),
      bytes: async (path) => Buffer.from(answer(path, undefined)),
      call: async (method, params) => call(method, params),
      batch: async (calls) => calls.map(({ method, params }) => call(method, params)),
    },
    wallet: (serial) => `0014${serial.toString(16).padStart(40, '0')}`,
    pay: unused,
  };
}

/** Reads a chain as the observer does: `pass` is one reading at its pace, and the pause after it. */
export function openReader(chain: Chain, timer: Timer, each: () => void = () => {}) {
  const { family, requests_per_second } = findBlockchain(chain.blockchain) ?? unused();
  const gateways = gatewaysOf('testnet').filter((gateway) => chain.chains.includes(gateway.chain));
  const pause_seconds = Math.min(...gateways.map(({ poll_interval_seconds }) => poll_interval_seconds));
  let requests = 0;
  /** One request takes its turn; whatever is to happen by then happens. */
  const paced =
    <A extends unknown[], R>(ask: (...asked: A) => Promise<R>) =>
    async (...asked: A): Promise<R> => {
      requests++;
      timer.now += 1 / requests_per_second;
      each();
      return ask(...asked);
    };
  const { json, text, bytes, call, batch } = chain.requests;
  const rpc: Rpc = {
    provider: chain.provider,
    json: paced(json),
    text: paced(text),
    bytes: paced(bytes),
    call: paced(call),
    batch: paced(batch),
  };
  const now = () => Math.floor(timer.now);
  const context: ReadContext = {
    rpc,
    network: 'testnet',
    blockchain: chain.blockchain,
    gateways,
    now,
    local: (time) => ({ earliest_at: time, latest_at: time }),
    spare_requests: Math.max(SPARE_LEAST, Math.floor(requests_per_second * pause_seconds * SPARE_SHARE)),
  };
  const reader = family.open();
  const watched: WatchedAddress[] = [];
  const accounts = new Map<string, Json>();
  const proofs = new Map<string, AccountProof>();
  /** By transfer, when it was stored. */
  const stored = new Map<string, { transfer: Transfer; at: number }>();
  let cursor: Json | null = null;
  let read_through: number | null = null;

  async function read(urgent: readonly AccountRef[]): Promise<void> {
    const request: ReadRequest = {
      addresses: async () => watched,
      cursor,
      accounts: async (keys) =>
        new Map(
          keys.flatMap((key) => {
            const known = accounts.get(key);
            return known === undefined ? [] : [[key, known] as const];
          }),
        ),
      urgent: async () => urgent,
      behind: async () =>
        [...proofs.values()]
          .filter(({ trouble }) => trouble !== null)
          .map((proof) => ({ ...proof, paused: false })),
      pending: async () => [],
      read_through,
    };
    for await (const page of reader.read(context, request)) {
      if (page.cursor !== undefined) cursor = page.cursor;
      for (const [key, each] of page.accounts ?? []) accounts.set(key, each);
      for (const proof of page.proofs ?? []) proofs.set(`${proof.address_key} ${proof.chain}`, proof);
      for (const { address_key, chain: asset } of page.caught_up ?? [])
        proofs.delete(`${address_key} ${asset}`);
      read_through = page.read_through ?? read_through;
      for (const transfer of page.transfers) {
        const id = `${transfer.txid} ${transfer.index}`;
        if (!stored.has(id)) stored.set(id, { transfer, at: timer.now });
      }
    }
  }

  return {
    stored,
    pause_seconds,
    requests: () => requests,
    watch(count: number): WatchedAddress[] {
      for (let serial = 0; serial < count; serial++) {
        const key = chain.wallet(serial);
        watched.push({ key, address: key, since: now() - 1, open: true });
      }
      return watched;
    },
    async pass(urgent: readonly AccountRef[] = []): Promise<void> {
      await read(urgent);
      for (let waited = 0; waited < pause_seconds; waited += STEP_SECONDS) {
        timer.now += STEP_SECONDS;
        each();
      }
    },
    refs: (): AccountRef[] =>
      watched.flatMap(({ key: address_key }) => chain.chains.map((asset) => ({ address_key, chain: asset }))),
  };
}
