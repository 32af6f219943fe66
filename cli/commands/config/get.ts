// `gw config get`: one setting in force.
import type { Command } from '../../command.ts';
import { GwError } from '../../errors.ts';
import { print } from '../../io.ts';
import { type ProfileKey, profileKeys } from '../../profile.ts';
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
      choices: ['profile', ...profileKeys],
      help: 'which setting',
    },
    {
      field: 'show_origin',
      name: 'show-origin',
      place: 'own',
      kind: 'boolean',
      help: 'with where it is from',
    },
  ],
  about: 'Prints secrets as they are: mind where it goes.',
  fields: ['key', 'value', 'origin'],
  examples: ['gw config get url --show-origin', 'gw config get url --json'],
  async run(context) {
    await context.input();
    const { io, own } = context;
    const known = await context.settings();
    const key = String(own.key);
    const setting = key === 'profile' ? known.profile : known.get(key as ProfileKey);
    if (!setting) throw new GwError('not_found', `${key} is not set`, { hint: `gw config set ${key} VALUE` });
    if (io.json !== false) return printObject(io, { key, ...setting });
    print(io, own.show_origin === true ? `${setting.value} (${setting.origin})` : setting.value);
  },
};
