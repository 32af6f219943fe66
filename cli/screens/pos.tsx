// A till on the whole screen: an amount, the code to scan, PAID with a bell, and the totals of the day at the foot.
import { randomUUID } from 'node:crypto';
import { Box, Text, useApp, useStdout } from 'ink';
import { useCallback, useEffect, useRef, useState } from 'react';
import { cancelInvoice, getPublicInvoice } from '../../src/api/endpoints/buyer.ts';
import { createInvoice } from '../../src/api/endpoints/invoices.ts';
import type { Context } from '../engine/command.ts';
import { GwError } from '../engine/errors.ts';
import { hasEnded } from '../journeys/parts/follow.ts';
import { dayBegan, readSales, type Sale, saleReference, totalsOf } from '../journeys/parts/till.ts';
import type { Invoice } from '../output/invoice-card.ts';
import { coins, dollars } from '../output/money.ts';
import { fittingQr } from '../output/qr.ts';
import { clean } from '../output/text.ts';
import { relative } from '../output/value.ts';
import { pad } from '../output/width.ts';
import { type Size, useKeys, useNow, usePoll, useSize } from './hooks.ts';
import { runScreen } from './terminal.ts';

const POLL_MS = 1000;
const TOTALS_MS = 10_000;
const RETRY_MS = 2000;
const BELL = '\u0007';
/** Title, what is wrong, totals and keys. */
const FRAME_ROWS = 4;
/** Text next to a code needs so much. */
const TEXT_COLUMNS = 28;
/** Lines of text below a code, where there is no room next to it. */
const TEXT_ROWS = 1;
const GAP = 2;
const MAX_DIGITS = 9;
const CENTS = 2;
const AMOUNT = new RegExp(`^\\d{0,${MAX_DIGITS}}(\\.\\d{0,${CENTS}})?$`);
const REFUSED = 'a payment is on its way';
const PAID = [
  '████   ███  ███ ████ ',
  '█   █ █   █  █  █   █',
  '████  █████  █  █   █',
  '█     █   █  █  █   █',
  '█     █   █ ███ ████ ',
];

export interface PosProps {
  till: string;
  /** Coins to choose from, the one to begin with first. */
  chains: readonly string[];
}

type Sold =
  | { step: 'typing' }
  /** The invoice is asked for; again under the same key until there is an answer. */
  | { step: 'asking'; amount: string; key: string }
  | { step: 'waiting'; invoice: Invoice; leaves: boolean };

/** Whether the service was not reached, or is not ready: what is tried again. */
const isPassing = (error: unknown): boolean =>
  error instanceof GwError && ['unreachable', 'retry', 'unknown'].includes(error.kind);

