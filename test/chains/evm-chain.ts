// A real EVM node (anvil) for the tests, with tokens at the addresses of real ones and reorganisations on request.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { ANVIL, anvilPath } from '../helpers/software.ts';
import { DECIMALS_SLOT, FEE_SLOT, selectors, TOKEN_CODE } from './evm-token.ts';

/** Whether this platform has the chain software. */
export const hasAnvil = anvilPath !== null;

const START_TIMEOUT_MS = 20_000;
const POLL_MS = 10;
const START_TIME = 1_800_000_000;
const GAS = '0x200000';
const RICH = 10n ** 30n;
const ACCOUNTS = 40;

export interface AnvilOptions {
  chain_id: number;
  block_seconds: number;
  /** Tokens that stand at these addresses from the first block on. */
  tokens: readonly TokenChoice[];
  /** Blocks that are there already. */
  history?: number;
  /** Unix seconds of its first block. */
  start_time?: number;
}

export interface TokenChoice {
  address: string;
  decimals?: number;
  /** What each transfer loses, in ten thousand parts. */
  fee?: number;
}

interface Sending {
  from?: string;
  to: string;
  value?: bigint;
  data?: string;
  nonce?: number;
}

export type EvmChain = Awaited<ReturnType<typeof startAnvil>>;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return address.port;
}

const quantity = (value: number | bigint): string => `0x${value.toString(16)}`;
const word = (value: string | number | bigint): string =>
  (typeof value === 'string' ? value.replace(/^0x/, '') : value.toString(16)).padStart(64, '0');
const call = (name: keyof typeof selectors, ...words: (string | number | bigint)[]): string =>
  `0x${selectors[name]}${words.map(word).join('')}`;

const genesisOf = (chainId: number, tokens: readonly TokenChoice[], start_time: number) => ({
  config: { chainId },
  timestamp: quantity(start_time),
  gasLimit: '0x3b9aca00',
  difficulty: '0x0',
  alloc: Object.fromEntries(
    tokens.map(({ address, decimals = 6, fee = 0 }) => {
      const slots = [
        [DECIMALS_SLOT, decimals],
        [FEE_SLOT, fee],
      ];
      const storage = Object.fromEntries(
        slots.map(([slot, value]) => [`0x${word(slot as number)}`, `0x${word(value as number)}`]),
      );
      return [address, { balance: '0x0', code: TOKEN_CODE, storage }];
    }),
  ),
});

