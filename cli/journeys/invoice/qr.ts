// `gw invoice qr`: the QR code of an invoice.
import { getPublicInvoice } from '../../../src/api/endpoints/buyer.ts';
import type { Command } from '../../engine/command.ts';
import { codeNote } from '../../output/invoice-card.ts';
import { print, printJson, say } from '../../output/io.ts';
import { qrLines, tint } from '../../output/qr.ts';
import { clean } from '../../output/text.ts';
import { pick } from '../../output/view.ts';

export const command: Command = {
  endpoints: [getPublicInvoice],
  input: getPublicInvoice,
  args: ['invoice_id'],
  flags: [
    {
      field: 'page',
      name: 'page',
      place: 'own',
      kind: 'boolean',
      help: 'encode the address of the checkout page instead of the payment',
    },
  ],
  about:
    'Encodes qr_payload: a wallet that scans it has address, amount and memo filled in, or the address alone where that is all it holds.',
  examples: ['gw invoice qr ID', 'gw invoice qr ID --page', 'gw invoice qr ID --json qr_payload'],
  async run(context) {
    const { io } = context;
    const { input, own } = await context.input();
    const invoice = await context.call(getPublicInvoice, input);
    if (io.json !== false) return printJson(io, io.json === true ? invoice : pick(invoice, io.json));
    const payload = own.page === true ? invoice.pay_url : invoice.qr_payload;
    for (const line of await qrLines(payload)) print(io, tint(io, line));
    say(io, clean(payload));
    const note = own.page === true ? null : codeNote(invoice);
    if (note !== null) say(io, clean(note));
  },
};
