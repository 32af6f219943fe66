// `gw config get`: one setting in force.
import type { Command } from '../../engine/command.ts';
import { GwError } from '../../engine/errors.ts';
import { type ProfileKey, profileKeys } from '../../engine/profile.ts';
import { print } from '../../output/io.ts';
import { printObject } from '../../output/view.ts';
import { keyFlag } from '../parts/key-flag.ts';

export const command: Command = {
  endpoints: [],
  args: ['key'],
  flags: [
    keyFlag(['profile', ...profileKeys]),
    {
      field: 'show_origin',
      name: 'show-origin',
      place: 'own',
      kind: 'boolean',
      help: 'also show where it comes from',
    },
  ],
  about: 'Prints secrets in full: be careful where the output goes.',
  fields: ['key', 'value', 'origin'],
  examples: ['gw config get url --show-origin', 'gw config get url --json'],
  async run(context) {
    const { own } = await context.input();
    const { io } = context;
    const known = await context.settings();
    const key = String(own.key);
    const setting = key === 'profile' ? known.profile : known.get(key as ProfileKey);
    if (!setting) throw new GwError('not_found', `${key} is not set`, { hint: `gw config set ${key} VALUE` });
    if (io.json !== false) return printObject(io, { key, ...setting });
    print(io, own.show_origin === true ? `${setting.value} (${setting.origin})` : setting.value);
  },
};
