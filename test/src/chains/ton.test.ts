// TON without a chain: bodies from strangers, and recorded answers that the test chain cannot give.
import { beginCell, Cell } from '@ton/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json, Network, Page, Rpc } from '../../../src/chains/family.ts';
import { gatewaysOf } from '../../../src/chains/gateways.ts';
import { parseBody, readComment, readInternalTransfer } from '../../../src/chains/ton/body.ts';
import { ton } from '../../../src/chains/ton/family.ts';
import { rightClock, unasked } from '../../helpers/reading.ts';
import { verifies } from '../../requirements.ts';

const KEY = '0:B113A994B5024A16719F69139328EB759596C38A25F59028B146FECDC3621DFE';

describe('bodies from strangers', () => {
  it('never throw, whatever the bits', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 127 }),
        fc.uint8Array({ maxLength: 127 }),
        fc.boolean(),
        (a, b, jetton) => {
          const builder = beginCell();
          if (jetton) builder.storeUint(0x178d4519, 32).storeBuffer(Buffer.from(a.subarray(0, 120)));
          else builder.storeUint(0, 32).storeBuffer(Buffer.from(a.subarray(0, 120)));
          const cell = builder.storeRef(beginCell().storeBuffer(Buffer.from(b)).endCell()).endCell();
          const memo = readComment(cell.beginParse());
          expect(memo === null || memo.length > 0).toBe(true);
          const transfer = readInternalTransfer(cell);
          expect(transfer === null || transfer.amount_atomic >= 0n).toBe(true);
          const text = Buffer.from(b).toString('base64');
          expect(() => parseBody(text)).not.toThrow();
        },
      ),
    );
  });

  it('are not followed without end', () => {
    let cell = beginCell().storeUint(65, 8).endCell();
    for (let depth = 0; depth < 200; depth++) cell = beginCell().storeUint(65, 8).storeRef(cell).endCell();
    const body = beginCell().storeUint(0, 32).storeRef(cell).endCell();
    expect(readComment(body.beginParse())).toBeNull();
  });

  it('give a memo without the zero character, which PostgreSQL cannot keep', () => {
    const body = beginCell().storeUint(0, 32).storeStringTail('INV\0A').endCell();
    expect(readComment(body.beginParse())).toBe('INVA');
  });

  it('are not read from exotic cells', () => {
    const library = beginCell().storeUint(2, 8).storeBuffer(Buffer.alloc(32, 1)).endCell({ exotic: true });
    expect(parseBody(library.toBoc().toString('base64'))).toBeNull();
    const body = beginCell().storeUint(0, 32).storeRef(library).endCell();
    expect(readComment(body.beginParse())).toBeNull();
  });
});

/** A provider that answers as recorded. */
function recorded(answers: Record<string, unknown>): Rpc {
  const unused = () => Promise.reject(new Error('not recorded'));
  const json = async (path: string) => structuredClone(answers[path]);
  return { provider: 'toncenter', json, text: unused, bytes: unused, call: unused, batch: unused };
}

describe('the network of a provider', () => {
  const block = (last: Record<string, Json>) => recorded({ '/masterchainInfo': { last, first: last } });

  it.each<[string, Record<string, Json>, Network]>([
    ['the main network', { seqno: 61_000_000, gen_utime: '1795000000', global_id: -239 }, 'mainnet'],
    [
      'a main-network indexer that is still syncing',
      { seqno: 30_497_145, gen_utime: '1687271330', global_id: -239 },
      'mainnet',
    ],
    ['the test network', { seqno: 61_000_000, gen_utime: '1795000000', global_id: -3 }, 'testnet'],
    [
      'a local network with the main id',
      { seqno: 1200, gen_utime: '1795000000', global_id: -239 },
      'testnet',
    ],
  ])('is known for %s', async (_name, last, network) => {
    expect(await ton.identify(block(last))).toBe(network);
  });

  it.each<[string, unknown]>([
    ['no global id', { last: { seqno: 61_000_000, gen_utime: '1795000000' } }],
    ['an error object', { ok: false, error: 'LITE_SERVER_NOTREADY', code: 500 }],
    ['nothing', undefined],
    ['a time that is none', { last: { seqno: 1, gen_utime: 'soon', global_id: -3 } }],
  ])('is not guessed from %s', async (_name, answer) => {
    const provider = recorded({ '/masterchainInfo': answer });
    await expect(ton.identify(provider)).rejects.toMatchObject({ name: 'ProviderError', kind: 'bad_answer' });
  });
});

