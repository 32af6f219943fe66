// `gw event list`: what happened, for a person the newest first; with `--follow` as it happens.
import { listEvents } from '../../../src/api/endpoints/merchant.ts';
import type { Command } from '../../engine/command.ts';
import { pageFlags, printPages } from '../../engine/pages.ts';
import { presented } from '../../output/columns.ts';
import { print, printJsonLine, say } from '../../output/io.ts';
import { clean } from '../../output/text.ts';
import { pick } from '../../output/view.ts';
import { followEvents } from '../parts/events.ts';

const view = presented.listEvents ?? {};

export const command: Command = {
  endpoints: [listEvents],
  input: listEvents,
  flags: [
    ...pageFlags(listEvents, view),
    {
      field: 'follow',
      name: 'follow',
      place: 'own',
      kind: 'boolean',
      help: 'stay connected and print each event as it happens, one JSON object per line with --json',
    },
  ],
  examples: [
    'gw event list --since 1h',
    'gw event list --type invoice.confirmed',
    'gw events --after ID --json',
    'gw event list --follow --json',
  ],
  view,
  async run(context) {
    const { io, signal } = context;
    const { input, own } = await context.input();
    if (own.follow !== true) {
      // Where programs read, the order stays that of the interface.
      const isPerson = io.json === false && io.stdout.isTTY === true;
      const { order, after } = input.query;
      if (own.since !== undefined || (isPerson && after === undefined && order === undefined))
        input.query.order = 'newest';
      return printPages(context, listEvents, { input, own, view });
    }
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
