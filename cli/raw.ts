// Commands whose reply is no JSON: pages, images, texts.
import { writeFileSync } from 'node:fs';
import type { Endpoint, Media } from '../src/api/describe/endpoint.ts';
import type { Command } from './command.ts';
import { usage } from './errors.ts';
import { print, say } from './io.ts';
import { cleanLines } from './text.ts';
import { printObject } from './view.ts';

/** A command that calls `endpoint` and writes what it answers to stdout or a file. */
export function rawCommand(
  endpoint: Endpoint,
  { args, examples }: { args?: readonly string[]; examples: readonly string[] },
): Command {
  return {
    endpoints: [endpoint],
    input: endpoint,
    ...(args ? { args } : {}),
    flags: [
      {
        field: 'output',
        name: 'output',
        place: 'own',
        kind: 'text',
        value: 'path',
        help: 'write it to this file',
      },
    ],
    fields: ['content_type', 'text', 'base64'],
    examples,
    async run(context) {
      const { io, own } = context;
      const input = await context.input();
      if (context.flags.dry_run) return context.showRequest(endpoint, input);
      const reply = (await context.call(endpoint, input)) as string | Uint8Array;
      const { media } = endpoint.response as Media;
      if (typeof own.output === 'string') {
        writeFileSync(own.output, reply);
        say(io, `${media} in ${own.output}`);
      }
      if (io.json !== false) {
        const body =
          typeof reply === 'string' ? { text: reply } : { base64: Buffer.from(reply).toString('base64') };
        return printObject(io, { content_type: media, ...body });
      }
      if (typeof own.output === 'string') return;
      if (typeof reply === 'string') return print(io, io.stdout.isTTY ? cleanLines(reply) : reply);
      if (io.stdout.isTTY) throw usage('an image does not belong into a terminal', 'add --output FILE');
      io.stdout.write(reply);
    },
  };
}
