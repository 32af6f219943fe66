// `gw inbox`: all of the merchant's that waits for a person, in one queue, with what he may do.
import { listInbox, remarkOwnPayment } from '../../src/api/endpoints/invoices.ts';
import type { Command } from '../engine/command.ts';
import { usage } from '../engine/errors.ts';
import { say } from '../output/io.ts';
import { printReply } from '../output/view.ts';

const columns = ['kind', 'id', 'amount', 'currency', 'created_at', 'external_ref'];

export const command: Command = {
  endpoints: [listInbox, remarkOwnPayment],
  input: listInbox,
  flags: [
    {
      field: 'work',
      name: 'work',
      place: 'own',
      kind: 'boolean',
      help: 'go through the payments one by one: d closes one without booking it, n notes, s skips',
    },
  ],
  examples: ['gw inbox', 'gw inbox --work', 'gw inbox --json kind,id,next'],
  async run(context) {
    const { io } = context;
    const { own } = await context.input();
    if (own.work === true && !io.prompts)
      throw usage('--work needs a terminal', 'gw inbox --json, then gw payment note');
    const reply = await context.call(listInbox);
    if (own.work === true) return (await import('./parts/own-inbox-work.ts')).workThroughOwn(context, reply);
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
