// An indexer of TON on loopback that knows the payments that a test makes.
import { beginCell } from '@ton/core';
import type { InvoiceRow } from '../../data/schema/tables.ts';
import { json, serve } from './local-server.ts';
import { createToncenter, queryOf } from './toncenter.ts';

/** Unix seconds at which its chain begins. */
export const INDEXED_FROM = 1_800_000_000;

/** An indexer of TON that knows these payments; `beforeTip` runs while it is asked for the tip. */
export async function serveTon() {
  const toncenter = createToncenter(() => ({ seqno: indexer.now - INDEXED_FROM + 100, now: indexer.now }));
  const indexer = { url: '', now: INDEXED_FROM, asked: 0, pay, beforeTip: async () => {} };
  function pay(invoice: InvoiceRow, comment = invoice.memo ?? '') {
    const body = beginCell().storeUint(0, 32).storeStringTail(comment).endCell().toBoc();
    toncenter.add({
      account: invoice.address_key,
      now: indexer.now,
      mc_block_seqno: indexer.now - INDEXED_FROM + 100,
      description: { aborted: false, compute_ph: { success: true } },
      in_msg: {
        source: `0:${'7'.repeat(64)}`,
        value: invoice.amount_atomic,
        bounced: false,
        message_content: { body: body.toString('base64') },
      },
    });
  }
  const { url } = await serve(({ path }, response) => {
    indexer.asked++;
    const asked = new URL(path, 'http://localhost');
    const answer = () => json(response, toncenter.answer(asked.pathname, queryOf(asked)) ?? 'not found');
    if (asked.pathname !== '/masterchainInfo') answer();
    else indexer.beforeTip().then(answer, (error) => json(response, String(error), 502));
  });
  indexer.url = url;
  return indexer;
}

export type Indexer = Awaited<ReturnType<typeof serveTon>>;