/** A node and chain of its own; a taken port ends it, so that no test talks to the chain of another. */
export async function startAnvil({
  chain_id,
  block_seconds,
  tokens,
  history = 0,
  start_time = START_TIME,
}: AnvilOptions) {
  if (anvilPath === null) throw new Error(`${ANVIL} is not installed`);
  const home = await mkdtemp(join(tmpdir(), 'anvil-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const genesis = join(home, 'genesis.json');
  await writeFile(genesis, JSON.stringify(genesisOf(chain_id, tokens, start_time)));
  const numbers = { '--port': port, '--chain-id': chain_id, '--timestamp': start_time, '--base-fee': 0 };
  const args = ['--init', genesis, ...Object.entries(numbers).flat()];
  const flags = ['--no-mining', '--silent', '--order', 'fifo', '--slots-in-an-epoch', '4'];
  flags.push('--accounts', String(ACCOUNTS));
  const node: ChildProcess = spawn(anvilPath, [...args.map(String), ...flags], {
    env: { HOME: home, PATH: process.env.PATH },
    stdio: 'ignore',
  });
  let ended = false;
  node.once('exit', () => {
    ended = true;
  });
  let now = start_time;
  const others = new Set<string>();

  async function ask<T = unknown>(method: string, ...params: unknown[]): Promise<T> {
    const { body } = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const reply = (await body.json()) as { result: T; error?: { message: string; code: number } };
    if (reply.error) throw Object.assign(new Error(`${method}: ${reply.error.message}`), reply.error);
    return reply.result;
  }

  async function ready(): Promise<void> {
    for (let waited = 0; waited < START_TIMEOUT_MS && !ended; waited += POLL_MS) {
      const id = await ask<string>('eth_chainId').catch(() => null);
      if (Number(id) === chain_id && !ended) return;
      await delay(POLL_MS);
    }
    throw new Error(`anvil did not start on port ${port}`);
  }
  await ready();
  const accounts = await ask<string[]>('eth_accounts');
  const payer = accounts[0] as string;
  let used = 0;

  async function send({ from = payer, to, value = 0n, data = '0x', nonce }: Sending): Promise<string> {
    if (!accounts.includes(from) && !others.has(from)) {
      await ask('anvil_impersonateAccount', from);
      await ask('anvil_setBalance', from, quantity(RICH));
      others.add(from);
    }
    const at = nonce === undefined ? {} : { nonce: quantity(nonce) };
    const fields = { from, to, value: quantity(value), data, gas: GAS, gasPrice: '0x0', ...at };
    return ask<string>('eth_sendTransaction', fields);
  }

  const chain = {
    url,
    ask,
    accounts,
    payer,
    /** Unix seconds. */
    now: () => Math.floor(now),
    /** One that no transaction of is dropped: what it sends can be mined again on its own. */
    freshPayer(): string {
      const found = accounts[++used];
      if (found === undefined) throw new Error('more accounts are needed');
      return found;
    },
    height: async () => Number(await ask<string>('eth_blockNumber')),

    /** Time passes without a block. */
    wait(seconds: number): void {
      now += seconds;
    },

    /** Mines what was sent into the first of these blocks. */
    async mine(blocks = 1, seconds = block_seconds): Promise<void> {
      for (let mined = 0; mined < blocks; mined++) {
        now += seconds;
        await ask('evm_setNextBlockTimestamp', quantity(Math.floor(now)));
        await ask('evm_mine');
      }
    },

    /** Blocks the usual time apart; the first one has what was sent. */
    async grow(blocks: number, seconds = blocks * block_seconds): Promise<void> {
      now = Math.ceil(now) + Math.ceil(seconds);
      // Without an interval the time that the test takes would count.
      await ask('anvil_setBlockTimestampInterval', Math.floor(seconds / blocks));
      await ask('anvil_mine', quantity(blocks - 1));
      await ask('anvil_removeBlockTimestampInterval');
      await ask('evm_setNextBlockTimestamp', quantity(now));
      await ask('evm_mine');
    },

    send,
    payToken: (token: string, to: string, amount: bigint, from = payer) =>
      send({ from, to: token, data: call('transfer', to, amount) }),
    payTokenFor: (token: string, owner: string, to: string, amount: bigint, from = payer) =>
      send({ from, to: token, data: call('transferFrom', owner, to, amount) }),
    /** Several transfers in one transaction. */
    payTokens(token: string, payments: readonly [to: string, amount: bigint][]): Promise<string> {
      const to = payments.map(([address]) => word(address));
      const amounts = payments.map(([, amount]) => word(amount));
      const length = word(payments.length);
      const heads = word(64) + word(64 + 32 * (payments.length + 1));
      const data = `0x${selectors.transferMany}${heads}${length}${to.join('')}${length}${amounts.join('')}`;
      return send({ to: token, data });
    },
    payCoin: (to: string, value: bigint, from = payer) => send({ from, to, value }),
    /** Paid by a contract, as contract wallets do: no transaction of a block names the recipient. */
    payCoinByContract: (contract: string, to: string, value: bigint) =>
      send({ to: contract, value, data: call('payOn', to) }),
    /** Has a contract write any log. */
    write(contract: string, topics: readonly string[], data = '0x', from = payer): Promise<string> {
      const length = (data.length - 2) / 2;
      const body = data.slice(2).padEnd(Math.ceil(length / 32) * 64, '0');
      const list = word(topics.length) + topics.map(word).join('');
      const heads = word(64) + word(64 + list.length / 2);
      return send({ from, to: contract, data: `0x${selectors.write}${heads}${list}${word(length)}${body}` });
    },

    /**
     * Replaces the last blocks by as many others, in which these transactions stand again, so many blocks after the fork;
     * all others are dropped. Then the new branch grows by one block.
     */
    async reorg(
      depth: number,
      again: readonly [txid: string | Sending, offset: number][] = [],
    ): Promise<void> {
      const pairs = await Promise.all(
        again.map(async ([what, offset]) => {
          if (typeof what === 'string') return [await ask('eth_getRawTransactionByHash', what), offset];
          const { from = payer, to, value = 0n, data = '0x', nonce } = what;
          const at = nonce === undefined ? {} : { nonce: quantity(nonce) };
          return [{ from, to, value: quantity(value), data, gas: GAS, gasPrice: '0x0', ...at }, offset];
        }),
      );
      await ask('anvil_reorg', depth, pairs);
      await chain.mine();
    },

    async stop(): Promise<void> {
      const gone = ended ? Promise.resolve() : new Promise((resolve) => node.once('exit', resolve));
      node.kill('SIGKILL');
      await gone;
      await rm(home, { recursive: true, force: true });
    },
  };
  if (history > 0) await chain.grow(history);
  return chain;
}
