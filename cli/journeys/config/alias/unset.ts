// `gw config alias unset`: removes a person's own name for a command line.
import { nearest } from '../../../../src/nearest.ts';
import type { Command } from '../../../engine/command.ts';
import { GwError } from '../../../engine/errors.ts';
import { say } from '../../../output/io.ts';
import { printObject } from '../../../output/view.ts';

export const command: Command = {
  endpoints: [],
  args: ['name'],
  flags: [{ field: 'name', name: 'name', place: 'own', kind: 'text', required: true, help: 'which alias' }],
  fields: ['name'],
  examples: ['gw config alias unset paid', 'gw config alias unset paid --json'],
  async run(context) {
    const { own } = await context.input();
    const name = String(own.name);
    const { store } = await context.settings();
    const known = Object.keys(store.aliases());
    if (!known.includes(name))
      throw new GwError('not_found', `there is no alias ${name}`, {
        hint: known.length > 0 ? `did you mean ${nearest(name, known)}?` : 'gw config alias list',
      });
    await store.setAlias(name, undefined);
    say(context.io, `The alias ${name} has been removed`);
    if (context.io.json !== false) printObject(context.io, { name });
  },
};
