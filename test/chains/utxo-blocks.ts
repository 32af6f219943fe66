// Headers and chains made here: proved by work that everybody can do, for what no node would serve.

import type { Block, Header, Transaction } from '../../src/chains/utxo/block.ts';
import { parseHeader } from '../../src/chains/utxo/block.ts';
import type { Source } from '../../src/chains/utxo/source.ts';
import { targetOf } from '../../src/chains/utxo/work.ts';

/** The target of a chain that anyone can prove: every second header does. */
export const EASIEST_BITS = 0x207fffff;

interface HeaderParts {
  previous: string;
  time: number;
  bits?: number;
  merkle_root?: string;
}

/** With `proved: false` the first nonce that does not prove the work. */
export function makeHeader(
  { previous, time, bits = EASIEST_BITS, merkle_root = '0'.repeat(64) }: HeaderParts,
  { proved = true } = {},
): Header {
  const bytes = Buffer.alloc(80);
  bytes.writeUInt32LE(2, 0);
  Buffer.from(previous, 'hex').reverse().copy(bytes, 4);
  Buffer.from(merkle_root, 'hex').reverse().copy(bytes, 36);
  bytes.writeUInt32LE(time, 68);
  bytes.writeUInt32LE(bits, 72);
  for (let nonce = 0; ; nonce++) {
    bytes.writeUInt32LE(nonce, 76);
    const header = parseHeader(bytes);
    if (BigInt(`0x${header.hash}`) <= targetOf(bits) === proved) return header;
  }
}

export interface MadeChain {
  blocks: Block[];
  /** Adds a block; answers it. */
  mine(time: number, transactions?: Transaction[], parts?: Partial<HeaderParts>): Block;
  source: Source;
}

/** A provider of blocks; what it lists is for the test to say. */
export function makeChain(start: number): MadeChain {
  const blocks: Block[] = [];
  const byHash = (hash: string) => blocks.find((block) => block.hash === hash) as Block;
  const tip = () => blocks.at(-1) as Block;
  const chain: MadeChain = {
    blocks,
    mine(time, transactions = [], parts = {}) {
      const previous = blocks.at(-1)?.hash ?? '0'.repeat(64);
      const block = { ...makeHeader({ previous, time, ...parts }), transactions };
      blocks.push(block);
      return block;
    },
    source: {
      hashAt: async (height) => (blocks[height] as Block).hash,
      tip: async () => ({ height: blocks.length - 1, hash: tip().hash, time: tip().time }),
      header: async (hash) => byHash(hash),
      block: async (hash) => byHash(hash),
      // biome-ignore lint/correctness/useYield: nothing is unconfirmed
      list: async function* nothing({ now }) {
        const complete = { complete: true, trouble: null, failed: false };
        return [{ script: null, at: now(), txids: new Set<string>(), ...complete }];
      },
      lists_alone: true,
      spender: async () => null,
      locate: async () => null,
    },
  };
  chain.mine(start);
  return chain;
}
