// `gw config path`: the file of the profiles.
import type { Command } from '../../command.ts';
import { print, printJson } from '../../io.ts';

export const command: Command = {
  endpoints: [],
  about: 'Only its owner can read it (mode 0600). GW_CONFIG_DIR names another directory.',
  fields: ['path'],
  examples: ['gw config path', 'gw config path --json'],
  async run({ settings, io }) {
    const { path } = (await settings()).store;
    if (io.json !== false) printJson(io, { path });
    else print(io, path);
  },
};
