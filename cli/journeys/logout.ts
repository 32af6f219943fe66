// `gw logout`: removes token and key from the profile.
import type { Command } from '../engine/command.ts';
import { say } from '../output/io.ts';
import { printObject } from '../output/view.ts';

export const command: Command = {
  endpoints: [],
  about: 'The token itself stays valid until it expires; gw password change revokes every token of the user.',
  fields: ['profile', 'url'],
  examples: ['gw logout', 'gw logout --profile staging --json'],
  async run({ settings, io }) {
    const { write, profile, url } = await settings().then((known) => ({
      write: known.write.bind(known),
      profile: known.profile.value,
      url: known.url,
    }));
    await write({ token: undefined, api_key: undefined });
    say(io, `Token and key have been removed from the profile ${profile}.`);
    if (io.json !== false) printObject(io, { profile, url });
  },
};
