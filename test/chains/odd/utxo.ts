// A chain of blocks in bytes, as Esplora and as a node tell it.
import { createHash } from 'node:crypto';
import { ProviderError } from '../../../src/chains/family.ts';
import { addTo, type OddChain } from './chain.ts';
import { createOddRpc } from './rpc.ts';

interface Payment {
  txid: string;
  bytes: Buffer;
  script: string;
  amount: bigint;
  spends: string;
}
interface Block {
  hash: string;
  previous: string;
  height: number;
  time: number;
  bytes: Buffer;
  payments: Payment[];
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();
const doubleHash = (bytes: Uint8Array) => sha256(sha256(bytes));
const shown = (hash: Buffer) => Buffer.from(hash).reverse().toString('hex');
const uint = (value: number, bytes: number) => {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntLE(value, 0, bytes);
  return buffer;
};

function transaction(spends: Buffer, script: string, amount: bigint): Payment {
  const value = Buffer.alloc(8);
  value.writeBigUInt64LE(amount);
  const bytes = Buffer.concat([
    uint(2, 4),
    uint(1, 1),
    spends,
    uint(0, 4),
    uint(0, 1),
    uint(0xffffffff, 4),
    uint(1, 1),
    value,
    uint(script.length / 2, 1),
    Buffer.from(script, 'hex'),
    uint(0, 4),
  ]);
  return { txid: shown(doubleHash(bytes)), bytes, script, amount, spends: shown(spends) };
}

function merkleRoot(hashes: Buffer[]): Buffer {
  let level = hashes;
  while (level.length > 1)
    level = Array.from({ length: Math.ceil(level.length / 2) }, (_, at) =>
      doubleHash(Buffer.concat([level[2 * at] as Buffer, (level[2 * at + 1] ?? level[2 * at]) as Buffer])),
    );
  return level[0] as Buffer;
}

/** The target of a chain that anyone can prove: every second header does. */
const EASIEST = 0x207fffff;

function proved(header: Buffer): Buffer {
  for (let nonce = 0; ; nonce++) {
    const bytes = Buffer.concat([header, uint(nonce, 4)]);
    if ((doubleHash(bytes).at(-1) ?? 0) < 0x7f) return bytes;
  }
}

const notFound = (what: string) => new ProviderError('rpc', `${what} not found`, 404);
const noSuch = () => new ProviderError('rpc', 'No such transaction', -5);

/** `mine` puts everything unconfirmed into a block. */
export function utxoChain(provider: 'esplora' | 'core', start: number): OddChain & { mine(): void } {
  const blocks: Block[] = [];
  let mempool: Payment[] = [];
  let serial = 0;
  const tip = () => blocks.at(-1) as Block;
  const byHash = (hash: string) => {
    const found = blocks.find((each) => each.hash === hash);
    if (!found) throw notFound('Block');
    return found;
  };
  const byHeight = (height: number) => {
    const found = blocks[height];
    if (!found) throw notFound('Block');
    return found;
  };
  const minedIn = (txid: string) =>
    blocks.find(({ payments }) => payments.some((each) => each.txid === txid));
  const find = (txid: string) =>
    [...mempool, ...blocks.flatMap(({ payments }) => payments)].find((each) => each.txid === txid);

  function mine(): void {
    const coinbase = transaction(Buffer.alloc(32), '51', BigInt(blocks.length));
    const all = [coinbase, ...mempool];
    const previous = blocks.at(-1)?.hash ?? '0'.repeat(64);
    const header = proved(
      Buffer.concat([
        uint(2, 4),
        Buffer.from(previous, 'hex').reverse(),
        merkleRoot(all.map(({ bytes }) => doubleHash(bytes))),
        uint(chain.now, 4),
        uint(EASIEST, 4),
      ]),
    );
    const bytes = Buffer.concat([header, uint(all.length, 1), ...all.map((each) => each.bytes)]);
    blocks.push({
      hash: shown(doubleHash(header)),
      previous,
      height: blocks.length,
      time: chain.now,
      bytes,
      payments: mempool,
    });
    mempool = [];
  }

  function json({ txid, script, amount, spends }: Payment) {
    const block = minedIn(txid);
    return {
      txid,
      vin: [{ txid: spends, vout: 0 }],
      vout: [{ scriptpubkey: script, value: Number(amount) }],
      status: block
        ? { confirmed: true, block_height: block.height, block_hash: block.hash, block_time: block.time }
        : { confirmed: false },
    };
  }

  const paths: [RegExp, (found: string) => unknown][] = [
    [/^\/blocks\/tip\/hash$/, () => tip().hash],
    [/^\/block-height\/(\d+)$/, (height) => byHeight(Number(height)).hash],
    [
      /^\/block\/(\w+)$/,
      (hash) => {
        const { height, time } = byHash(hash);
        return { id: hash, height, timestamp: time };
      },
    ],
    [/^\/block\/(\w+)\/header$/, (hash) => byHash(hash).bytes.subarray(0, 80).toString('hex')],
    [/^\/block\/(\w+)\/raw$/, (hash) => new Uint8Array(byHash(hash).bytes)],
    [
      /^\/scripthash\/(\w+)\/txs(?:\/mempool)?$/,
      (hash) =>
        mempool.filter(({ script }) => sha256(Buffer.from(script, 'hex')).toString('hex') === hash).map(json),
    ],
    [/^\/scripthash\/(\w+)$/, () => ({ mempool_stats: { tx_count: mempool.length } })],
    [
      /^\/tx\/(\w+)\/status$/,
      (txid) => {
        const found = find(txid);
        if (!found) throw notFound('Transaction');
        return json(found).status;
      },
    ],
    [
      /^\/tx\/(\w+)\/hex$/,
      (txid) => {
        const found = find(txid);
        if (!found) throw notFound('Transaction');
        return found.bytes.toString('hex');
      },
    ],
    [/^\/tx\/\w+\/outspend\/\d+$/, () => ({ spent: false })],
  ];
  const methods: Record<string, (param: never, second: never) => unknown> = {
    getblockchaininfo: () => ({
      chain: 'regtest',
      blocks: tip().height,
      headers: tip().height,
      bestblockhash: tip().hash,
    }),
    getblockhash: (height: number) => byHeight(height).hash,
    getblockheader: (hash: string, verbose: boolean | undefined) => {
      const { height, time, bytes } = byHash(hash);
      return verbose === false ? bytes.subarray(0, 80).toString('hex') : { hash, height, time };
    },
    getblock: (hash: string) => byHash(hash).bytes.toString('hex'),
    getbestblockhash: () => tip().hash,
    getrawmempool: () => mempool.map(({ txid }) => txid),
    getrawtransaction: (txid: string) =>
      mempool.find((each) => each.txid === txid)?.bytes.toString('hex') ?? noSuch(),
    uptime: () => 1_000_000,
  };

  const chain: OddChain & { mine(): void } = {
    blockchain: 'bitcoin',
    now: start,
    received: new Map(),
    mine,
    rpc: createOddRpc(provider, (name, params) => {
      if (provider === 'core') return methods[name]?.(...(params as [never, never]));
      for (const [pattern, answer] of paths) {
        const found = pattern.exec(name);
        if (found) return answer(found[1] ?? '');
      }
      throw notFound(name);
    }),
    pay(invoice) {
      const spends = Buffer.alloc(32, 7);
      spends.writeUInt32BE(++serial);
      const payment = transaction(spends, invoice.address_key, BigInt(invoice.amount_atomic));
      mempool.push(payment);
      addTo(chain.received, invoice);
      return payment.txid;
    },
  };
  for (let height = 0; height < 12; height++) {
    chain.now = start - (12 - height) * 600;
    mine();
  }
  chain.now = start;
  return chain;
}
