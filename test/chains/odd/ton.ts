// TON as toncenter v3 tells it: the coin and one jetton.
import { Address, beginCell, Cell } from '@ton/core';
import { addTo, type OddChain } from './chain.ts';
import { createOddRpc } from './rpc.ts';

const SENDER = Address.parseRaw(`0:${'7'.repeat(64)}`);
const BLOCKS_PER_SECOND = 2;

export function tonChain(start: number): OddChain {
  const rows: ({ account: string; now: number } & Record<string, unknown>)[] = [];
  let serial = 0;
  const seqnoAt = (time: number) => (time - start) * BLOCKS_PER_SECOND + 1_000_000;
  const chain: OddChain = {
    blockchain: 'ton',
    now: start,
    received: new Map(),
    rpc: createOddRpc('toncenter', (path, params) => {
      if (path === '/masterchainInfo')
        return { last: { seqno: seqnoAt(chain.now), gen_utime: String(chain.now), global_id: -3 } };
      if (path === '/transactions') {
        const {
          account,
          start_utime,
          end_utime = chain.now,
          limit,
          offset,
        } = params as unknown as {
          account: string[];
          start_utime: number;
          end_utime?: number;
          limit: number;
          offset: number;
        };
        const found = rows.filter(
          (row) => account.includes(row.account) && row.now >= start_utime && row.now <= end_utime,
        );
        return { transactions: found.slice(offset, offset + limit) };
      }
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
      const hash = Buffer.alloc(32, 0);
      hash.writeUInt32BE(++serial);
      rows.push({
        account: isCoin ? address_key : keyOf(walletOf(Address.parseRaw(address_key))),
        hash: hash.toString('base64'),
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
      return hash.toString('hex');
    },
  };
  return chain;
}

const ownerOf = (boc: string): Address => Cell.fromBase64(boc).beginParse().loadAddress();

/** Where an owner's jettons are: another account, told by its owner's. */
const walletOf = ({ hash }: Address): Address => new Address(0, Buffer.from(hash.map((byte) => byte ^ 0xff)));

const keyOf = (address: Address): string => address.toRawString().toUpperCase();
