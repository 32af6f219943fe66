// `gw config unset`: forgets a setting of the profile.
import type { Command } from '../../command.ts';
import { say } from '../../io.ts';
import { profileKeys } from '../../profile.ts';
import { printObject } from '../../view.ts';

export const command: Command = {
  endpoints: [],
  args: ['key'],
  flags: [
    {
      field: 'key',
      name: 'key',
      place: 'own',
      kind: 'text',
      required: true,
      choices: profileKeys,
      help: 'which setting',
    },
  ],
  fields: ['key', 'profile'],
  examples: ['gw config unset api_key', 'gw config unset url --json'],
  async run(context) {
    await context.input();
    const known = await context.settings();
    const key = String(context.own.key);
    known.write({ [key]: undefined });
    say(context.io, `${key} is forgotten in the profile ${known.profile.value}`);
    if (context.io.json !== false) printObject(context.io, { key, profile: known.profile.value });
  },
};
