// `gw event list`: what happened, oldest first; with `--follow` as it happens.
import { listEvents } from '../../../src/api/endpoints/merchant.ts';
import type { Command } from '../../command.ts';
import { followEvents } from '../../events.ts';
import { print, printJsonLine, say } from '../../io.ts';
import { clean } from '../../text.ts';
import { pick, printReply } from '../../view.ts';

const view = { columns: ['id', 'type', 'timestamp', 'data.invoice.id', 'data.invoice.status'] };

export const command: Command = {
  endpoints: [listEvents],
  input: listEvents,
  flags: [
    {
      field: 'follow',
      name: 'follow',
      place: 'own',
      kind: 'boolean',
      help: 'stay and print each event as it happens, one JSON object per line with --json',
    },
  ],
  examples: [
    'gw event list --type invoice.confirmed',
    'gw events --after ID --json',
    'gw event list --follow --json',
  ],
  view,
  async run(context) {
    const { io, own, signal } = context;
    const input = await context.input();
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
