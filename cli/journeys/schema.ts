// `gw schema`: JSON Schema of what a command takes and answers.
import { z } from 'zod';
import { jsonSchema } from '../../src/api/describe/json-schema.ts';
import type { Command } from '../engine/command.ts';
import { describe } from '../engine/describe.ts';
import { GwError } from '../engine/errors.ts';
import { whole } from '../engine/facts.ts';
import { readLine } from '../engine/resolve.ts';
import { printObject } from '../output/view.ts';

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

export const command: Command = {
  endpoints: [],
  args: ['noun', 'verb'],
  flags: [
    {
      field: 'noun',
      name: 'noun',
      place: 'own',
      kind: 'text',
      required: true,
      help: 'first word of the command, or all of it in quotes',
    },
    { field: 'verb', name: 'verb', place: 'own', kind: 'text', help: 'its second word' },
  ],
  about: 'JSON Schema 2020-12: `input` is what --file takes, `output` what --json prints.',
  fields: ['command', 'summary', 'flags', 'input', 'output'],
  examples: ['gw schema invoice create', 'gw schema "unit list" --json output'],
  async run(context) {
    const { own } = await context.input();
    const { io, registry } = context;
    const words = [own.noun, own.verb].flatMap((word) => (word === undefined ? [] : String(word).split(' ')));
    const { entry } = readLine(words, registry);
    if (!entry) throw new GwError('not_found', `no command gw ${words.join(' ')}`, { hint: 'gw --help' });
    const found = await entry.load();
    const named = found.input ?? found.endpoints[0];
    const endpoint = named && (await whole(named));
    const schemaOf = (schema: unknown) =>
      schema instanceof z.ZodType ? { $schema: DIALECT, ...jsonSchema(schema) } : null;
    const reply = {
      ...describe(entry, found),
      input: schemaOf(endpoint?.body),
      output: schemaOf(endpoint?.response),
    };
    printObject(io, reply);
  },
};
