// `gw admin observers`: what each observer has read; a live screen on a terminal.
import { listObservers } from '../../../src/api/endpoints/admin.ts';
import type { Command } from '../../engine/command.ts';
import { presented } from '../../output/columns.ts';
import { say } from '../../output/io.ts';
import { observerNotes } from '../../output/observer-notes.ts';
import { printReply } from '../../output/view.ts';
import { isLive, liveFlags, liveOf } from '../parts/live.ts';

const view = presented.listObservers ?? {};

export const command: Command = {
  endpoints: [listObservers],
  input: listObservers,
  flags: liveFlags,
  examples: [
    'gw admin observers',
    'gw admin observers --json blockchain,status,lag_seconds',
    'gw admin observers | cat',
  ],
  view,
  async run(context) {
    const { own } = await context.input();
    if (!isLive(context.io, own)) {
      const reply = await context.call(listObservers);
      await printReply(context.io, reply, view);
      if (context.io.json !== false) return;
      for (const line of observerNotes(reply, Math.floor(Date.now() / 1000))) say(context.io, line);
      return;
    }
    const { runCockpit } = await import('../../cockpit/cockpit.ts');
    await runCockpit(context, { who: 'operator', place: { view: 'observers' }, ...liveOf(own) });
  },
};
