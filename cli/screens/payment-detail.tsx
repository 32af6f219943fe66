// One payment with everything about it, and putting it right after an id was typed.
import { Box, type Key, Text } from 'ink';
import { useEffect, useState } from 'react';
import { getAdminPayment, resolvePayment } from '../../src/api/endpoints/admin.ts';
import type { Context } from '../engine/command.ts';
import { GwError } from '../engine/errors.ts';
import { describeFound, lookUp, sayUnchanged } from '../journeys/admin/resolve.ts';
import { linesOf } from '../output/card.ts';
import {
  candidateLine,
  candidatesTitle,
  type PaymentDetail as Detail,
  paymentCard,
} from '../output/payment-card.ts';
import { screenColor } from '../output/status.ts';
import { clean } from '../output/text.ts';
import { shortId } from '../output/value.ts';
import { type Size, useKeys, useNow, usePoll } from './hooks.ts';
import type { Payment } from './payment-rows.ts';
import { moved, windowStart } from './table.tsx';
import type { Status } from './view-props.ts';

const ACTIONS: Record<string, 'recheck' | 'confirm' | 'expire' | 'fail'> = {
  r: 'recheck',
  c: 'confirm',
  e: 'expire',
  f: 'fail',
};
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
  /** Opens another one: the invoice that this payment was booked for. */
  onOpen(id: string): void;
  onStatus(status: Status): void;
}

/** The prompt and what came of the last action, with the line above them. */
const PROMPT_ROWS = 3;

/** `target` is the invoice that is put right: of an unmatched payment, the one that it is to be booked for. */
type DialogStep =
  | { at: 'view' }
  | { at: 'choose' }
  /** Which invoice an unmatched payment is to be booked for. */
  | { at: 'candidate'; index: number }
  | { at: 'txid'; target: string; typed: string }
  /** Why it is booked though the chain does not have it. */
  | { at: 'reason'; target: string; txid: string; typed: string }
  | { at: 'type'; target: string; action: string; txid: string; reason: string; typed: string }
  | { at: 'busy'; action: string };

export function PaymentDetail(props: PaymentDetailProps) {
  const { context, id, size, refresh_ms, readonly, active, onBack, onStatus } = props;
  const { data, error, at, again } = usePoll(
    () => context.call(getAdminPayment, { params: { invoice_id: id } }),
    refresh_ms,
    id,
  );
  const { step, go, type, outcome, setOutcome, lookUpTyped, resolve } = useResolving(props, again);
  const [top, setTop] = useState(0);
  const now = useNow();
  const room = Math.max(1, size.rows - PROMPT_ROWS);
  const shown = data ? shownOf(data, step, now) : { marked: -1, lines: [] };
  const last = Math.max(0, shown.lines.length - room);
  const first = shown.marked < 0 ? Math.min(top, last) : windowStart(shown.marked, shown.lines.length, room);
  useEffect(() => {
    const more = last - first;
    const below = more > 0 ? `${more} more lines below: j ↓` : '';
    onStatus({
      text: data ? [`payment ${shortId(id)}`, below].filter(Boolean).join('   ') : 'loading',
      error,
      read_at: at,
    });
  }, [data, id, error, at, first, last, onStatus]);
  const choose = (input: string) => {
    if (!data) return;
    const { invoice, candidates } = data;
    const action = ACTIONS[input];
    if (action === 'recheck') void resolve(id, action);
    else if (invoice && action === 'confirm') go({ at: 'txid', target: invoice.id, typed: paidBy(data) });
    else if (invoice && action)
      go({ at: 'type', target: invoice.id, action, txid: '', reason: '', typed: '' });
    else if (input === 'b' && !invoice && candidates.length > 0) go({ at: 'candidate', index: 0 });
  };
  const view = (input: string, key: Key) => {
    if (key.ctrl && input === 'r') again();
    else if (key.escape || key.leftArrow) onBack();
    else if (input === 'r' && !readonly && data) go({ at: 'choose' });
    else setTop(moved(input, key, { selected: first, count: last + 1, page: room }) ?? first);
  };
  const candidate = (input: string, key: Key, index: number) => {
    const { candidates = [] } = data ?? {};
    const open = candidates[index];
    const txid = data ? paidBy(data) : '';
    if (key.return && open) void lookUpTyped(open.id, txid);
    else {
      const to = moved(input, key, { selected: index, count: candidates.length, page: room });
      if (to !== undefined) go({ at: 'candidate', index: to });
    }
  };
  useKeys((input, key) => {
    if (step.at === 'busy') return;
    if (step.at === 'view') view(input, key);
    else if (key.escape) go({ at: 'view' });
    else if (step.at === 'choose') choose(input);
    else if (step.at === 'candidate') candidate(input, key, step.index);
    else if (key.backspace || key.delete) type((typed) => typed.slice(0, -1));
    else if (key.return && step.at === 'txid') void lookUpTyped(step.target, step.typed.trim());
    else if (key.return && step.at === 'reason') {
      const reason = step.typed.trim();
      if (reason !== '') go({ ...step, at: 'type', action: 'confirm', reason, typed: '' });
    } else if (key.return && step.at === 'type') {
      if (step.typed === shortId(step.target)) void resolve(step.target, step.action, step.txid, step.reason);
      else setOutcome('that is not the id; nothing was done');
    } else type((typed) => typed + clean(input));
  }, active);
  const failing = error === null ? '' : `! ${error}; trying again`;
  return (
    <Box flexDirection="column" height={size.rows}>
      <Box flexDirection="column" height={room}>
        {data ? <Lines {...shown} first={first} room={room} /> : <Text>loading</Text>}
      </Box>
      <Box flexDirection="column" flexShrink={0} paddingTop={1}>
        <Text bold wrap="truncate">
          {promptOf(step, data, readonly)}
        </Text>
        <Text color={failing || outcome.includes('refused') ? 'red' : 'green'} wrap="truncate">
          {clean(failing || outcome)}
        </Text>
      </Box>
    </Box>
  );
}

