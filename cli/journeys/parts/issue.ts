// Making an invoice of either kind: the card and QR code for a person, then following it where wanted.
import type { createInvoice } from '../../../src/api/endpoints/invoices.ts';
import type { createRefill } from '../../../src/api/endpoints/merchant.ts';
import type { Context } from '../../engine/command.ts';
import type { Flag } from '../../engine/flag.ts';
import { say } from '../../output/io.ts';
import { printReply } from '../../output/view.ts';

export const issueFlags: readonly Flag[] = [
  {
    field: 'qr',
    name: 'qr',
    place: 'own',
    kind: 'boolean',
    help: 'draw the QR code (--no-qr to leave it out)',
  },
  { field: 'watch', name: 'watch', place: 'own', kind: 'boolean', help: 'follow it until it ends' },
];

export async function issue(
  endpoint: typeof createInvoice | typeof createRefill,
  context: Context,
): Promise<void> {
  const { io } = context;
  const { input, own } = await context.input();
  if (context.globals.isOn('dry-run')) return context.showRequest(endpoint, input);
  const invoice = await context.call(endpoint, input);
  if (own.watch === true) {
    const { watchInvoice } = await import('./watch.ts');
    return watchInvoice(context, invoice, own);
  }
  if (io.json !== false || !io.stdout.isTTY) return printReply(io, invoice);
  const { printInvoice } = await import('../../output/invoice-card.ts');
  await printInvoice(io, invoice, { qr: own.qr !== false });
  say(io, `Follow it: gw invoice watch ${invoice.id}`);
}
