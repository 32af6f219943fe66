// A real litecoind on its own regtest chain, with the things payers and miners do to a gateway.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { hasLitecoind, LITECOIND } from '../helpers/software.ts';
import { createTestRpc } from './rpc.ts';

/** The binary itself: the wrapper in /usr/bin writes into the home directory. */
const START_TIMEOUT_MS = 20_000;
const POLL_MS = 25;
/** Coinbases can be spent after 100 blocks: leaves 30 of them to pay with. */
const FIRST_BLOCKS = 130;
/** MWEB starts at this height, in the block of the first peg-in. */
const MWEB_HEIGHT = 432;
const FEE = 20_000n;
const REPLACEMENT_FEE = 200_000n;
/** Signals replaceability (BIP125). */
const RBF_SEQUENCE = 'fdffffff';

export { hasLitecoind };

/** An output by scriptPubKey (hex): what `normalizeAddress(…).key` is, whatever the network prefix. */
interface ScriptOutput {
  script: string;
  amount: bigint;
}

interface Sent {
  txid: string;
  hex: string;
  inputs: { txid: string; vout: number; amount: bigint }[];
}

export interface Litecoind {
  /** Core JSON-RPC with user and password. */
  url: string;
  rpc<T = unknown>(method: string, ...params: unknown[]): Promise<T>;
  /** Mines everything in the mempool; to a script where one is given. Answers the block hashes. */
  mine(blocks: number, script?: string): Promise<string[]>;
  /** Mines one block of exactly these transactions (hex or mempool txids). */
  mineOnly(transactions: string[]): Promise<string>;
  /** Broadcasts one replaceable transaction with these outputs in this order, change last; from `input` if given. */
  send(outputs: ScriptOutput[], input?: Sent['inputs'][number]): Promise<Sent>;
  /** Broadcasts a transaction that replaces this one (RBF) with other outputs. */
  replace(sent: Sent, outputs: ScriptOutput[]): Promise<Sent>;
  /** Mines a block with another spend of the same money: the one in the mempool is dead. */
  doubleSpend(sent: Sent, outputs: ScriptOutput[]): Promise<Sent>;
  /** Replaces the last `depth` blocks by `depth + 1` others: with their transactions mined again, or without. */
  reorg(depth: number, transactions: 'mined again' | 'left out'): Promise<string[]>;
  height(): Promise<number>;
  stop(): Promise<void>;
}

