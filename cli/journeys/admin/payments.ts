// `gw admin payments`: invoices and payments; on a terminal a screen to filter, open and resolve them.
import { getAdminPayment, listAdminPayments, resolvePayment } from '../../../src/api/endpoints/admin.ts';
import type { Command } from '../../engine/command.ts';
import { presented } from '../../output/columns.ts';
import { printReply } from '../../output/view.ts';
import { isLive, liveFlags, liveOf } from '../parts/live.ts';

const view = presented.listAdminPayments ?? {};

export const command: Command = {
  endpoints: [listAdminPayments, getAdminPayment, resolvePayment],
  input: listAdminPayments,
  flags: liveFlags,
  examples: [
    'gw admin payments --status created',
    'gw admin payments --status unmatched --json id,txid,candidates',
    'gw admin payments --readonly',
  ],
  view,
  async run(context) {
    const { input, own } = await context.input();
    if (!isLive(context.io, own))
      return printReply(context.io, await context.call(listAdminPayments, input), view);
    const { operatorScreen } = await import('../../screens/app.tsx');
    await operatorScreen(context, { initial: 'payments', query: input.query, ...liveOf(own) });
  },
};
