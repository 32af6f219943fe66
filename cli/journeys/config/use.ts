// `gw config use`: the profile that commands take by default.
import type { Command } from '../../engine/command.ts';
import { requireProfile } from '../../engine/profile.ts';
import { say } from '../../output/io.ts';
import { printObject } from '../../output/view.ts';

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
      help: 'which profile',
    },
  ],
  fields: ['profile'],
  examples: ['gw config use staging', 'gw config use default --json'],
  async run(context) {
    const { own } = await context.input();
    const name = String(own.name);
    const { store } = await context.settings();
    requireProfile(store, name, 'not_found');
    await store.use(name);
    say(context.io, `Now using the profile ${name}`);
    if (context.io.json !== false) printObject(context.io, { profile: name });
  },
};
