// `gw config profiles`: the stored profiles.
import type { Command } from '../../engine/command.ts';
import { printReply } from '../../output/view.ts';

export const command: Command = {
  endpoints: [],
  fields: ['name', 'current', 'url', 'email'],
  examples: ['gw config profiles', 'gw config profiles --json name,current'],
  async run({ settings, io }) {
    const { store, profile } = await settings();
    const names = [...new Set([...store.names(), profile.value])];
    const rows = names.map((name) => {
      const { url, email } = store.read(name);
      return { name, current: name === profile.value, url: url ?? null, email: email ?? null };
    });
    await printReply(io, rows);
  },
};
