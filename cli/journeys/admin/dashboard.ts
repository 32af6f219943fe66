// `gw admin dashboard`: the figures of the deployment; a live screen on a terminal.
import { getAdminDashboard, listAdminMerchants } from '../../../src/api/endpoints/admin.ts';
import type { Command } from '../../engine/command.ts';
import { presented } from '../../output/columns.ts';
import { printReply } from '../../output/view.ts';
import { isLive, liveFlags, liveOf } from '../parts/live.ts';

const view = presented.getAdminDashboard ?? {};

export const command: Command = {
  endpoints: [getAdminDashboard, listAdminMerchants],
  input: getAdminDashboard,
  flags: liveFlags,
  examples: ['gw admin dashboard', 'gw admin dashboard --json attention', 'gw admin dashboard --once'],
  view,
  async run(context) {
    const { own } = await context.input();
    if (!isLive(context.io, own)) return printReply(context.io, await context.call(getAdminDashboard), view);
    const { operatorScreen } = await import('../../screens/app.tsx');
    await operatorScreen(context, { initial: 'dashboard', ...liveOf(own) });
  },
};
