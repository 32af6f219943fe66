// One payment with everything about it, and putting it right after its id was typed.
import { Box, Text } from 'ink';
import { useState } from 'react';
import type { CallReply } from '../../src/api/client/call.ts';
import { getAdminPayment, resolvePayment } from '../../src/api/endpoints/admin.ts';
import type { Context } from '../engine/command.ts';
import { GwError } from '../engine/errors.ts';
import { describeFound, lookUp } from '../journeys/admin/resolve.ts';
import { screenColor } from '../output/status.ts';
import { clean } from '../output/text.ts';
import { relative, shortId } from '../output/value.ts';
import { type Size, useKeys, usePoll } from './hooks.ts';
import type { Payment } from './payment-rows.ts';

type Detail = CallReply<typeof getAdminPayment>;

const ACTIONS: Record<string, 'recheck' | 'confirm' | 'expire' | 'fail'> = {
  r: 'recheck',
  c: 'confirm',
  e: 'expire',
  f: 'fail',
};
const MAX_LOGS = 6;
const MAX_TRANSFERS = 4;
const MAX_CANDIDATES = 4;

export interface PaymentDetailProps {
  context: Context;
  id: string;
  size: Size;
  refresh_ms: number;
  readonly: boolean;
  active: boolean;
  onTyping(typing: boolean): void;
  onChanged(row: Payment): void;
  onBack(): void;
}

type DialogStep =
  | { at: 'view' }
  | { at: 'choose' }
  | { at: 'txid'; typed: string }
  /** Why it is booked though the chain does not have it. */
  | { at: 'reason'; txid: string; typed: string }
  | { at: 'type'; action: string; txid: string; reason: string; typed: string }
  | { at: 'busy'; action: string };

export function PaymentDetail(props: PaymentDetailProps) {
  const { context, id, size, refresh_ms, readonly, active, onTyping, onChanged, onBack } = props;
  const { data, error, again } = usePoll(
    () => context.call(getAdminPayment, { params: { invoice_id: id } }),
    refresh_ms,
  );
  const [step, setStep] = useState<DialogStep>({ at: 'view' });
  const [outcome, setOutcome] = useState('');
  const go = (next: DialogStep) => {
    setStep(next);
    onTyping(next.at !== 'view' && next.at !== 'busy');
  };
  const type = (change: (typed: string) => string) =>
    setStep((before) => ('typed' in before ? { ...before, typed: change(before.typed) } : before));
  /** Shows what the chain has of it; what it does not have needs a reason. */
  const lookUpTyped = async (txid: string) => {
    const next = { at: 'type', action: 'confirm', txid, reason: '', typed: '' } as const;
    if (txid === '') return go(next);
    go({ at: 'busy', action: 'looking up the transaction' });
    try {
      const found = await lookUp(context, { invoice_id: id, txid });
      setOutcome(typeof found === 'string' ? found : describeFound(found));
      const is_known = typeof found !== 'string' && found.found;
      go(is_known ? next : { at: 'reason', txid, typed: '' });
    } catch (failure) {
      setOutcome(`confirm refused: ${(failure as Error).message}`);
      go({ at: 'view' });
    }
  };
  const resolve = async (action: string, txid = '', reason = '') => {
    go({ at: 'busy', action });
    try {
      const body = {
        action,
        ...(txid === '' ? {} : { txid }),
        ...(reason === '' ? {} : { force: true, note: reason }),
      };
      const reply = await context.call(resolvePayment, { params: { invoice_id: id }, body });
      setOutcome(`${action}: now ${reply.payment.status}`);
      onChanged(reply.payment);
      again();
    } catch (failure) {
      setOutcome(`${action} refused: ${(failure as Error).message}`);
      // Nothing came, or the chain has lost it: booking needs a reason then.
      if (isUnknown(failure) && reason === '') return go({ at: 'reason', txid, typed: '' });
    }
    go({ at: 'view' });
  };
  useKeys((input, key) => {
    if (step.at === 'busy') return;
    if (step.at === 'view') {
      if (key.escape || key.leftArrow) onBack();
      else if (input === 'r' && !readonly && data) go({ at: 'choose' });
    } else if (key.escape) go({ at: 'view' });
    else if (step.at === 'choose') {
      const action = ACTIONS[input];
      if (action === 'recheck') void resolve(action);
      // A payment without invoice is booked for the invoice that it pays.
      else if (!action || !data?.invoice) return;
      else if (action === 'confirm') go({ at: 'txid', typed: paidBy(data) });
      else go({ at: 'type', action, txid: '', reason: '', typed: '' });
    } else if (key.backspace || key.delete) type((typed) => typed.slice(0, -1));
    else if (key.return && step.at === 'txid') void lookUpTyped(step.typed.trim());
    else if (key.return && step.at === 'reason') {
      const reason = step.typed.trim();
      if (reason !== '') go({ at: 'type', action: 'confirm', txid: step.txid, reason, typed: '' });
    } else if (key.return && step.at === 'type') {
      if (step.typed === shortId(id)) void resolve(step.action, step.txid, step.reason);
      else setOutcome('that is not the id; nothing was done');
    } else type((typed) => typed + clean(input));
  }, active);
  const failing = error === null ? '' : `! ${error}; trying again`;
  return (
    <Box flexDirection="column" height={size.rows}>
      {/* Where room is short the facts are cut, never the question. */}
      <Box flexDirection="column" overflow="hidden">
        <Box flexDirection="column" flexShrink={0}>
          {data ? <Facts detail={data} /> : <Text>loading</Text>}
        </Box>
      </Box>
      <Box flexDirection="column" flexShrink={0} paddingTop={1}>
        <Text bold wrap="truncate">
          {promptOf(step, id, data, readonly)}
        </Text>
        <Text color={failing || outcome.includes('refused') ? 'red' : 'green'} wrap="truncate">
          {clean(failing || outcome)}
        </Text>
      </Box>
    </Box>
  );
}

