// TON as toncenter v3 tells it: the coin and one jetton.
import { Address, beginCell, Cell } from '@ton/core';
import type { Json } from '../../../src/chains/family.ts';
import { createToncenter } from '../../helpers/toncenter.ts';
import { addTo, type OddChain } from './chain.ts';
import { createOddRpc } from './rpc.ts';

const SENDER = Address.parseRaw(`0:${'7'.repeat(64)}`);
const BLOCKS_PER_SECOND = 2;

export function tonChain(start: number): OddChain {
  const seqnoAt = (time: number) => (time - start) * BLOCKS_PER_SECOND + 1_000_000;
  const indexer = createToncenter(() => ({ seqno: seqnoAt(chain.now), now: chain.now }));
  const chain: OddChain = {
    blockchain: 'ton',
    now: start,
    received: new Map(),
    rpc: createOddRpc('toncenter', (path, params) => {
      const answer = indexer.answer(path, (params ?? {}) as Record<string, Json>);
      if (answer !== undefined) return answer;
      const asked = params as unknown as { method: string };
      // Not deployed, as the indexer's states have it.
      if (asked.method !== 'get_wallet_address') return { exit_code: -13, stack: [] };
      const { stack } = params as unknown as { stack: { value: string }[] };
      const owner = ownerOf(stack[0]?.value ?? '');
      return {
        exit_code: 0,
        stack: [
          {
            type: 'cell',
            value: beginCell().storeAddress(walletOf(owner)).endCell().toBoc().toString('base64'),
          },
        ],
      };
    }),
    pay(invoice) {
      const { chain: gateway, address_key, amount_atomic, memo } = invoice;
      const comment = beginCell()
        .storeUint(0, 32)
        .storeStringTail(memo ?? '')
        .endCell();
      const isCoin = gateway === 'ton';
      const body = isCoin
        ? comment
        : beginCell()
            .storeUint(0x178d4519, 32)
            .storeUint(0, 64)
            .storeCoins(BigInt(amount_atomic))
            .storeAddress(SENDER)
            .storeAddress(SENDER)
            .storeCoins(1n)
            .storeBit(1)
            .storeRef(comment)
            .endCell();
      const { hash } = indexer.add({
        account: isCoin ? address_key : keyOf(walletOf(Address.parseRaw(address_key))),
        now: chain.now,
        mc_block_seqno: seqnoAt(chain.now),
        emulated: false,
        description: { aborted: false, compute_ph: { success: true }, bounce: null },
        in_msg: {
          source: SENDER.toRawString().toUpperCase(),
          value: isCoin ? amount_atomic : '1000000',
          bounced: false,
          message_content: { body: body.toBoc().toString('base64') },
        },
      });
      addTo(chain.received, invoice);
      return Buffer.from(hash, 'base64').toString('hex');
    },
  };
  return chain;
}

const ownerOf = (boc: string): Address => Cell.fromBase64(boc).beginParse().loadAddress();

/** Where an owner's jettons are: another account, derived from its owner's. */
const walletOf = ({ hash }: Address): Address => new Address(0, Buffer.from(hash.map((byte) => byte ^ 0xff)));

const keyOf = (address: Address): string => address.toRawString().toUpperCase();
