// `gw config unset`: removes a setting from the profile.
import type { Command } from '../../engine/command.ts';
import { profileKeys } from '../../engine/profile.ts';
import { say } from '../../output/io.ts';
import { printObject } from '../../output/view.ts';
import { keyFlag } from '../parts/key-flag.ts';

export const command: Command = {
  endpoints: [],
  args: ['key'],
  flags: [keyFlag(profileKeys)],
  fields: ['key', 'profile'],
  examples: ['gw config unset api_key', 'gw config unset url --json'],
  async run(context) {
    const { own } = await context.input();
    const known = await context.settings();
    const key = String(own.key);
    await known.write({ [key]: undefined });
    say(context.io, `${key} has been removed from the profile ${known.profile.value}`);
    if (context.io.json !== false) printObject(context.io, { key, profile: known.profile.value });
  },
};
