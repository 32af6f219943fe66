// `gw event list`: what happened, oldest first; with `--follow` as it happens.
import { listEvents } from '../../../src/api/endpoints/merchant.ts';
import type { Command } from '../../engine/command.ts';
import { presented } from '../../output/columns.ts';
import { print, printJsonLine, say } from '../../output/io.ts';
import { clean } from '../../output/text.ts';
import { pick, printReply } from '../../output/view.ts';
import { followEvents } from '../parts/events.ts';

const view = presented.listEvents ?? {};

export const command: Command = {
  endpoints: [listEvents],
  input: listEvents,
  flags: [
    {
      field: 'follow',
      name: 'follow',
      place: 'own',
      kind: 'boolean',
      help: 'stay connected and print each event as it happens, one JSON object per line with --json',
    },
  ],
  examples: [
    'gw event list --type invoice.confirmed',
    'gw events --after ID --json',
    'gw event list --follow --json',
  ],
  view,
  async run(context) {
    const { io, signal } = context;
    const { input, own } = await context.input();
    if (own.follow !== true) return printReply(io, await context.call(listEvents, input), view);
    const { after, type } = input.query as { after?: string; type?: string };
    const onOpen = () => say(io, 'following; Ctrl-C ends');
    for await (const event of followEvents(context, { after, type, signal, onOpen })) {
      if (io.json !== false) printJsonLine(io, io.json === true ? event : pick(event, io.json));
      else
        print(
          io,
          [event.timestamp, event.type, event.id, event.data.invoice?.id ?? ''].map(clean).join('\t'),
        );
    }
  },
};
