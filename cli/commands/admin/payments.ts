// `gw admin payments`: invoices and payments; on a terminal a screen to filter, open and resolve them.
import { getAdminPayment, listAdminPayments, resolvePayment } from '../../../src/api/endpoints/admin.ts';
import type { Command } from '../../command.ts';
import { isLive, liveFlags } from '../../live.ts';
import { printReply } from '../../view.ts';

const view = {
  columns: [
    'id',
    'status',
    'payment_status',
    'chain',
    'amount',
    'amount_usd',
    'owner_slug',
    'external_ref',
    'created_at',
  ],
};

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
    const input = await context.input();
    if (!isLive(context)) return printReply(context.io, await context.call(listAdminPayments, input), view);
    const { paymentsScreen } = await import('../../screens/payments.tsx');
    await paymentsScreen(context, input.query);
  },
};
