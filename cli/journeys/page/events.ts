// `gw page events`: the status of an invoice as its page follows it, one JSON object per line.
import { requestOf } from '../../../src/api/client/call.ts';
import { payEvents } from '../../../src/api/endpoints/checkout.ts';
import type { Command } from '../../engine/command.ts';
import { printJsonLine } from '../../output/io.ts';
import { pick } from '../../output/view.ts';
import { openStream } from '../parts/events.ts';

export const command: Command = {
  endpoints: [payEvents],
  input: payEvents,
  args: ['invoice_id'],
  fields: [
    'invoice_id',
    'status',
    'payment_status',
    'amount_match',
    'received_amount',
    'confirmations',
    'min_confirmations',
    'txid',
    'expires_at',
    'version',
    'now',
  ],
  examples: ['gw page events ID', 'gw page events ID --json status,confirmations'],
  stream: true,
  async run(context) {
    const { io, signal } = context;
    const { input } = await context.input();
    const base_url = (await context.settings()).url;
    const { url, headers } = requestOf({ base_url }, payEvents, input);
    for await (const data of openStream(context, { url, headers, base_url, signal })) {
      if (data === null) continue;
      const message: unknown = JSON.parse(data);
      printJsonLine(io, Array.isArray(io.json) ? pick(message, io.json) : message);
    }
  },
};
