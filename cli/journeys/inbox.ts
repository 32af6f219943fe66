// `gw inbox`: all of the merchant's that waits for a person, in one queue, with what he may do.
import { listInbox } from '../../src/api/endpoints/invoices.ts';
import type { Command } from '../engine/command.ts';
import { say } from '../output/io.ts';
import { printReply } from '../output/view.ts';

const columns = ['kind', 'id', 'amount', 'currency', 'created_at', 'external_ref'];

export const command: Command = {
  endpoints: [listInbox],
  input: listInbox,
  examples: ['gw inbox', 'gw inbox --json kind,id,next'],
  async run(context) {
    const { io } = context;
    await context.input();
    const reply = await context.call(listInbox);
    if (io.json !== false || io.stdout.isTTY !== true)
      return printReply(io, reply, { list: 'data', columns: [...columns, 'about'] });
    const [{ printInbox }, { meantBy }] = await Promise.all([
      import('./parts/inbox.ts'),
      import('../output/payment-card.ts'),
    ]);
    printInbox(io, reply.data, columns, (item) => ({
      about: item.about,
      meant: meantBy(item),
      steps: item.next,
    }));
    if (reply.has_more) say(io, 'More of a kind wait: they move up when these are done');
  },
};
