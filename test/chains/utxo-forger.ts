// A provider that tells of blocks that no one has mined, on top of a real node's chain.
import { createServer } from 'node:http';
import { bytesToHex } from '@noble/hashes/utils.js';
import { doubleHash, parseHeader } from '../../src/chains/utxo/block.ts';
import { scryptWork, targetOf } from '../../src/chains/utxo/work.ts';
import type { Litecoind } from './utxo-chain.ts';
import type { UtxoFront } from './utxo-fronts.ts';

const EASIEST_BITS = 0x207fffff;
const NO_SUCH_BLOCK = -5;

export interface ForgedParts {
  /** Unix seconds; now unless given. */
  time?: number;
  bits?: number;
  previous?: string;
  /** Whether its work is done. */
  proved?: boolean;
  /** Pays this much to a script. */
  pays?: { script: string; amount: bigint };
}

export interface Forger {
  /** A block on top of what the provider tells so far. Answers its hash. */
  forge(parts?: ForgedParts): Promise<string>;
  /** The provider claims to be so many blocks further than it can show. */
  boast(blocks: number): void;
  /** Tells the truth again. */
  stop(): Promise<void>;
}

interface Forged {
  hash: string;
  hex: string;
  height: number;
  time: number;
}

const reversed = (hex: string) => Buffer.from(hex, 'hex').reverse();
const shown = (bytes: Uint8Array) => bytesToHex(Uint8Array.from(bytes).reverse());

/** Every request of the front is answered by the forger from now on. */
export async function startForger(front: UtxoFront, node: Litecoind): Promise<Forger> {
  const blocks: Forged[] = [];
  let boasted = 0;
  const tip = async () =>
    blocks.at(-1) ?? { height: await node.height(), hash: await node.rpc('getbestblockhash') };
  const claimed = async () => {
    const { height, hash } = await tip();
    return { height: height + boasted, hash: boasted === 0 ? hash : 'f'.repeat(64) };
  };

  async function answer(method: string, params: unknown[]): Promise<unknown> {
    const [first, second] = params;
    const top = await claimed();
    const forged = blocks.find(({ hash, height }) => hash === first || height === first);
    switch (method) {
      case 'getbestblockhash':
        return top.hash;
      case 'getblockcount':
        return top.height;
      case 'getblockchaininfo':
        return { chain: 'regtest', blocks: top.height, headers: top.height, bestblockhash: top.hash };
      case 'getblockhash':
        if (first === top.height) return top.hash;
        if (forged) return forged.hash;
        break;
      case 'getblockheader':
        if (first === top.hash && boasted > 0) return { ...top, time: Math.floor(Date.now() / 1000) };
        if (forged)
          return second === false ? forged.hex.slice(0, 160) : { height: forged.height, time: forged.time };
        break;
      case 'getblock':
        if (forged) return forged.hex;
        break;
    }
    return node.rpc(method, ...params);
  }

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const asked = JSON.parse(Buffer.concat(chunks).toString());
    const one = async ({ id, method, params }: { id: number; method: string; params: unknown[] }) =>
      answer(method, params).then(
        (result) => ({ id, result, error: null }),
        (error: Error) => ({ id, result: null, error: { code: NO_SUCH_BLOCK, message: error.message } }),
      );
    const replies = Array.isArray(asked) ? await Promise.all(asked.map(one)) : await one(asked);
    response.end(JSON.stringify(replies));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const before = front.node;
  front.node = {
    ...node,
    url: `http://127.0.0.1:${port}`,
    height: async () => (await claimed()).height,
    rpc: async <T>(method: string, ...params: unknown[]) => (await answer(method, params)) as T,
  };

  return {
    async forge({
      time = Math.floor(Date.now() / 1000),
      bits = EASIEST_BITS,
      previous,
      proved = true,
      pays,
    } = {}) {
      const { height, hash: head } = await tip();
      const transactions = [
        transaction('00'.repeat(32), 0xffffffff, { script: '51', amount: BigInt(height) }),
      ];
      if (pays) transactions.push(transaction('11'.repeat(32), 0, pays));
      const header = Buffer.alloc(80);
      header.writeUInt32LE(0x20000000, 0);
      reversed(previous ?? head).copy(header, 4);
      const ids = transactions.map((bytes) => doubleHash(bytes));
      Buffer.from((ids[1] ? doubleHash(...ids) : ids[0]) as Uint8Array).copy(header, 36);
      header.writeUInt32LE(time, 68);
      header.writeUInt32LE(bits, 72);
      const isProved = () => BigInt(`0x${shown(scryptWork(header))}`) <= targetOf(EASIEST_BITS);
      for (let nonce = 0; isProved() !== proved; nonce++) header.writeUInt32LE(nonce, 76);
      const { hash } = parseHeader(header);
      const hex = Buffer.concat([header, Buffer.of(transactions.length), ...transactions]).toString('hex');
      blocks.push({ hash, hex, height: height + 1, time });
      return hash;
    },
    boast(more) {
      boasted = more;
    },
    async stop() {
      front.node = before;
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

function transaction(spends: string, vout: number, { script, amount }: { script: string; amount: bigint }) {
  const output = Buffer.alloc(8);
  output.writeBigUInt64LE(amount);
  const index = Buffer.alloc(4);
  index.writeUInt32LE(vout);
  return Buffer.concat([
    Buffer.from('0200000001', 'hex'),
    Buffer.from(spends, 'hex'),
    index,
    Buffer.from('00ffffffff01', 'hex'),
    output,
    Buffer.of(script.length / 2),
    Buffer.from(script, 'hex'),
    Buffer.alloc(4),
  ]);
}
