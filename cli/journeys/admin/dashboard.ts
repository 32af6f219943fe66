// `gw admin dashboard`: the figures of the deployment; on a terminal the operator's cockpit.
import { getAdminDashboard, listAdminEvents } from '../../../src/api/endpoints/admin.ts';
import { getFigures } from '../../../src/api/endpoints/merchant.ts';
import type { Command } from '../../engine/command.ts';
import { presented } from '../../output/columns.ts';
import { printReply } from '../../output/view.ts';
import { isLive, liveFlags, liveOf } from '../parts/live.ts';

const view = presented.getAdminDashboard ?? {};

export const command: Command = {
  endpoints: [getAdminDashboard, getFigures, listAdminEvents],
  input: getAdminDashboard,
  flags: liveFlags,
  examples: ['gw admin dashboard', 'gw admin dashboard --json attention', 'gw admin dashboard --once'],
  view,
  async run(context) {
    const { own } = await context.input();
    if (!isLive(context.io, own)) return printReply(context.io, await context.call(getAdminDashboard), view);
    const { runCockpit } = await import('../../cockpit/cockpit.ts');
    await runCockpit(context, { who: 'operator', place: { view: 'dashboard' }, ...liveOf(own) });
  },
};
