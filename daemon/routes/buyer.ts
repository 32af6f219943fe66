// What a buyer may do without credentials: see what can be paid with, read an invoice, cancel it, buy a unit.
import { getInvoice } from '../../data/invoices.ts';
import { logsOfInvoice, mainPayment } from '../../data/payments.ts';
import type { InvoiceRow } from '../../data/schema/tables.ts';
import type { buyer as list } from '../../src/api/endpoints/buyer.ts';
import { API_VERSION } from '../../src/api/project/openapi.ts';
import type { Gateway } from '../../src/chains/family.ts';
import { Refusal } from '../../src/errors.ts';
import { REFILL_CREDIT_MULTIPLIER } from '../../src/ledger.ts';
import { MAX_UNITS } from '../../src/limits.ts';
import { MEMO_LENGTH } from '../../src/memo.ts';
import { formatDecimal } from '../../src/money.ts';
import { PLATFORM_FEE_PERCENT, PLATFORM_FEE_RATE } from '../accounts/present.ts';
import type { App } from '../context.ts';
import type { Handlers } from '../http/handler.ts';
import { presentInvoice, presentLog, presentPayment } from '../invoices/present.ts';
import { publicInvoice } from '../invoices/public.ts';
import { apply } from '../settle/settle.ts';
import { settledAs } from './invoices.ts';
import { unitCheckout } from './unit-checkout.ts';

/** The smallest USD amount told apart. */
const USD_PRECISION = '0.000001';

export const buyer: Handlers<typeof list> = {
  listGateways(_, { app }) {
    const data = app.gateways.map((gateway) => presentGateway(app, gateway));
    const { network, service_fee_percent } = app.config;
    return {
      data,
      groups: groupByBlockchain(data),
      count: data.length,
      network,
      service_fee_percent,
      default_fiat: 'USD',
      usd_precision: USD_PRECISION,
      memo_length: MEMO_LENGTH,
    };
  },

  getPublicConfig(_, { app }) {
    const { config } = app;
    return {
      version: API_VERSION,
      network: config.network,
      demo_mode: config.demo,
      public_base_url: config.public_url,
      default_fiat: 'USD',
      usd_precision: USD_PRECISION,
      memo_length: MEMO_LENGTH,
      service_fee_percent: config.service_fee_percent,
      platform_fee_rate: PLATFORM_FEE_RATE,
      platform_fee_percent: PLATFORM_FEE_PERCENT,
      refill_credit_multiplier: REFILL_CREDIT_MULTIPLIER.toString(),
      max_payment_units: MAX_UNITS,
      rates: app.rates.status().source,
      google_login: config.google.client_id !== undefined,
      google_client_id: config.google.client_id ?? null,
      telegram_login: config.telegram.bot_token !== undefined,
    };
  },

  getPublicInvoice: ({ params }, { app }) => publicInvoice(app, params.invoice_id),

  async getInvoicePayment({ params }, { app }) {
    const invoice = await find(app, params.invoice_id);
    const payment = await mainPayment(app.db.query, invoice.id);
    const logs = await logsOfInvoice(app.db.query, invoice.id);
    return { payment: payment ? presentPayment(payment, invoice) : null, logs: logs.map(presentLog) };
  },

  async cancelInvoice({ params }, { app }) {
    const outcome = await apply(app, params.invoice_id, { fact: { kind: 'cancel' }, actor: 'buyer' });
    return presentInvoice(settledAs('cancelled', outcome), app.config.public_url);
  },

  async getWebExit({ params }, { app }) {
    return exitOf(await find(app, params.invoice_id), 'web');
  },

  async getTgExit({ params }, { app }) {
    return exitOf(await find(app, params.invoice_id), 'tg');
  },

  ...unitCheckout,
};

async function find(app: App, id: string): Promise<InvoiceRow> {
  const invoice = await getInvoice(app.db.query, id);
  if (!invoice) throw new Refusal('invoice_not_found');
  return invoice;
}

function exitOf(row: InvoiceRow, kind: 'web' | 'tg') {
  const links = row.exits;
  return {
    url: links[kind] ?? null,
    links,
    address: row.address,
    amount: formatDecimal(BigInt(row.amount_atomic), row.decimals),
    memo: row.memo,
    chain: row.chain,
    currency: row.currency,
  };
}

function presentGateway(app: App, gateway: Gateway) {
  const { payable_decimals: _, unique_amount: __, confirmations_by_value, ...shown } = gateway;
  const { steps, least } = confirmations_by_value ?? { steps: [], least: 0 };
  const confirmations = steps.map(({ below_usd = null, blocks }) => ({
    below_usd,
    blocks: Math.max(least, blocks),
  }));
  return { ...shown, confirmations, logo_url: logoUrl(app, gateway.currency) };
}

const logoUrl = (app: App, name: string): string =>
  `${app.config.public_url}/logos/${name.toLowerCase()}.svg`;

function groupByBlockchain(data: ReturnType<typeof presentGateway>[]) {
  return [...new Set(data.map((gateway) => gateway.blockchain))].flatMap((id) => {
    const currencies = data.filter((gateway) => gateway.blockchain === id);
    const [first] = currencies;
    if (!first) return [];
    const native = currencies.find((gateway) => !gateway.is_token) ?? first;
    return { id, name: first.blockchain_name, logo_url: native.logo_url, network: first.network, currencies };
  });
}