const isUnknown = (failure: unknown): boolean =>
  failure instanceof GwError && failure.details.code === 'transaction_unknown';

/** The transaction that was seen for the invoice and may be what pays it. */
const paidBy = ({ payment, payments }: Detail): string =>
  payment.txid ?? payments.find(({ txid }) => txid !== null)?.txid ?? '';

function promptOf(step: DialogStep, id: string, data: Detail | undefined, readonly: boolean): string {
  if (step.at === 'choose' && data && !data.invoice)
    return 'resolve: r recheck   to book it: confirm its invoice with this txid   esc leave it';
  if (step.at === 'choose') return 'resolve: r recheck   c confirm   e expire   f fail   esc leave it';
  if (step.at === 'busy') return `${step.action} …`;
  if (step.at === 'txid') return `confirm: txid that pays it, empty for none, then enter: ${step.typed}█`;
  if (step.at === 'reason') return `confirm: why it is to be booked anyway, then enter: ${step.typed}█`;
  if (step.at === 'type') return `${step.action}: type ${shortId(id)}, then enter: ${step.typed}█`;
  return readonly || !data ? 'esc back' : 'r resolve   esc back';
}

function Facts({ detail }: { detail: Detail }) {
  const { payment, invoice, logs, transfers, candidates } = detail;
  const now = Math.floor(Date.now() / 1000);
  const lines: [string, string][] = [
    ['id', payment.id],
    [
      'merchant',
      `${payment.owner_slug ?? 'platform'}   ${payment.kind ?? 'no invoice'}   ${payment.external_ref ?? ''}`,
    ],
    [
      'amount',
      `${payment.amount ?? '–'} ${payment.currency} (${payment.chain})   ${payment.amount_usd ?? '–'} USD`,
    ],
    [
      'received',
      `${payment.received_amount ?? 'nothing'}   ${payment.amount_match}   ${payment.confirmations} confirmations`,
    ],
    ['address', invoice?.address ?? '–'],
    ['memo', invoice?.memo ?? '–'],
    ['txid', payment.txid ?? '–'],
    [
      'times',
      `created ${relative(payment.created_at, now)}${payment.expires_at === null ? '' : `, expires ${relative(payment.expires_at, now)}`}`,
    ],
    ...transfers
      .slice(0, MAX_TRANSFERS)
      .map((transfer): [string, string] => [
        'transfer',
        `${transfer.amount} ${transfer.state} ${transfer.disposition} ${transfer.memo ?? ''} ${transfer.txid}`,
      ]),
    ...candidates
      .slice(0, MAX_CANDIDATES)
      .map((open): [string, string] => [
        'could pay',
        `${open.id}  ${open.amount} ${open.currency}  ${open.external_ref ?? ''}`,
      ]),
    ...logs
      .slice(-MAX_LOGS)
      .map((log): [string, string] => [
        'log',
        `${relative(log.created_at, now)}  ${log.from_status ?? '–'} → ${log.to_status}  ${log.actor}  ${log.note ?? ''}`,
      ]),
  ];
  return (
    <>
      <Text color={screenColor(payment.status) ?? ''} bold>
        {payment.status}
        {payment.payment_status === null ? '' : ` (payment ${payment.payment_status})`}
      </Text>
      {lines.map(([label, text], index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: several lines have the same label
        <Text key={index} wrap="truncate">
          <Text dimColor>{label.padEnd(10)}</Text>
          {clean(text)}
        </Text>
      ))}
    </>
  );
}
