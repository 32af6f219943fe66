// `gw admin payments`: invoices and payments; on a terminal a screen to filter, open and resolve them.
import { getAdminPayment, listAdminPayments, resolvePayment } from '../../../src/api/endpoints/admin.ts';
import type { Command } from '../../engine/command.ts';
import { pageFlags, printPages } from '../../engine/pages.ts';
import { presented } from '../../output/columns.ts';
import { isLive, liveFlags, liveOf } from '../parts/live.ts';

const view = presented.listAdminPayments ?? {};

export const command: Command = {
  endpoints: [listAdminPayments, getAdminPayment, resolvePayment],
  input: listAdminPayments,
  flags: [...pageFlags(listAdminPayments, view), ...liveFlags],
  examples: [
    'gw admin payments --status created',
    'gw admin payments --search order-1001',
    'gw admin payments --status unmatched --json id,txid,candidates',
    'gw admin payments --readonly',
  ],
  view,
  async run(context) {
    const { input, own } = await context.input();
    const isList = own.all === true || own.search !== undefined || own.since !== undefined;
    if (isList || !isLive(context.io, own))
      return printPages(context, listAdminPayments, { input, own, view });
    const { runCockpit } = await import('../../cockpit/cockpit.ts');
    const place = { view: 'payments', query: input.query, choice: String(input.query.status ?? '') };
    await runCockpit(context, { who: 'operator', place, ...liveOf(own) });
  },
};
