// Commands that take a reference to anything: without one they say what it can be, by the name that their help has for it.
import type { Command } from '../../engine/command.ts';
import { GwError } from '../../engine/errors.ts';

const WHAT = 'an id or its last eight characters, an order, a memo, a transaction or an address';

export const needsReference = (command: Command): Command => ({
  ...command,
  async run(context) {
    try {
      await command.run(context);
    } catch (error) {
      if (!(error instanceof GwError) || error.details.code !== 'missing_input') throw error;
      throw new GwError('usage', `missing: REFERENCE – ${WHAT}`, {
        ...error.details,
        hint: command.examples.slice(0, 2).join(', or '),
      });
    }
  },
});
