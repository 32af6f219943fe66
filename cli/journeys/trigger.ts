// `gw trigger`: makes something happen in the sandbox of `gw dev`, and waits until the daemon has reported it.
import { sandbox } from '../../src/chains/sandbox.ts';
import type { Command, Context } from '../engine/command.ts';
import { type Details, GwError, type Kind, usage } from '../engine/errors.ts';
import { type Io, paint, print, say } from '../output/io.ts';
import { coins } from '../output/money.ts';
import { showWaiting } from '../output/progress.ts';
import { statusColor } from '../output/status.ts';
import { clean } from '../output/text.ts';
import { shortId } from '../output/value.ts';
import { printObject, printReply } from '../output/view.ts';
import { writeFixture } from '../sandbox/fixture.ts';
import { type TriggerKind, triggerKinds } from '../sandbox/kinds.ts';
import { notRunning, profileName, sandboxUrl } from '../sandbox/profile.ts';
import type { Made } from '../sandbox/sandbox.ts';
import type { Outcome } from '../sandbox/scenarios.ts';

const kinds = Object.keys(triggerKinds);

export const command: Command = {
  endpoints: [],
  args: ['kind'],
  flags: [
    {
      field: 'kind',
      name: 'kind',
      place: 'own',
      kind: 'text',
      choices: kinds,
      help: 'what to make happen; --list says what each is',
    },
    {
      field: 'invoice_id',
      name: 'invoice-id',
      place: 'own',
      kind: 'text',
      value: 'id',
      help: 'an invoice of the sandbox; a new one by default',
    },
    {
      field: 'amount_usd',
      name: 'amount-usd',
      place: 'own',
      kind: 'text',
      value: 'usd',
      help: 'what a new invoice asks (default: 5.00)',
    },
    {
      field: 'record',
      name: 'record',
      place: 'own',
      kind: 'text',
      value: 'dir',
      help: 'write requests, events and webhooks to DIR/KIND.json, for tests; gw listen --replay posts them again',
    },
    { field: 'list', name: 'list', place: 'own', kind: 'boolean', help: 'list the kinds and exit' },
  ],
  about:
    'Needs `gw dev`, which may run without a terminal: `gw dev --json &`. Payments are made on the chain of the sandbox; reading, matching, settlement and webhooks are those of every deployment. Ends when the daemon has reported what happened, with the invoice, the transactions and the events.',
  fields: ['kind', 'invoice', 'txids', 'events', 'recorded'],
  examples: [
    'gw trigger payment.late',
    'gw trigger --list',
    'gw trigger payment.late --record fixtures',
    'gw trigger payment.over --amount-usd 12.50 --json',
  ],
  async run(context) {
    const { own } = await context.input();
    const { io } = context;
    if (own.list === true) {
      const data = Object.entries(triggerKinds).map(([kind, about]) => ({ kind, about }));
      return printReply(io, { data }, { columns: ['kind', 'about'] });
    }
    if (own.kind === undefined) throw usage('which kind?', 'gw trigger --list');
    const { fixture, ...outcome } = await ask(context, own);
    const recorded = fixture && writeFixture(String(own.record), fixture);
    if (io.json !== false) return printObject(io, { ...outcome, ...(recorded ? { recorded } : {}) });
    printOutcome(io, outcome);
    if (recorded) say(io, `recorded in ${recorded}`);
  },
};

async function ask(
  context: Context,
  { kind, invoice_id, amount_usd, record }: Record<string, unknown>,
): Promise<Made> {
  const { io, signal } = context;
  const url = await sandboxUrl(context);
  const hasCome = showWaiting(io, `waiting for ${String(kind)}: ${triggerKinds[kind as TriggerKind]}`);
  try {
    const body = JSON.stringify({ kind, invoice_id, amount_usd, record: record !== undefined });
    const response = await fetch(url, { method: 'POST', body, signal });
    const reply = (await response.json().catch(() => ({}))) as Record<string, unknown>;
    if (response.ok) return reply as unknown as Made;
    throw refusal(reply as Partial<Refused>, await profileName(context));
  } catch (error) {
    throw error instanceof GwError ? error : await notRunning(context);
  } finally {
    hasCome();
  }
}

/** What the sandbox answers in place of an outcome. */
interface Refused extends Pick<Details, 'code' | 'hint'> {
  kind: Kind;
  message: string;
  /** Of a payment that came otherwise: held by the limit, or late. */
  extra: { invoice?: NonNullable<Outcome['invoice']>; txids?: string[]; missing_usd?: string };
}

function refusal(
  { kind = 'general', message = 'the sandbox failed', ...rest }: Partial<Refused>,
  name: string,
) {
  const { invoice, missing_usd } = rest.extra ?? {};
  const of = invoice && shortId(invoice.id);
  const next =
    of && missing_usd !== undefined
      ? `gw --profile ${name} refill create --chain ${sandbox.usual} --amount ${missing_usd}, then gw trigger invoice.confirmed --invoice-id ID of that`
      : of && `gw --profile ${name} explain ${of}`;
  return new GwError(kind, of ? `${of}: ${message}` : message, { ...rest, hint: rest.hint ?? next });
}

function printOutcome(io: Io, { kind, invoice, txids, events }: Outcome): void {
  const line = (label: string, text: string) =>
    print(io, `${paint(io, 'dim', label.padEnd(9))}${clean(text)}`);
  print(io, paint(io, 'bold', kind));
  if (invoice) {
    const { id, status, amount, currency, amount_match } = invoice;
    const color = statusColor(status) ?? 'bold';
    print(
      io,
      `${paint(io, 'dim', 'invoice  ')}${shortId(id)}  ${paint(io, color, status)}  ${coins(amount, currency)}  ${amount_match}`,
    );
  }
  for (const txid of txids) line('txid', txid);
  line('events', events.map(({ type }) => type).join(', '));
}