export function Pos({ context, till, chains }: PosProps & { context: Context }) {
  const { exit } = useApp();
  const size = useSize();
  const [typed, showTyped] = useState('');
  // Keys may come faster than frames.
  const latest = useRef('');
  const setTyped = useCallback((text: string) => {
    latest.current = text;
    showTyped(text);
  }, []);
  const [chain, setChain] = useState(0);
  const [notice, setNotice] = useState('');
  const [sold, setSold] = useState<Sold>({ step: 'typing' });
  const totals = useTotals(context, till);
  const begin = useCallback(() => {
    setSold({ step: 'typing' });
    setTyped('');
  }, [setTyped]);
  const onInvoice = useCallback((invoice: Invoice) => {
    setNotice('');
    setSold({ step: 'waiting', invoice, leaves: false });
  }, []);
  const onTrouble = useCallback((error: Error) => {
    setNotice(error.message);
    if (!isPassing(error)) setSold({ step: 'typing' });
  }, []);
  useAsking(context, sold, { till, chain: chains[chain] ?? '', onInvoice, onTrouble });
  const isAsked = sold.step === 'waiting' ? sold.invoice.id : null;
  const now = useSale(context, isAsked, { onPaid: totals.again, onError: setNotice });
  const invoice = sold.step === 'waiting' ? (now?.id === sold.invoice.id ? now : sold.invoice) : null;
  const isOver = invoice !== null && hasEnded(invoice);
  const leave = () => {
    if (sold.step !== 'waiting' || sold.leaves || !invoice) return begin();
    setSold({ ...sold, leaves: true });
    context.call(cancelInvoice, { params: { invoice_id: invoice.id } }).then(
      () => begin(),
      (error: Error) => {
        const is_paid = error instanceof GwError && error.details.code === 'payment_detected';
        setNotice(is_paid ? REFUSED : `not cancelled: ${error.message}; Esc leaves it`);
        if (is_paid) setSold({ ...sold, leaves: false });
      },
    );
  };
  useKeys((input, key) => {
    if (key.ctrl && input === 'c') return exit(new GwError('interrupted', 'interrupted'));
    if (input === 'q') return exit();
    if (isOver) {
      begin();
      // The first digit of the next amount is one of these keys.
      return AMOUNT.test(input) ? setTyped(input) : undefined;
    }
    if (sold.step !== 'typing') return key.escape ? leave() : undefined;
    setNotice('');
    if (key.escape) return setTyped('');
    if (key.backspace || key.delete) return setTyped(latest.current.slice(0, -1));
    if (input === 'c') return setChain((before) => (before + 1) % chains.length);
    if (key.return) {
      if (/[1-9]/.test(latest.current))
        setSold({ step: 'asking', amount: latest.current.replace(/\.$/, ''), key: randomUUID() });
      return;
    }
    const next = latest.current + input.replace(',', '.');
    if (AMOUNT.test(next)) setTyped(next);
  });
  const trouble = notice || totals.error;
  return (
    <Box flexDirection="column" width={size.columns} height={size.rows}>
      <Text inverse wrap="truncate">
        {pad(clean(` ${till}  ${invoice?.chain ?? chains[chain] ?? ''}`), size.columns)}
      </Text>
      <Box height={Math.max(1, size.rows - FRAME_ROWS)} flexDirection="column" overflow="hidden">
        {invoice ? (
          <Shown invoice={invoice} size={{ columns: size.columns, rows: size.rows - FRAME_ROWS }} />
        ) : (
          <Typing amount={typed} asking={sold.step === 'asking'} />
        )}
      </Box>
      <Text color="red" wrap="truncate">
        {clean(trouble === '' ? ' ' : `! ${trouble}`)}
      </Text>
      <Text wrap="truncate">{totals.text}</Text>
      <Text dimColor wrap="truncate">
        {invoice
          ? isOver
            ? 'any key: next sale  q quit'
            : 'esc cancel  q quit'
          : 'enter charge  c coin  esc clear  q quit'}
      </Text>
    </Box>
  );
}

/** The totals of the day as a line; what was read before is shown while the service is away. */
function useTotals(context: Context, till: string): { text: string; error: string; again(): void } {
  const known = useRef<{ since: number; sales: ReadonlyMap<string, Sale> }>({ since: 0, sales: new Map() });
  const { data, error, again } = usePoll(async () => {
    const since = dayBegan();
    const before = known.current.since === since ? known.current.sales : undefined;
    known.current = { since, sales: await readSales(context.call, since, before) };
    return totalsOf(known.current.sales, till);
  }, TOTALS_MS);
  if (!data) return { text: 'today –', error: error ?? '', again };
  const own = data.tills.find((each) => each.till === till);
  const mine = `today ${dollars(own?.amount_usd ?? '0')} (${own?.sales ?? 0})`;
  const text =
    data.tills.length > 1 ? `${mine}  all tills ${dollars(data.all.amount_usd)} (${data.all.sales})` : mine;
  return { text, error: error ?? '', again };
}

interface Asking {
  till: string;
  chain: string;
  onInvoice(invoice: Invoice): void;
  onTrouble(error: Error): void;
}

