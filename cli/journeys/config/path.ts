// `gw config path`: the file of the profiles.
import type { Command } from '../../engine/command.ts';
import { print } from '../../output/io.ts';
import { printObject } from '../../output/view.ts';

export const command: Command = {
  endpoints: [],
  about:
    'Only its owner can read it (mode 0600). Keys and tokens are in the keyring of the system where there is one. GW_CONFIG_DIR names another directory.',
  fields: ['path'],
  examples: ['gw config path', 'gw config path --json'],
  async run({ settings, io }) {
    const { path } = (await settings()).store;
    if (io.json !== false) printObject(io, { path });
    else print(io, path);
  },
};