describe('recorded transactions', () => {
  const gateways = gatewaysOf('mainnet').filter(({ chain }) => chain === 'ton');
  const now = 1_795_000_000;
  const message = {
    hash: 'aGFzaA==',
    source: `0:${'7'.repeat(64)}`,
    destination: KEY,
    value: '1500000000',
    opcode: '0x00000000',
    bounce: false,
    bounced: false,
    message_content: {
      body: beginCell().storeUint(0, 32).storeStringTail('INV-A').endCell().toBoc().toString('base64'),
      decoded: { type: 'text_comment', comment: 'INV-A' },
    },
  };
  const transaction = {
    account: KEY,
    hash: Buffer.alloc(32, 9).toString('base64'),
    lt: '62000000000003',
    prev_trans_lt: '61000000000003',
    prev_trans_hash: Buffer.alloc(32, 8).toString('base64'),
    now: now - 10,
    mc_block_seqno: 61_000_000,
    emulated: false,
    description: { type: 'ord', aborted: false, compute_ph: { skipped: false, success: true } },
    in_msg: message,
    out_msgs: [],
  };

  /** The pages of one reading in which a provider gives these rows. */
  async function readRows(...rows: unknown[]) {
    const last = { seqno: 61_000_001, gen_utime: String(now), global_id: -239 };
    const rpc = recorded({
      '/masterchainInfo': { last, first: last },
      '/transactions': { transactions: rows },
    });
    const context = {
      rpc,
      network: 'mainnet' as const,
      blockchain: 'ton',
      gateways,
      now: () => now,
      ...rightClock,
    };
    const watched = { ...ton.normalizeAddress(KEY, 'mainnet'), since: now - 60, open: true };
    const request = {
      ...unasked,
      addresses: async () => [watched],
      cursor: null,
      accounts: async () => new Map<string, Json>(),
    };
    const pages: Page[] = [];
    for await (const page of ton.open().read(context, request)) pages.push(page);
    return pages;
  }
  const read = async (row: unknown) => (await readRows(row)).flatMap(({ transfers }) => transfers);

  it('give a transfer with the hex hash and mainnet forms', async () => {
    verifies('ton-txid');
    expect(await read(transaction)).toMatchObject([
      { txid: '09'.repeat(32), amount_atomic: 1_500_000_000n, memo: 'INV-A', confirmations: 2, final: true },
    ]);
  });

  it('are found however the provider spells the account', async () => {
    expect(await read({ ...transaction, account: KEY.toLowerCase() })).toHaveLength(1);
  });

  it.each<[string, unknown]>([
    ['of another account', { ...transaction, account: `0:${'8'.repeat(64)}` }],
    ['not yet in a masterchain block', { ...transaction, mc_block_seqno: null }],
    ['that were only emulated', { ...transaction, emulated: true }],
    ['without a message', { ...transaction, in_msg: null }],
    ['set off from outside', { ...transaction, in_msg: { ...message, source: null, value: null } }],
    ['of no value', { ...transaction, in_msg: { ...message, value: '0' } }],
    ['that bounced', { ...transaction, in_msg: { ...message, bounced: true } }],
  ])('%s are no credit', async (_name, row) => {
    expect(await read(row)).toEqual([]);
  });

  it('without the message itself are listed, never matched', async () => {
    const [transfer] = await read({ ...transaction, in_msg: { ...message, message_content: null } });
    expect(transfer).toMatchObject({ amount_atomic: 1_500_000_000n, memo: null });
    expect(transfer?.ambiguous).toMatch(/did not give the message/);
  });

  it('ignore what the provider says it decoded', async () => {
    const body = new Cell().toBoc().toString('base64');
    const message_content = { body, decoded: { type: 'text_comment', comment: 'INV-B' } };
    expect(await read({ ...transaction, in_msg: { ...message, message_content } })).toMatchObject([
      { memo: null },
    ]);
  });

  it.each<[string, object]>([
    ['a hash of another length', { hash: 'aGFzaA==' }],
    ['an amount that is no integer', { in_msg: { ...message, value: '1.5e9' } }],
    ['no description', { description: undefined }],
    ['no transaction before it', { prev_trans_lt: undefined }],
    ['a time that is not yet', { now: now + 3600 }],
  ])(
    'with %s are the trouble of their account: nothing is proved, and the others are read',
    async (_name, part) => {
      verifies('account-own-trouble');
      const odd = { ...transaction, ...part };
      const next = {
        ...transaction,
        hash: Buffer.alloc(32, 10).toString('base64'),
        lt: '63000000000003',
        prev_trans_lt: transaction.lt,
        prev_trans_hash: transaction.hash,
      };
      const pages = await readRows(odd, next);
      expect(pages.flatMap(({ transfers }) => transfers)).toMatchObject([{ txid: '0a'.repeat(32) }]);
      expect(pages.at(-1)?.proofs).toMatchObject([
        { address_key: KEY, chain: 'ton', read_through: null, failed: true, trouble: expect.any(String) },
      ]);
    },
  );

  it('of no account are an odd answer of the provider', async () => {
    await expect(read({ ...transaction, account: undefined })).rejects.toMatchObject({ kind: 'bad_answer' });
  });
});