/** Asks for the invoice until there is an answer; under one key, so that there is one invoice. */
function useAsking({ call }: Context, sold: Sold, { till, chain, onInvoice, onTrouble }: Asking): void {
  const key = sold.step === 'asking' ? sold.key : null;
  const amount = sold.step === 'asking' ? sold.amount : '';
  useEffect(() => {
    if (key === null) return;
    let timer: NodeJS.Timeout | undefined;
    let gone = false;
    const body = { chain, amount, external_ref: saleReference(till, key.slice(0, 8)) };
    const ask = () =>
      call(createInvoice, { body }, { idempotency_key: key }).then(
        (invoice) => gone || onInvoice(invoice),
        (error: Error) => {
          if (gone) return;
          onTrouble(error);
          if (isPassing(error)) timer = setTimeout(ask, RETRY_MS);
        },
      );
    void ask();
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [call, key, amount, chain, till, onInvoice, onTrouble]);
}

/** The invoice as it stands, read until it has ended; rings once when it is paid. */
function useSale(
  { call }: Context,
  id: string | null,
  { onPaid, onError }: { onPaid(): void; onError(why: string): void },
): Invoice | undefined {
  const { stdout } = useStdout();
  const rung = useRef('');
  const { data, error } = usePoll(
    async () => (id === null ? undefined : call(getPublicInvoice, { params: { invoice_id: id } })),
    POLL_MS,
    id ?? '',
  );
  useEffect(() => {
    if (id !== null) onError(error ?? '');
  }, [id, error, onError]);
  useEffect(() => {
    if (data?.status !== 'confirmed' || rung.current === data.id) return;
    rung.current = data.id;
    stdout.write(BELL);
    onPaid();
  }, [data, stdout, onPaid]);
  return data;
}

const Typing = ({ amount, asking }: { amount: string; asking: boolean }) => (
  <Box flexDirection="column" flexGrow={1} justifyContent="center" alignItems="center">
    <Text dimColor>{asking ? 'asking for the code …' : 'amount in USD'}</Text>
    <Text bold>{`$ ${amount}${asking ? '' : '█'}`}</Text>
  </Box>
);

const Paid = ({ invoice }: { invoice: Invoice }) => (
  <Box flexDirection="column" flexGrow={1} justifyContent="center" alignItems="center">
    {PAID.map((line, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: rows of one picture
      <Text key={index} bold color="green">
        {line}
      </Text>
    ))}
    <Text> </Text>
    <Text bold>{dollars(invoice.amount_usd)}</Text>
    {invoice.amount_match === 'over' ? (
      <Text color="yellow">{`more than asked: ${coins(invoice.received_amount, invoice.currency)}`}</Text>
    ) : null}
  </Box>
);

/** What the customer scans, or what became of the sale. */
function Shown({ invoice, size }: { invoice: Invoice; size: Size }) {
  const now_s = useNow();
  const [lines, setLines] = useState<readonly string[]>([]);
  const { qr_payload: payload, pay_url: page_url } = invoice;
  const { columns, rows } = size;
  useEffect(() => {
    let gone = false;
    // Its two spare rows are those of a prompt, which is not here.
    const whole = fittingQr({ payload, page_url }, { columns: columns - TEXT_COLUMNS - GAP, rows: rows + 2 });
    const drawn = whole.then((one) =>
      one.encodes === 'payload'
        ? one
        : fittingQr({ payload, page_url }, { columns, rows: rows + 2 - TEXT_ROWS }).then((other) =>
            other.encodes === 'none' ? one : other,
          ),
    );
    void drawn.then((code) => gone || setLines(code.lines));
    return () => {
      gone = true;
    };
  }, [payload, page_url, columns, rows]);
  if (invoice.status === 'confirmed') return <Paid invoice={invoice} />;
  const width = lines[0]?.length ?? 0;
  const isWide = columns - width - GAP >= TEXT_COLUMNS;
  return (
    <Box flexDirection={isWide ? 'row' : 'column'} columnGap={GAP}>
      {invoice.status === 'created' ? (
        <Box flexDirection="column" flexShrink={0}>
          {lines.map((line, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows of one picture
            <Text key={index} color="whiteBright" backgroundColor="black">
              {line}
            </Text>
          ))}
        </Box>
      ) : null}
      {isWide || lines.length === 0 ? (
        <Box flexDirection="column">
          <Text bold>{dollars(invoice.amount_usd)}</Text>
          <Text>{coins(invoice.amount, invoice.currency)}</Text>
          <State invoice={invoice} now_s={now_s} />
          {lines.length === 0 ? <Text>{clean(invoice.pay_url)}</Text> : null}
        </Box>
      ) : (
        <Text wrap="truncate">
          {`${dollars(invoice.amount_usd)}  ${coins(invoice.amount, invoice.currency)}  `}
          <State invoice={invoice} now_s={now_s} />
        </Text>
      )}
    </Box>
  );
}

function State({ invoice, now_s }: { invoice: Invoice; now_s: number }) {
  const { status, received_amount, amount_match, currency, expires_at, confirmations } = invoice;
  if (status !== 'created') return <Text color="red">{`not paid: ${status}`}</Text>;
  if (amount_match === 'under')
    return <Text color="yellow">{`only ${coins(received_amount, currency)} so far`}</Text>;
  if (received_amount !== null)
    return <Text color="cyan">{`payment seen, ${confirmations} confirmations`}</Text>;
  return (
    <Text dimColor>{expires_at > now_s ? `ends ${relative(expires_at, now_s)}` : 'its time is over'}</Text>
  );
}

/** Shows the till until it is left. */
export async function posScreen(context: Context, props: PosProps): Promise<void> {
  await runScreen(context, <Pos context={context} {...props} />);
}
