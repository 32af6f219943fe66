// One payment with everything about it, and putting it right after its id was typed.
import { Box, Text } from 'ink';
import { useState } from 'react';
import { getAdminPayment, resolvePayment } from '../../src/api/admin.ts';
import type { CallReply } from '../../src/api/call.ts';
import type { Context } from '../command.ts';
import { clean } from '../text.ts';
import { relative, shortId } from '../view.ts';
import { type Size, useKeys, usePoll } from './hooks.ts';
import type { Payment } from './payment-rows.ts';
import { statusColor } from './table.tsx';

type Detail = CallReply<typeof getAdminPayment>;

const ACTIONS: Record<string, 'recheck' | 'confirm' | 'expire' | 'fail'> = {
  r: 'recheck',
  c: 'confirm',
  e: 'expire',
  f: 'fail',
};
const MAX_LOGS = 6;
const MAX_TRANSFERS = 4;

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

type Step =
  | { at: 'look' }
  | { at: 'choose' }
  | { at: 'type'; action: string; typed: string }
  | { at: 'busy'; action: string };

export function PaymentDetail(props: PaymentDetailProps) {
  const { context, id, size, refresh_ms, readonly, active, onTyping, onChanged, onBack } = props;
  const { data, error, again } = usePoll(
    () => context.call(getAdminPayment, { params: { invoice_id: id } }),
    refresh_ms,
  );
  const [step, setStep] = useState<Step>({ at: 'look' });
  const [outcome, setOutcome] = useState('');
  const go = (next: Step) => {
    setStep(next);
    onTyping(next.at === 'type' || next.at === 'choose');
  };
  const type = (change: (typed: string) => string) =>
    setStep((before) => (before.at === 'type' ? { ...before, typed: change(before.typed) } : before));
  const resolve = async (action: string) => {
    go({ at: 'busy', action });
    try {
      const reply = await context.call(resolvePayment, { params: { invoice_id: id }, body: { action } });
      setOutcome(`${action}: now ${reply.payment.status}`);
      onChanged(reply.payment);
      again();
    } catch (failure) {
      setOutcome(`${action} refused: ${(failure as Error).message}`);
    }
    go({ at: 'look' });
  };
  useKeys((input, key) => {
    if (step.at === 'busy') return;
    if (step.at === 'look') {
      if (key.escape || key.leftArrow) onBack();
      else if (input === 'r' && !readonly) go({ at: 'choose' });
    } else if (key.escape) go({ at: 'look' });
    else if (step.at === 'choose') {
      const action = ACTIONS[input];
      if (action === 'recheck') void resolve(action);
      else if (action) go({ at: 'type', action, typed: '' });
    } else if (key.backspace || key.delete) type((typed) => typed.slice(0, -1));
    else if (key.return) {
      if (step.typed === shortId(id)) void resolve(step.action);
      else setOutcome('that is not the id: nothing was done');
    } else type((typed) => typed + clean(input));
  }, active);
  return (
    <Box flexDirection="column" height={size.rows}>
      {data ? <Facts detail={data} /> : <Text color="red">{error === null ? 'loading' : clean(error)}</Text>}
      <Text> </Text>
      <Text bold wrap="truncate">
        {promptOf(step, id, readonly)}
      </Text>
      <Text color={outcome.includes('refused') ? 'red' : 'green'} wrap="truncate">
        {clean(outcome)}
      </Text>
    </Box>
  );
}

function promptOf(step: Step, id: string, readonly: boolean): string {
  if (step.at === 'choose') return 'resolve: r recheck   c confirm   e expire   f fail   esc leave it';
  if (step.at === 'busy') return `${step.action} …`;
  if (step.at === 'type') return `${step.action}: type ${shortId(id)} and enter: ${step.typed}█`;
  return readonly ? 'esc back' : 'r resolve   esc back';
}

function Facts({ detail }: { detail: Detail }) {
  const { payment, invoice, logs, transfers } = detail;
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
    ...logs
      .slice(-MAX_LOGS)
      .map((log): [string, string] => [
        'log',
        `${relative(log.created_at, now)}  ${log.from_status ?? '–'} → ${log.to_status}  ${log.actor}  ${log.note ?? ''}`,
      ]),
  ];
  return (
    <>
      <Text color={statusColor(payment.status) ?? ''} bold>
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
