// The dashboard: volume, invoices, observers, what waits for a person, merchants near their limit.
import { Box, Text } from 'ink';
import { useEffect } from 'react';
import type { CallReply } from '../../src/api/client/call.ts';
import { getAdminDashboard, listAdminMerchants } from '../../src/api/endpoints/admin.ts';
import { parseDecimal, tenTo, USD_DECIMALS } from '../../src/money.ts';
import type { Context } from '../engine/command.ts';
import { dollars } from '../output/money.ts';
import { screenColor } from '../output/status.ts';
import { clean } from '../output/text.ts';
import { relative } from '../output/value.ts';
import { pad } from '../output/width.ts';
import { useKeys, usePoll } from './hooks.ts';
import { Table } from './table.tsx';
import type { ViewProps } from './view-props.ts';

type Dashboard = CallReply<typeof getAdminDashboard>;
type Merchant = CallReply<typeof listAdminMerchants>['data'][number];

/** Merchants considered for the lowest limits: the newest page. */
const MERCHANTS = 200;
/** Below this limit, in USD micros, a merchant will soon be refused. */
const NEAR_LIMIT_MICROS = 100n * tenTo(USD_DECIMALS);
const LABEL = 10;

async function load(context: Context): Promise<{ figures: Dashboard; near: Merchant[] }> {
  const [figures, merchants] = await Promise.all([
    context.call(getAdminDashboard),
    context.call(listAdminMerchants, { query: { limit: MERCHANTS } }),
  ]);
  const near = merchants.data
    .map((merchant) => ({ merchant, limit: parseDecimal(merchant.limit_of_payments, USD_DECIMALS) ?? 0n }))
    .filter(({ merchant, limit }) => merchant.is_active && limit < NEAR_LIMIT_MICROS)
    .sort((one, other) => (one.limit < other.limit ? -1 : one.limit > other.limit ? 1 : 0))
    .map(({ merchant }) => merchant);
  return { figures, near };
}

export function DashboardView({ context, size, refresh_ms, active, onStatus }: ViewProps) {
  const { data, error, at, again } = usePoll(() => load(context), refresh_ms);
  useKeys((input, key) => {
    if (key.ctrl && input === 'r') again();
  }, active);
  useEffect(() => {
    const about = data?.figures;
    const text = about
      ? `${about.network}${about.demo_mode ? ', demo' : ''}  version ${about.version}  ${about.merchants} merchants  ${about.units} units`
      : 'loading';
    onStatus({ text, error, read_at: at });
  }, [data, error, at, onStatus]);
  if (!data) return null;
  const { figures, near } = data;
  const blind_rows = figures.observers.some(({ unavailable_since }) => unavailable_since !== null) ? 1 : 0;
  const rest = Math.max(2, size.rows - 7 - blind_rows - figures.observers.length - 2);
  return (
    <Box flexDirection="column" width={size.columns}>
      <Figures figures={figures} />
      <Text> </Text>
      <Table
        columns={[
          { title: 'OBSERVER', width: 16, value: (row) => row.blockchain },
          { title: 'STATUS', width: 14, value: (row) => row.status, color: (row) => screenColor(row.status) },
          {
            title: 'LAG',
            right: true,
            width: 8,
            value: (row) => (row.lag_seconds === null ? '–' : `${row.lag_seconds}s`),
          },
        ]}
        rows={figures.observers}
        keyOf={(row) => row.blockchain}
        selected={-1}
        height={figures.observers.length + 1}
        width={size.columns}
      />
      <Text> </Text>
      <Table
        columns={[
          { title: `NEAR THE LIMIT (${near.length})`, width: 26, value: (row) => row.slug },
          { title: 'LIMIT', right: true, width: 16, value: (row) => dollars(row.limit_of_payments) },
          { title: 'PREPAID', right: true, width: 16, value: (row) => dollars(row.prepaid_usd) },
          {
            title: 'LAST INVOICE',
            width: 14,
            value: (row) => (row.last_invoice_at === null ? '–' : relative(row.last_invoice_at, at)),
          },
        ]}
        rows={near.slice(0, rest - 1)}
        keyOf={(row) => row.user_id}
        selected={-1}
        height={rest}
        width={size.columns}
      />
    </Box>
  );
}

/** Blockchains that cannot be read: one line, the most pressing of all. */
function Blind({ figures, now_s }: { figures: Dashboard; now_s: number }) {
  const blind = figures.observers.flatMap(({ blockchain, unavailable_since }) =>
    unavailable_since === null ? [] : `${blockchain} (${relative(unavailable_since, now_s)})`,
  );
  if (blind.length === 0) return null;
  const what = figures.demo_mode ? 'simulate only' : 'new invoices are refused';
  return (
    <Text wrap="truncate" color="red">
      <Text bold>{pad('blind', LABEL)}</Text>
      {clean(`cannot be read, ${what}: ${blind.join(', ')}`)}
    </Text>
  );
}

function Figures({ figures }: { figures: Dashboard }) {
  const { volume_usd, fees_usd, refills_usd, invoices, attention } = figures;
  const period = (name: string, values: Dashboard['volume_usd']) => (
    <Text wrap="truncate">
      <Text bold>{pad(name, LABEL)}</Text>
      {`day ${pad(dollars(values.day), 12)} week ${pad(dollars(values.week), 12)} month ${pad(dollars(values.month), 12)} total ${dollars(values.total)}`}
    </Text>
  );
  const waiting = Object.entries(attention).filter(([, count]) => count > 0);
  return (
    <>
      {period('volume', volume_usd)}
      {period('fees', fees_usd)}
      {period('refills', refills_usd)}
      <Text wrap="truncate">
        <Text bold>{pad('invoices', LABEL)}</Text>
        {Object.entries(invoices).map(([status, count]) => (
          <Text key={status} color={screenColor(status) ?? ''}>{`${clean(status)} ${count}   `}</Text>
        ))}
      </Text>
      <Text wrap="truncate" color={waiting.length > 0 ? 'yellow' : 'green'}>
        <Text bold>{pad('waiting', LABEL)}</Text>
        {waiting.length > 0
          ? waiting.map(([name, count]) => `${name.replaceAll('_', ' ')} ${count}`).join('   ')
          : 'nothing needs attention'}
      </Text>
      <Blind figures={figures} now_s={figures.generated_at} />
      {figures.clock.message === null ? null : (
        <Text wrap="truncate" color="red">
          <Text bold>{pad('clock', LABEL)}</Text>
          {clean(figures.clock.message)}
        </Text>
      )}
      {figures.shared_addresses > 0 ? (
        <Text
          wrap="truncate"
          dimColor
        >{`${figures.shared_addresses} addresses are used by several accounts`}</Text>
      ) : null}
    </>
  );
}
