// `gw dashboard`: sales by day and invoices by status; on a terminal the cockpit of an account.
import { listInbox } from '../../src/api/endpoints/invoices.ts';
import { getFigures, listEvents } from '../../src/api/endpoints/merchant.ts';
import type { Command } from '../engine/command.ts';
import { presented } from '../output/columns.ts';
import { printReply } from '../output/view.ts';
import { isLive, liveFlags, liveOf } from './parts/live.ts';

const view = presented.getFigures ?? {};

export const command: Command = {
  endpoints: [getFigures, listInbox, listEvents],
  input: getFigures,
  flags: liveFlags,
  about:
    'On a terminal a screen of your account: figures with their trend, what happens now, and behind `:` your payments, inbox, units, webhooks, events, ledger and gateways. `?` lists the keys. A merchant key is enough for figures, payments, inbox and ledger. Operators see the deployment with `gw admin dashboard`.',
  examples: ['gw dashboard', 'gw dashboard --json days', 'gw dashboard --readonly'],
  view,
  async run(context) {
    const { input, own } = await context.input();
    if (!isLive(context.io, own)) return printReply(context.io, await context.call(getFigures, input), view);
    const { runCockpit } = await import('../cockpit/cockpit.ts');
    await runCockpit(context, { who: 'merchant', place: { view: 'dashboard' }, ...liveOf(own) });
  },
};
