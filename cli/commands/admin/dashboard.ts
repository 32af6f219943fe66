// `gw admin dashboard`: the figures of the deployment; a live screen on a terminal.
import { getAdminDashboard, listAdminMerchants } from '../../../src/api/endpoints/admin.ts';
import type { Command } from '../../command.ts';
import { isLive, liveFlags } from '../../live.ts';
import { printReply } from '../../view.ts';

const view = {
  list: 'none',
  columns: [
    'network',
    'version',
    'merchants',
    'units',
    'invoices.created',
    'invoices.confirmed',
    'invoices.expired',
    'invoices.cancelled',
    'invoices.failed',
    'volume_usd.day',
    'volume_usd.week',
    'volume_usd.month',
    'volume_usd.total',
    'fees_usd.total',
    'prepaid_usd',
    'attention.held',
    'attention.late',
    'attention.unmatched',
    'attention.orphaned',
    'attention.webhooks_failed',
    'attention.webhooks_unknown',
    'attention.contradictions',
    'attention.accounts_behind',
    'attention.unreadable_assets',
    'shared_addresses',
    'clock.message',
  ],
};

export const command: Command = {
  endpoints: [getAdminDashboard, listAdminMerchants],
  input: getAdminDashboard,
  flags: liveFlags,
  examples: ['gw admin dashboard', 'gw admin dashboard --json attention', 'gw admin dashboard --once'],
  view,
  async run(context) {
    await context.input();
    if (!isLive(context)) return printReply(context.io, await context.call(getAdminDashboard), view);
    const { dashboardScreen } = await import('../../screens/dashboard.tsx');
    await dashboardScreen(context);
  },
};
