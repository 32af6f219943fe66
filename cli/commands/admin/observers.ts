// `gw admin observers`: what each observer has read; a live screen on a terminal.
import { listObservers } from '../../../src/api/endpoints/admin.ts';
import type { Command } from '../../command.ts';
import { say } from '../../io.ts';
import { isLive, liveFlags } from '../../live.ts';
import { observerNotes } from '../../observer-notes.ts';
import { printReply } from '../../view.ts';

const view = {
  columns: [
    'blockchain',
    'status',
    'provider',
    'tip_height',
    'cursor_height',
    'lag_seconds',
    'watched_addresses',
    'late_count',
    'unmatched_count',
    'contradictions',
    'last_error',
  ],
};

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
    await context.input();
    if (!isLive(context)) {
      const reply = await context.call(listObservers);
      printReply(context.io, reply, view);
      if (context.io.json !== false) return;
      for (const line of observerNotes(reply, Math.floor(Date.now() / 1000))) say(context.io, line);
      return;
    }
    const { observersScreen } = await import('../../screens/observers.tsx');
    await observersScreen(context);
  },
};
