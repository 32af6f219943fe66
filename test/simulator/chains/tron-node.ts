// A model of a TRON node: its JSON-RPC like that of an EVM node, and its own API, over a model of the chain.
import { contractTransaction, tronHex } from '../../chains/tron-transactions.ts';
import type { ChainBlock, ChainTransaction } from './evm.ts';
import { balanceAt, type EvmNodeOptions, evmMethods, heightOf } from './evm-node.ts';
import { type Front, json, jsonRpc } from './front.ts';

const API = /(?:^|\/)wallet(solidity)?\/(\w+)$/;
/** Code that returns balances, and how many; the addresses stand at its end. */
const BALANCES = /^60005b8061([0-9a-f]{4})/;

export function tronNode(options: EvmNodeOptions): Front {
  const rpc = jsonRpc(evmMethods(options), true);
  const view = () => options.chain.asOf(options.seen());
  const api: Record<string, (body: never) => unknown> = {
    getblockbylimitnext({ startNum, endNum }: { startNum: number; endNum: number }) {
      const { at, tip } = view();
      const heights = Array.from(
        { length: Math.max(0, Math.min(endNum, tip + 1) - startNum) },
        (_, each) => startNum + each,
      );
      return { block: heights.map((height) => shownBlock(at(height) as ChainBlock)) };
    },
    gettransactionbyid({ value }: { value: string }) {
      const place = view().placeOf(`0x${value}`);
      return place ? shownTransaction(place.made) : {};
    },
  };
  const solid = () => heightOf(view(), options, 'finalized');
  const solid_api: typeof api = {
    getnowblock: () => shownBlock(view().at(solid()) as ChainBlock),
    gettransactioninfobyid: ({ value }: { value: string }) => ({ id: value }),
    triggerconstantcontract({ data }: { data: string }) {
      const count = Number(`0x${BALANCES.exec(data)?.[1]}`);
      const tail = data.slice(data.length - count * 40);
      const balances = Array.from({ length: count }, (_, at) =>
        balanceAt(view(), `0x${tail.slice(at * 40, at * 40 + 40)}`, solid()),
      );
      const words = [...balances, BigInt(solid())].map((each) => each.toString(16).padStart(64, '0'));
      return { result: { result: true }, constant_result: [words.join('')] };
    },
  };
  return (request) => {
    const [, side, method] = API.exec(request.path) ?? [];
    if (method === undefined) return rpc(request);
    const methods = side === undefined ? api : { ...api, ...solid_api };
    return json(methods[method]?.(JSON.parse(request.body ?? '{}') as never) ?? { Error: 'unknown' });
  };
}

const shownBlock = ({ hash, parent, number, timestamp, transactions }: ChainBlock) => ({
  blockID: hash.slice(2),
  block_header: {
    raw_data: {
      number,
      timestamp: timestamp * 1000,
      parentHash: parent.slice(2),
      txTrieRoot: (transactions.length === 0 ? '0' : 'a').repeat(64),
    },
  },
  ...(transactions.length === 0 ? {} : { transactions: transactions.map(shownTransaction) }),
});

function shownTransaction({ hash, from, to, value, failed, contract_type }: ChainTransaction) {
  const [owner_address, other] = [tronHex(from), tronHex(to)];
  const ret = [{ contractRet: failed ? 'OUT_OF_ENERGY' : 'SUCCESS' }];
  if (value === 0n)
    return contractTransaction(
      hash.slice(2),
      'TriggerSmartContract',
      { owner_address, contract_address: other },
      ret,
    );
  const coins = { owner_address, to_address: other, amount: Number(value) };
  return contractTransaction(hash.slice(2), contract_type ?? 'TransferContract', coins, ret);
}
