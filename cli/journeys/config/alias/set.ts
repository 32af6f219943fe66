// `gw config alias set`: a person's own name for a command line.
import type { Command } from '../../../engine/command.ts';
import { checkAlias } from '../../../engine/own-aliases.ts';
import { say } from '../../../output/io.ts';
import { clean } from '../../../output/text.ts';
import { printObject } from '../../../output/view.ts';

export const command: Command = {
  endpoints: [],
  args: ['name', 'command'],
  flags: [
    { field: 'name', name: 'name', place: 'own', kind: 'text', required: true, help: 'the new name' },
    {
      field: 'command',
      name: 'command',
      place: 'own',
      kind: 'text',
      required: true,
      help: 'what it stands for, as one word: $1 to $9 take what follows the name, the rest is appended',
    },
  ],
  about:
    'The name of a command cannot be taken. An alias is stored for all profiles of this user, and completes once the script of `gw completion` is loaded again.',
  fields: ['name', 'command'],
  examples: [
    "gw config alias set paid 'invoice list --status confirmed'",
    "gw config alias set of 'admin payments --owner-id $1 --status late'",
    "gw config alias set today 'event list --since 1d' --json",
  ],
  async run(context) {
    const { own } = await context.input();
    const [name, line] = [String(own.name), String(own.command).trim()];
    checkAlias(name, line, context.registry);
    await (await context.settings()).store.setAlias(name, line);
    say(context.io, clean(`gw ${name} is now: gw ${line}`));
    if (context.io.json !== false) printObject(context.io, { name, command: line });
  },
};
