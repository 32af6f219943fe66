// What a buyer may do without credentials: see what can be paid with, read an invoice, cancel it, buy a unit.
import { logsOfInvoice, mainPayment } from '../../data/payments.ts';
import type { buyer as list } from '../../src/api/endpoints/buyer.ts';
import { composePayment, presentTransactionRequest } from '../checkout/compose.ts';
import { claimPayment } from '../claims/claim.ts';
import { presentFinding } from '../claims/present.ts';
import type { Handlers } from '../http/handler.ts';
import { callerOf } from '../http/limits.ts';
import { INVOICE_CREATED } from '../invoices/create.ts';
import { findPublicInvoice } from '../invoices/find.ts';
import { cancelInvoice } from '../invoices/outcome.ts';
import { presentExit, presentInvoice, presentPayment, presentPublicLog } from '../invoices/present.ts';
import { presentGateways } from '../invoices/present-gateways.ts';
import { switchInvoice } from '../invoices/switch.ts';
import { requirePublic } from '../invoices/withheld.ts';
import { presentPublicConfig } from '../settings/public.ts';
import { buyUnit } from '../units/buy.ts';
import { requireUnit } from '../units/find.ts';
import { payableGateways, presentUnit } from '../units/present.ts';

export const buyer: Handlers<typeof list> = {
  listGateways: (_, { app }) => presentGateways(app),
  getPublicConfig: (_, { app }) => presentPublicConfig(app),
  getPublicInvoice: ({ params }, { app }) => app.public_invoices.get(params.invoice_id),

  async getInvoicePayment({ params }, { app }) {
    const invoice = await findPublicInvoice(app, params.invoice_id);
    const payment = await mainPayment(app.db.query, invoice.id);
    const logs = await logsOfInvoice(app.db.query, invoice.id);
    return { payment: payment ? presentPayment(payment, invoice) : null, logs: logs.map(presentPublicLog) };
  },

  async cancelInvoice({ params }, { app }) {
    const row = await cancelInvoice(app, params.invoice_id);
    requirePublic(app, row);
    return presentInvoice(row, app.config.public_url);
  },

  async switchInvoice({ params, body }, { app, log }) {
    const row = await switchInvoice(app, params.invoice_id, body.chain);
    log.info({ invoice_id: row.id, chain: row.chain }, 'invoice switched');
    return presentInvoice(row, app.config.public_url);
  },

  async claimPayment({ params, body }, { app, request }) {
    const claim = { text: body.txid ?? null, ip: request.ip };
    return presentFinding(app, await claimPayment(app, params.invoice_id, claim));
  },

  getTransactionRequest: ({ params }, { app }) => presentTransactionRequest(app, params.invoice_id),
  composePayment: ({ params, body }, { app, request }) =>
    composePayment(app, params.invoice_id, { account: body.account, ip: request.ip }),

  async getWebExit({ params }, { app }) {
    return presentExit(await findPublicInvoice(app, params.invoice_id), 'web');
  },

  async getTgExit({ params }, { app }) {
    return presentExit(await findPublicInvoice(app, params.invoice_id), 'tg');
  },

  async getUnit({ params }, { app }) {
    const { unit, merchant } = await requireUnit(app, params);
    return presentUnit(app, unit, merchant, await payableGateways(app, merchant));
  },

  async checkoutUnit({ params, body }, { app, request, log }) {
    // A program that sells to many has one address: its buyer is known where it says who that is. A reference may name what is sold.
    const is_named = request.resource_id === null && body.customer_email;
    const buyer = is_named ? callerOf(app, request.ip) : null;
    const row = await buyUnit(app, params, { ...body, buyer, request });
    if (row.request_id === request.id) log.info({ invoice_id: row.id }, INVOICE_CREATED);
    return presentInvoice(row, app.config.public_url);
  },
};