/** The steps from a key to a decision, and what came of it. */
function useResolving({ context, id, onTyping, onChanged, onOpen }: PaymentDetailProps, again: () => void) {
  const [step, setStep] = useState<DialogStep>({ at: 'view' });
  const [outcome, setOutcome] = useState('');
  const go = (next: DialogStep) => {
    setStep(next);
    onTyping(next.at !== 'view' && next.at !== 'busy');
  };
  const type = (change: (typed: string) => string) =>
    setStep((before) => ('typed' in before ? { ...before, typed: change(before.typed) } : before));
  /** Shows what the chain has of it; what it does not have needs a reason. */
  const lookUpTyped = async (target: string, txid: string) => {
    const next = { at: 'type', target, action: 'confirm', txid, reason: '', typed: '' } as const;
    if (txid === '') return go(next);
    go({ at: 'busy', action: 'looking up the transaction' });
    try {
      const found = await lookUp(context, { invoice_id: target, txid });
      setOutcome(typeof found === 'string' ? found : describeFound(found));
      const is_known = typeof found !== 'string' && found.found;
      go(is_known ? next : { at: 'reason', target, txid, typed: '' });
    } catch (failure) {
      setOutcome(`confirm refused: ${(failure as Error).message}`);
      go({ at: 'view' });
    }
  };
  const resolve = async (target: string, action: string, txid = '', reason = '') => {
    go({ at: 'busy', action });
    try {
      const body = {
        action,
        ...(txid === '' ? {} : { txid }),
        ...(reason === '' ? {} : { force: true, note: reason }),
      };
      const params = { invoice_id: target };
      const before = await context.call(getAdminPayment, { params });
      const reply = await context.call(resolvePayment, { params, body });
      const done = `${action}: ${shortId(reply.payment.id)} now ${reply.payment.status}`;
      setOutcome(sayUnchanged(before, reply, body) ?? done);
      onChanged(reply.payment);
      // What was booked for an invoice is listed as that invoice.
      if (target === id) again();
      else onOpen(target);
    } catch (failure) {
      setOutcome(`${action} refused: ${(failure as Error).message}`);
      // Nothing came, or the chain has lost it: booking needs a reason then.
      if (isUnknown(failure) && reason === '') return go({ at: 'reason', target, txid, typed: '' });
    }
    go({ at: 'view' });
  };
  return { step, go, type, outcome, setOutcome, lookUpTyped, resolve };
}

const isUnknown = (failure: unknown): boolean =>
  failure instanceof GwError && failure.details.code === 'transaction_unknown';

/** The transaction that was seen for the invoice and may be what pays it. */
const paidBy = ({ payment, payments }: Detail): string =>
  payment.txid ?? payments.find(({ txid }) => txid !== null)?.txid ?? '';

function promptOf(step: DialogStep, data: Detail | undefined, readonly: boolean): string {
  if (step.at === 'choose' && data && !data.invoice)
    return data.candidates.length > 0
      ? `resolve: r recheck   b book it for one of ${data.candidates.length} open invoices   esc leave it`
      : 'resolve: r recheck   no open invoice could be meant: gw admin resolve INVOICE confirm --txid TXID   esc leave it';
  if (step.at === 'choose') return 'resolve: r recheck   c confirm   e expire   f fail   esc leave it';
  if (step.at === 'candidate') return 'book it for: j k move   enter look it up   esc leave it';
  if (step.at === 'busy') return `${step.action} …`;
  if (step.at === 'txid') return `confirm: txid that pays it, empty for none, then enter: ${step.typed}█`;
  if (step.at === 'reason') return `confirm: why it is to be booked anyway, then enter: ${step.typed}█`;
  if (step.at === 'type') return `${step.action}: type ${shortId(step.target)}, then enter: ${step.typed}█`;
  return readonly || !data ? 'esc back' : 'r resolve   esc back';
}

interface Line {
  label: string;
  text: string;
  bold?: boolean;
  color?: string | undefined;
}

/** What the room above the prompt shows: everything about the payment, or the invoices that it may be booked for. */
function shownOf(detail: Detail, step: DialogStep, now_s: number): { marked: number; lines: Line[] } {
  if (step.at === 'candidate') {
    const { candidates } = detail;
    const lines = candidates.map((open, index) => ({
      label: index === step.index ? '› ' : '  ',
      text: clean(candidateLine(open, detail, now_s)),
      bold: index === step.index,
    }));
    return {
      marked: step.index + 1,
      lines: [{ label: '', text: candidatesTitle(candidates.length), bold: true }, ...lines],
    };
  }
  const { headline, status, sections } = paymentCard(detail, now_s);
  const lines = linesOf(sections).map(({ title, label, text }) =>
    title === '' ? { label, text } : { label: '', text: title, bold: true },
  );
  return {
    marked: -1,
    lines: [{ label: '', text: clean(headline), bold: true, color: screenColor(status) }, ...lines],
  };
}

function Lines({ lines, first, room }: { lines: readonly Line[]; first: number; room: number }) {
  return lines.slice(first, first + room).map(({ label, text, bold, color }, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: several lines have the same label
    <Text key={index} wrap="truncate" bold={bold === true} color={color ?? ''}>
      <Text dimColor={bold !== true}>{label}</Text>
      {text || ' '}
    </Text>
  ));
}
