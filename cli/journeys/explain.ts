// `gw explain`: the story of anything; ends with 3 where nothing is named by it.
import { explain } from '../../src/api/endpoints/invoices.ts';
import type { Command } from '../engine/command.ts';
import { derive } from '../engine/derive.ts';
import { exits } from '../engine/errors.ts';
import type { Explanation } from '../output/explain-card.ts';
import { needsReference } from './parts/reference.ts';

export const command: Command = needsReference(
  derive(explain, {
    after({ matches }: Explanation) {
      if (matches.length === 0) process.exitCode = exits.not_found.code;
    },
  }),
);
