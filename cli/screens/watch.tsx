// One invoice on the whole screen: what to send where, its QR code, and what happens, until it ends.
import { Box, Text, useApp } from 'ink';
import { useEffect, useState } from 'react';
import type { CallReply } from '../../src/api/client/call.ts';
import { getInvoicePayment, getPublicInvoice } from '../../src/api/endpoints/buyer.ts';
import type { Context } from '../engine/command.ts';
import { GwError } from '../engine/errors.ts';
import { hasEnded } from '../journeys/parts/follow.ts';
import { codeNote, type Invoice, invoiceFacts } from '../output/invoice-card.ts';
import { print } from '../output/io.ts';
import { fittingQr } from '../output/qr.ts';
import { screenColor } from '../output/status.ts';
import { clean } from '../output/text.ts';
import { show } from '../output/value.ts';
import { pad } from '../output/width.ts';
import { useKeys, useNow, usePoll, useSize } from './hooks.ts';
import { runScreen } from './terminal.ts';

type Payment = CallReply<typeof getInvoicePayment>;
const LABEL = 8;
const GAP = 2;
const MIN_SIDE_BY_SIDE = 30;
const MAX_LOGS = 5;
/** The end stays in view for so long. */
const LAST_LOOK_MS = 1200;

export interface WatchProps {
  context: Context;
  id: string;
  interval_ms: number;
  onInvoice(invoice: Invoice): void;
}

async function load(context: Context, invoice_id: string): Promise<{ invoice: Invoice; seen: Payment }> {
  const params = { invoice_id };
  const [invoice, seen] = await Promise.all([
    context.call(getPublicInvoice, { params }),
    context.call(getInvoicePayment, { params }),
  ]);
  return { invoice, seen };
}

export function Watch({ context, id, interval_ms, onInvoice }: WatchProps) {
  const { exit } = useApp();
  const size = useSize();
  const { data, error, at } = usePoll(() => load(context, id), interval_ms);
  const [code, setCode] = useState<Awaited<ReturnType<typeof fittingQr>>>({ lines: [], encodes: 'none' });
  const now = useNow();
  const invoice = data?.invoice;
  const payload = invoice?.qr_payload;
  const page_url = invoice?.pay_url;
  useEffect(() => {
    if (payload === undefined || page_url === undefined) return;
    void fittingQr({ payload, page_url }, { columns: size.columns, rows: size.rows + 2 }).then(setCode);
  }, [payload, page_url, size.columns, size.rows]);
  useEffect(() => {
    if (invoice) onInvoice(invoice);
  }, [invoice, onInvoice]);
  const ended = invoice !== undefined && hasEnded(invoice);
  useEffect(() => {
    if (!ended) return;
    const timer = setTimeout(() => exit(), LAST_LOOK_MS);
    return () => clearTimeout(timer);
  }, [ended, exit]);
  useKeys((input, key) => {
    if (key.ctrl && input === 'c') exit(new GwError('interrupted', 'interrupted'));
    else if (input === 'q' || key.escape) exit();
  });
  if (!data || !invoice) return <Text>{error === null ? 'loading' : clean(error)}</Text>;
  const width = code.lines[0]?.length ?? 0;
  const isSideBySide = size.columns - width - GAP >= MIN_SIDE_BY_SIDE;
  const drawn = isSideBySide && invoice.status === 'created' ? code.lines : [];
  const room = (drawn.length > 0 ? size.columns - width - GAP : size.columns) - LABEL;
  return (
    <Box flexDirection="row" height={size.rows} columnGap={GAP}>
      {drawn.length > 0 ? (
        <Box flexDirection="column" width={width} flexShrink={0}>
          {drawn.map((line, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows of one picture
            <Text key={index} color="whiteBright" backgroundColor="black">
              {line}
            </Text>
          ))}
        </Box>
      ) : null}
      <Facts
        invoice={invoice}
        seen={data.seen}
        room={room}
        now_s={now}
        at={at}
        error={error}
        encodes={drawn.length > 0 ? code.encodes : 'none'}
      />
    </Box>
  );
}

interface FactsProps {
  invoice: Invoice;
  seen: Payment;
  room: number;
  now_s: number;
  at: number;
  error: string | null;
  encodes: string;
}

function Facts({ invoice, seen, room, now_s, at, error, encodes }: FactsProps) {
  const { payment, logs } = seen;
  const facts = invoiceFacts(invoice, room, now_s).slice(1);
  const note = codeNote(invoice);
  return (
    <Box flexDirection="column" flexGrow={1}>
      {/* What has no room is cut, not squeezed; the last line stays. */}
      <Box flexDirection="column" overflow="hidden">
        <Box flexDirection="column" flexShrink={0}>
          <Text bold color={screenColor(invoice.status) ?? ''}>
            {invoice.status === 'created' ? 'waiting for the payment' : invoice.status}
          </Text>
          {facts.map(([label, value], index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a long value has lines without label
            <Text key={index} wrap="truncate">
              <Text dimColor>{pad(label, LABEL)}</Text>
              {value}
            </Text>
          ))}
          {payment ? (
            <Text color={screenColor(payment.status) ?? ''}>
              {`${payment.status}: ${clean(payment.received_amount ?? '–')} ${payment.currency}, ${payment.confirmations} of ${payment.min_confirmations} confirmations`}
            </Text>
          ) : null}
          {logs.slice(-MAX_LOGS).map((log) => (
            <Text key={log.id} dimColor wrap="truncate">
              {clean(
                `${new Date(log.created_at * 1000).toISOString().slice(11, 19)} ${log.to_status} ${log.note ?? ''}`,
              )}
            </Text>
          ))}
          {encodes === 'page' ? <Text dimColor>the code opens the page</Text> : null}
          {encodes === 'payload' && note !== null ? <Text>{clean(note)}</Text> : null}
        </Box>
      </Box>
      <Box flexShrink={0}>
        <Text color={error === null ? 'gray' : 'red'} wrap="truncate">
          {error === null ? `${new Date(at * 1000).toISOString().slice(11, 19)} UTC  q quit` : clean(error)}
        </Text>
      </Box>
    </Box>
  );
}

/** Shows the invoice until it ends or is left; the invoice as it was last seen. */
export async function watchScreen(context: Context, id: string, interval_ms: number): Promise<Invoice> {
  let last = await context.call(getPublicInvoice, { params: { invoice_id: id } });
  const keep = (invoice: Invoice) => {
    last = invoice;
  };
  await runScreen(context, <Watch context={context} id={id} interval_ms={interval_ms} onInvoice={keep} />);
  const facts = [last.status, `${last.amount} ${last.currency}`, last.txid ?? '', last.id];
  print(
    context.io,
    facts
      .filter(Boolean)
      .map((fact) => show('', fact, true))
      .join('  '),
  );
  return last;
}
