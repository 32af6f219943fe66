// `gw config use`: the profile that commands take unless told.
import type { Command } from '../../command.ts';
import { say } from '../../io.ts';
import { printObject } from '../../view.ts';

export const command: Command = {
  endpoints: [],
  args: ['name'],
  flags: [
    {
      field: 'name',
      name: 'name',
      place: 'own',
      kind: 'text',
      required: true,
      help: 'which profile; a new name begins one',
    },
  ],
  fields: ['profile'],
  examples: ['gw config use staging', 'gw config use default --json'],
  async run(context) {
    await context.input();
    const name = String(context.own.name);
    (await context.settings()).store.use(name);
    say(context.io, `The profile is ${name}`);
    if (context.io.json !== false) printObject(context.io, { profile: name });
  },
};
