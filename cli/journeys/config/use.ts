// `gw config use`: the profile that commands take by default.
import { nearest } from '../../../src/nearest.ts';
import type { Command } from '../../engine/command.ts';
import { GwError } from '../../engine/errors.ts';
import { DEFAULT_PROFILE } from '../../engine/profile.ts';
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
    const known = new Set([DEFAULT_PROFILE, ...store.names()]);
    if (!known.has(name))
      throw new GwError('not_found', `there is no profile ${name}; there are: ${[...known].join(', ')}`, {
        hint: `did you mean ${nearest(name, known)}? gw login --profile ${name} makes one`,
      });
    await store.use(name);
    say(context.io, `Now using the profile ${name}`);
    if (context.io.json !== false) printObject(context.io, { profile: name });
  },
};
