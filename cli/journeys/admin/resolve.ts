// `gw admin resolve`: puts an invoice right by hand, after showing what the chain has of the transaction that is named.

import type { CallReply } from '../../../src/api/client/call.ts';
import { getAdminPayment, lookUpTransaction, resolvePayment } from '../../../src/api/endpoints/admin.ts';
import type { Command, Context } from '../../engine/command.ts';
import { confirm } from '../../engine/derive.ts';
import { GwError } from '../../engine/errors.ts';
import { presented } from '../../output/columns.ts';
import { say } from '../../output/io.ts';
import { deep } from '../../output/money.ts';
import { clean } from '../../output/text.ts';
import { printReply } from '../../output/view.ts';

const view = presented.resolvePayment ?? {};

type Detail = CallReply<typeof resolvePayment>;
type Found = CallReply<typeof lookUpTransaction>;

/** What the chain has, for a person who is about to book it. */
export function describeFound(found: Found): string {
  const { currency, received_amount, amount, amount_match, source, booked_invoice_ids } = found;
  if (!found.found) return `the chain has no transaction ${found.txid} that paid the address of this invoice`;
  const depth = Math.min(...found.transfers.map(({ confirmations }) => confirmations));
  const paid = `paid ${received_amount} of ${amount} ${currency} (${amount_match}), ${deep(depth)}`;
  const origin = source === 'chain' ? 'on the chain' : 'as read before; the chain cannot be asked now';
  const booked = booked_invoice_ids.length > 0 ? `; already booked for ${booked_invoice_ids.join(', ')}` : '';
  return `${paid}, ${origin}${booked}`;
}

export const command: Command = {
  endpoints: [resolvePayment, lookUpTransaction, getAdminPayment],
  input: resolvePayment,
  args: ['invoice_id', 'action'],
  examples: [
    'gw admin resolve ID recheck',
    'gw admin resolve ID confirm --txid HASH',
    "gw admin resolve ID confirm --txid HASH --force --note 'seen on an explorer' --yes --json",
  ],
  view,
  async run(context) {
    const { input } = await context.input();
    const { params, body } = input;
    if (context.globals.isOn('dry-run')) return context.showRequest(resolvePayment, input);
    if (body.action === 'confirm') await prepare(context, String(params.invoice_id), body);
    await confirm(resolvePayment.confirm, context, input);
    const before = await context.call(getAdminPayment, { params });
    const reply = await context.call(resolvePayment, input);
    await printReply(context.io, reply, view);
    const nothing = sayUnchanged(before, reply, body);
    if (nothing !== undefined && context.io.json === false) say(context.io, clean(nothing));
  },
};

/** What a person must know where nothing was changed: the invoice stood there already, and what was named was not booked. */
export function sayUnchanged(
  { payment: before }: Detail,
  { payment: after }: Detail,
  { action, txid }: Record<string, unknown>,
): string | undefined {
  if (action === 'recheck' || before.status !== after.status) return undefined;
  const paid = after.txid === null ? '' : `, paid by ${after.txid}`;
  const dropped = txid && txid !== after.txid ? `; ${txid} was not booked for it` : '';
  return `Nothing was changed: the invoice was ${after.status} before${paid}${dropped}`;
}

/** Asks for what is missing of a confirmation where a person is there to answer, and shows what will be booked. */
async function prepare(context: Context, invoice_id: string, body: Record<string, unknown>): Promise<void> {
  const { io } = context;
  const { askText } = await import('../../engine/prompts.ts');
  if (io.prompts && !body.txid && !body.force)
    body.txid =
      (await askText('txid – the transaction that pays it; empty: what it has received', io)) || null;
  // A program reads the refusal itself: stderr is for its JSON alone.
  const is_program = io.json !== false;
  if (typeof body.txid !== 'string' || (is_program && !io.prompts)) return;
  const found = await lookUp(context, { invoice_id, txid: body.txid });
  if (!is_program) say(io, clean(typeof found === 'string' ? found : describeFound(found)));
  const is_known = typeof found !== 'string' && found.found;
  if (is_known || body.force || !io.prompts) return;
  const reason = await askText('why it is to be booked anyway; empty: do nothing', io);
  if (!reason) throw new GwError('general', 'nothing was done', { code: 'declined' });
  Object.assign(body, { force: true, note: reason });
}

/** What the transaction paid, or why that cannot be known. */
export const lookUp = (
  context: Pick<Context, 'call'>,
  params: { invoice_id: string; txid: string },
): Promise<Found | string> =>
  context.call(lookUpTransaction, { params }).catch((error: unknown) => {
    if (error instanceof GwError && error.details.code === 'provider_unavailable') return error.message;
    throw error;
  });