/** Takes about a second. With `mweb`, MimbleWimble blocks are active and one peg-in is mined. */
export async function startLitecoind({
  mweb = false,
  blocks = FIRST_BLOCKS,
  txindex = true,
} = {}): Promise<Litecoind> {
  const directory = await mkdtemp(join(tmpdir(), 'litecoind-'));
  const port = await freePort();
  const child = spawn(
    LITECOIND,
    [
      '-regtest',
      `-datadir=${directory}`,
      '-server=1',
      `-txindex=${txindex ? 1 : 0}`,
      '-rpcuser=user',
      '-rpcpassword=password',
      `-rpcport=${port}`,
      '-listen=0',
      '-fallbackfee=0.0001',
      '-printtoconsole=0',
      '-mempoolreplacement=1',
      // Its thousand keys ahead take longer than everything else at a start.
      '-keypool=1',
      ...(mweb ? [] : ['-vbparams=mweb:99999999999:99999999999']),
    ],
    { stdio: 'ignore' },
  );
  const url = `http://user:password@127.0.0.1:${port}`;
  // Its wallet takes long where many tests share a machine.
  const client = createTestRpc({ provider: 'core', url, timeout_ms: 60_000 });
  const rpc = async <T>(method: string, ...params: unknown[]) =>
    (await client.call(method, params as never)) as T;
  await untilReady(child, () => rpc('getblockchaininfo'));
  await rpc('createwallet', 'test');
  const own = await rpc<string>('getnewaddress', '', 'bech32');
  const { scriptPubKey: change } = await rpc<{ scriptPubKey: string }>('getaddressinfo', own);
  if (mweb) await activateMweb(rpc, own);
  else if (blocks > 0) await rpc('generatetoaddress', blocks, own);

  const freshAddress = () => rpc<string>('getnewaddress', '', 'bech32');
  const sign = async (inputs: Sent['inputs'], outputs: ScriptOutput[], fee: bigint): Promise<Sent> => {
    const left = sum(inputs) - sum(outputs) - fee;
    const unsigned = encode(inputs, [...outputs, { script: change, amount: left }]);
    const { hex } = await rpc<{ hex: string }>('signrawtransactionwithwallet', unsigned);
    const { txid } = await rpc<{ txid: string }>('decoderawtransaction', hex);
    return { txid, hex, inputs };
  };
  const broadcast = async (sent: Sent): Promise<Sent> => {
    await rpc('sendrawtransaction', sent.hex);
    return sent;
  };
  const mineOnly = async (transactions: string[]) =>
    (await rpc<{ hash: string }>('generateblock', await freshAddress(), transactions)).hash;

  return {
    url,
    rpc,
    mineOnly,
    mine: (count, script) =>
      script === undefined
        ? rpc('generatetoaddress', count, own)
        : rpc('generatetodescriptor', count, `raw(${script})`),
    async send(outputs, input) {
      if (input) return broadcast(await sign([input], outputs, FEE));
      const unspent = await rpc<{ txid: string; vout: number; amount: number; confirmations: number }[]>(
        'listunspent',
        1,
      );
      // The oldest: a reorganisation would make a coinbase unspendable again that has only just matured.
      unspent.sort((one, other) => other.confirmations - one.confirmations);
      const chosen = unspent.map(({ txid, vout, amount }) => ({ txid, vout, amount: satoshis(amount) }));
      const enough = chosen.find(({ amount }) => amount > sum(outputs) + FEE + REPLACEMENT_FEE);
      if (!enough) throw new Error('the test wallet has no output large enough');
      return broadcast(await sign([enough], outputs, FEE));
    },
    replace: async (sent, outputs) => broadcast(await sign(sent.inputs, outputs, REPLACEMENT_FEE)),
    async doubleSpend(sent, outputs) {
      const other = await sign(sent.inputs, outputs, REPLACEMENT_FEE);
      await mineOnly([other.hex]);
      return other;
    },
    async reorg(depth, transactions) {
      const from = (await rpc<number>('getblockcount')) - depth + 1;
      await rpc('invalidateblock', await rpc('getblockhash', from));
      // To another address: a block made again within the same second would be the invalid one.
      if (transactions === 'mined again') return rpc('generatetoaddress', depth + 1, await freshAddress());
      const hashes: string[] = [];
      while (hashes.length <= depth) hashes.push(await mineOnly([]));
      return hashes;
    },
    height: () => rpc<number>('getblockcount'),
    async stop() {
      await ended(child);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Hands a node the blocks of another one, up to a height: two providers with a common past. */
export async function copyBlocks(from: Litecoind, to: Litecoind, height: number): Promise<void> {
  for (let next = (await to.height()) + 1; next <= height; next++) {
    const hash = await from.rpc<string>('getblockhash', next);
    await to.rpc('submitblock', await from.rpc('getblock', hash, 0));
  }
}

async function activateMweb(rpc: Litecoind['rpc'], own: string): Promise<void> {
  await rpc('generatetoaddress', MWEB_HEIGHT - 1, own);
  await rpc('sendtoaddress', await rpc('getnewaddress', '', 'mweb'), 5);
  await rpc('generatetoaddress', 1, own);
}

const sum = (parts: readonly { amount: bigint }[]) => parts.reduce((total, { amount }) => total + amount, 0n);
/** A JSON amount of this node: below 2^53 units, so its eight decimals are exact. */
const satoshis = (coins: number) => BigInt(coins.toFixed(8).replace('.', ''));
const littleEndian = (value: bigint | number, bytes: number) => {
  const hex = BigInt(value)
    .toString(16)
    .padStart(2 * bytes, '0');
  return Buffer.from(hex, 'hex').reverse().toString('hex');
};

function encode(inputs: Sent['inputs'], outputs: ScriptOutput[]): string {
  const ins = inputs.map(({ txid, vout }) => {
    return `${Buffer.from(txid, 'hex').reverse().toString('hex')}${littleEndian(vout, 4)}00${RBF_SEQUENCE}`;
  });
  const outs = outputs.map(({ script, amount }) => {
    return littleEndian(amount, 8) + littleEndian(script.length / 2, 1) + script;
  });
  const count = (list: string[]) => littleEndian(list.length, 1) + list.join('');
  return `02000000${count(ins)}${count(outs)}00000000`;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function untilReady(child: ChildProcess, probe: () => Promise<unknown>): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    try {
      await probe();
      return;
    } catch (error) {
      if (child.exitCode !== null || Date.now() > deadline) {
        await ended(child);
        throw new Error('litecoind did not start', { cause: error });
      }
      await delay(POLL_MS);
    }
  }
}

/** Its data is thrown away, so nothing is lost by not asking it to stop. */
async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await exit;
}
