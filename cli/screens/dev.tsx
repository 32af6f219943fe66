// The sandbox on the whole screen: its invoices, its events with what webhooks were answered, and keys for a buyer.
import { Box, Text, useApp } from 'ink';
import { useEffect, useState } from 'react';
import { listInvoices } from '../../src/api/endpoints/invoices.ts';
import { listEvents } from '../../src/api/endpoints/merchant.ts';
import type { Context } from '../engine/command.ts';
import { GwError } from '../engine/errors.ts';
import { coins } from '../output/money.ts';
import { screenColor } from '../output/status.ts';
import { clean } from '../output/text.ts';
import { relative, shortId } from '../output/value.ts';
import { pad, padLeft, widthOf } from '../output/width.ts';
import type { TriggerKind } from '../sandbox/kinds.ts';
import { type Delivery, isTaken } from '../sandbox/receiver.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Invoice } from '../sandbox/scenarios.ts';
import { type Size, useKeys, useNow, usePoll, useSize } from './hooks.ts';
import { runScreen } from './terminal.ts';

const POLL_MS = 700;
const LISTED = 50;
/** Title, keys of the profile, two headings, what runs, and the footer. */
const FRAME_ROWS = 7;
/** Of the rows left, how many of invoices stand for one of events. */
const SHARE = 2;
/** Wider than this there is room for keys and secrets in full. */
const FOOTER =
  'n new  p pay  u under  o over  m no memo  t twice  l late  x expire  r reorganise  c cancel  5 refuse  q quit';
const SHORT_FOOTER = 'n p u o m t l x r c 5  ? keys  q quit';

/** Keys that need no invoice, or take the marked one while it is open. */
const keys: Readonly<Record<string, TriggerKind>> = {
  n: 'invoice.created',
  p: 'invoice.confirmed',
  u: 'payment.under',
  o: 'payment.over',
  m: 'payment.unmatched',
  t: 'payment.twice',
  l: 'payment.late',
  x: 'invoice.expired',
  r: 'payment.reorganised',
  c: 'invoice.cancelled',
};
/** These begin with an invoice of their own. */
const ALONE: ReadonlySet<TriggerKind> = new Set(['invoice.created', 'payment.late', 'invoice.expired']);

const HELP = [
  'n   create an invoice              p   pay the marked one, or a new one',
  'u   pay half                       o   pay half more',
  'm   pay without the memo           t   pay, and again when confirmed',
  'l   pay a new one after its end    x   let a new one expire: a minute',
  'r   pay, and a fork leaves it out: given up after a minute',
  'c   cancel the marked one          5   answer the next webhook with 500',
  'j k ↑ ↓   mark an invoice          ?   this help',
];

export interface DevProps {
  sandbox: Sandbox;
  /** The profile that reaches it. */
  name: string;
  forward_to: string | undefined;
  record_dir: string | undefined;
  onDeliveries(listen: (delivery: Delivery) => void): void;
}

interface Task {
  text: string;
  state: 'running' | 'done' | 'failed';
}

const load = async ({ call }: Sandbox) => {
  const [invoices, events] = await Promise.all([
    call(listInvoices, { query: { limit: LISTED } }),
    call(listEvents, { query: { order: 'newest', limit: LISTED } }),
  ]);
  return { invoices: invoices.data, events: events.data };
};
type Loaded = Awaited<ReturnType<typeof load>>;

export function Dev({ sandbox, name, forward_to, record_dir, onDeliveries }: DevProps) {
  const { exit } = useApp();
  const size = useSize();
  const now = useNow();
  const { data, error, again } = usePoll(() => load(sandbox), POLL_MS);
  const [deliveries, setDeliveries] = useState<readonly Delivery[]>([]);
  const [task, setTask] = useState<Task>({
    text: 'press n for an invoice, p to pay one, ? for all keys',
    state: 'done',
  });
  const [marked, setMarked] = useState<string | null>(null);
  const [help, setHelp] = useState(false);
  useEffect(() => {
    onDeliveries((delivery) => setDeliveries((before) => [...before.slice(-LISTED), delivery]));
    void sandbox.ended.then((code) => exit(new GwError('general', `gatewayd ended with ${code}`)));
  }, [onDeliveries, sandbox, exit]);
  const invoices = data?.invoices ?? [];
  const at = Math.max(
    0,
    invoices.findIndex(({ id }) => id === marked),
  );
  const current = invoices[at];
  const start = (kind: TriggerKind) => {
    const open = !ALONE.has(kind) && current?.status === 'created' ? current : undefined;
    const text = `${kind} ${open ? `of ${shortId(open.id)}` : 'of a new invoice'}`;
    setTask({ text, state: 'running' });
    // A new one is marked as the newest.
    if (!open) setMarked(null);
    const end = (state: Task['state'], why = '') => {
      setTask((before) => (before.text === text ? { text: text + why, state } : before));
      again();
    };
    sandbox.trigger({ kind, invoice_id: open?.id }).then(
      () => end('done'),
      (failure: Error) => end('failed', `: ${failure.message}`),
    );
  };
  useKeys((input, key) => {
    if (key.ctrl && input === 'c') return exit(new GwError('interrupted', 'interrupted'));
    if (input === 'q') return exit();
    if (input === '?' || (help && key.escape)) return setHelp(!help);
    const step = key.downArrow || input === 'j' ? 1 : key.upArrow || input === 'k' ? -1 : 0;
    if (step !== 0) return setMarked(invoices[at + step]?.id ?? current?.id ?? null);
    if (input === '5') {
      sandbox.refuseNext();
      return setTask({ text: 'the next webhook is answered with 500', state: 'done' });
    }
    const kind = keys[input];
    if (kind) start(kind);
  });
  const room = Math.max(2, size.rows - FRAME_ROWS);
  const invoice_rows = Math.max(1, Math.floor(room / SHARE));
  return (
    <Box flexDirection="column" width={size.columns} height={size.rows}>
      <Head {...{ sandbox, name, forward_to, record_dir, size }} />
      {help ? (
        <Lines of={HELP} rows={room + 2} />
      ) : (
        <Box flexDirection="column" height={room + 2} overflow="hidden">
          <Invoices {...{ invoices, at, now }} rows={invoice_rows} />
          <Events events={data?.events ?? []} deliveries={deliveries} rows={room - invoice_rows} />
        </Box>
      )}
      <Text
        wrap="truncate"
        color={
          error !== null || task.state === 'failed' ? 'red' : task.state === 'running' ? 'yellow' : 'gray'
        }
      >
        {clean(error ?? `${task.text}${task.state === 'running' ? ' …' : ''}`)}
      </Text>
      <Text wrap="truncate" dimColor>
        {FOOTER.length <= size.columns ? FOOTER : SHORT_FOOTER}
      </Text>
    </Box>
  );
}

