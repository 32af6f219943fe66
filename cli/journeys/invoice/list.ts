// `gw invoice list`: your invoices, newest first.
import type { CallReply } from '../../../src/api/client/call.ts';
import { listInvoices } from '../../../src/api/endpoints/invoices.ts';
import type { Command, Context, Input } from '../../engine/command.ts';
import { presented } from '../../output/columns.ts';
import { printReply } from '../../output/view.ts';

/** The largest page the service gives, and how many of them `--all` reads. */
const PAGE = 200;
const MAX_PAGES = 5000;
const view = presented.listInvoices ?? {};

type Page = CallReply<typeof listInvoices>;

export const command: Command = {
  endpoints: [listInvoices],
  input: listInvoices,
  flags: [
    { field: 'all', name: 'all', place: 'own', kind: 'boolean', help: 'all pages, not only the first' },
  ],
  examples: [
    'gw invoice list --status created',
    'gw invoices --all --json id,status,amount',
    'gw invoice list --external-ref order-1001 --json',
  ],
  view,
  async run(context) {
    const { input, own } = await context.input();
    if (own.all !== true) return printReply(context.io, await context.call(listInvoices, input), view);
    await printAll(context, input);
  },
};

/** Rows appear page by page; as JSON all of them are one reply. */
async function printAll(context: Context, input: Input): Promise<void> {
  const { io } = context;
  const data: Page['data'] = [];
  let after = input.query.after;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const reply: Page = await context.call(listInvoices, { query: { ...input.query, limit: PAGE, after } });
    if (io.json === false) await printReply(io, reply, view);
    else data.push(...reply.data);
    after = reply.next ?? undefined;
    if (!reply.has_more) break;
  }
  if (io.json !== false) await printReply(io, { data, has_more: false, next: null }, view);
}
