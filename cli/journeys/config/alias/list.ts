// `gw config alias list`: a person's own names for command lines.
import type { Command } from '../../../engine/command.ts';
import { printReply } from '../../../output/view.ts';

export const command: Command = {
  endpoints: [],
  fields: ['name', 'command'],
  examples: ['gw config alias list', 'gw config alias list --json'],
  async run({ settings, io }) {
    const own = Object.entries((await settings()).store.aliases());
    const rows = own.map(([name, command]) => ({ name, command }));
    await printReply(io, rows, { columns: ['name', 'command'], empty: 'gw config alias set NAME COMMAND' });
  },
};