function Head({
  sandbox,
  name,
  forward_to,
  record_dir,
  size,
}: Omit<DevProps, 'onDeliveries'> & { size: Size }) {
  const { url, api_key, webhook_secret } = sandbox;
  // A key that is cut is none.
  const keys = `key ${api_key}   secret ${webhook_secret}`;
  const facts =
    widthOf(keys) <= size.columns ? keys : `gw --profile ${name} account get --json api_key,webhook_secret`;
  const to = forward_to === undefined ? 'webhooks answered here' : `webhooks to ${forward_to}`;
  const head = ` gw dev  ${url}  profile ${name}  `;
  // What the line has no room for goes below, before the keys of the profile.
  const recorded = record_dir === undefined ? '' : `recorded in ${record_dir}`;
  const fits = recorded !== '' && widthOf(`${head}${to}  ${recorded}`) <= size.columns;
  return (
    <>
      <Text inverse wrap="truncate">
        {pad(clean(`${head}${to}${fits ? `  ${recorded}` : ''}`), size.columns)}
      </Text>
      <Text dimColor wrap="truncate">
        {clean(recorded === '' || fits ? facts : `${recorded}  ${facts}`)}
      </Text>
    </>
  );
}

const Lines = ({ of, rows }: { of: readonly string[]; rows: number }) => (
  <Box flexDirection="column" height={rows} overflow="hidden">
    {of.map((line) => (
      <Text key={line} wrap="truncate">
        {line}
      </Text>
    ))}
  </Box>
);

const Heading = ({ text }: { text: string }) => (
  <Text bold wrap="truncate">
    {text}
  </Text>
);

interface InvoicesProps {
  invoices: readonly Invoice[];
  at: number;
  now: number;
  rows: number;
}

function Invoices({ invoices, at, now, rows }: InvoicesProps) {
  const from = Math.max(0, Math.min(at - rows + 1, invoices.length - rows));
  const shown = invoices.slice(from, from + rows);
  return (
    <Box flexDirection="column" height={rows + 1} flexShrink={0}>
      <Heading
        text={`  ${pad('INVOICE', 8)}  ${padLeft('AMOUNT', 13)}  ${pad('STATUS', 9)}  ${pad('ORDER', 8)}  RECEIVED`}
      />
      {shown.map((invoice) => (
        <Text key={invoice.id} wrap="truncate" bold={invoice === invoices[at]}>
          {`${invoice === invoices[at] ? '›' : ' '} ${shortId(invoice.id)}  ${padLeft(coins(invoice.amount, invoice.currency), 13)}  `}
          <Text color={screenColor(invoice.status) ?? ''}>{pad(invoice.status, 9)}</Text>
          {`  ${pad(clean(invoice.external_ref ?? ''), 8)}  ${receivedOf(invoice, now)}`}
        </Text>
      ))}
    </Box>
  );
}

function receivedOf(
  { status, received_amount, amount_match, confirmations, expires_at }: Invoice,
  now: number,
): string {
  if (received_amount !== null && amount_match !== 'none')
    return `${received_amount} ${amount_match}${status === 'created' ? `, confirmed ${confirmations}×` : ''}`;
  if (status !== 'created') return '';
  return expires_at > now ? `expires ${relative(expires_at, now)}` : 'its time is over';
}

interface EventsProps {
  events: Loaded['events'];
  deliveries: readonly Delivery[];
  rows: number;
}

function Events({ events, deliveries, rows }: EventsProps) {
  return (
    <Box flexDirection="column" height={rows + 1} flexShrink={0}>
      <Heading text={`  ${pad('TIME', 8)}  ${pad('EVENT', 18)}  ${pad('INVOICE', 8)}  WEBHOOK`} />
      {events.slice(0, rows).map((event) => {
        const { id, type, timestamp } = event;
        const { invoice } = event.data;
        const posted = deliveries.filter((each) => each.id === id);
        const last = posted.at(-1);
        return (
          <Text key={id} wrap="truncate">
            {`  ${timestamp.slice(11, 19)}  ${pad(type, 18)}  ${pad(invoice ? shortId(invoice.id) : '–', 8)}  `}
            {last ? (
              <Text color={isTaken(last) ? 'green' : 'red'}>
                {clean(
                  `${posted.map(({ status }) => status).join(', ')}  ${last.duration_ms} ms ${last.error ?? ''}`,
                )}
              </Text>
            ) : null}
          </Text>
        );
      })}
    </Box>
  );
}

/** Shows the sandbox until it is left. */
export async function devScreen(context: Context, props: DevProps): Promise<void> {
  await runScreen(context, <Dev {...props} />);
}
