// Invoices, for the holder of a key: create, list, read, have the chain read, simulate.
import type { invoices as list } from '../../src/api/endpoints/invoices.ts';
import { claimPage, presentClaim } from '../claims/present.ts';
import { explainAny, scopeOf } from '../explain/explain.ts';
import { inboxOf } from '../explain/inbox.ts';
import { remarkOwn } from '../explain/remark.ts';
import type { Handlers } from '../http/handler.ts';
import { checkInvoice, simulateInvoice } from '../invoices/check.ts';
import { INVOICE_CREATED } from '../invoices/create.ts';
import { ownedInvoice, ownerId } from '../invoices/find.ts';
import { invoicePage } from '../invoices/list.ts';
import { presentOwnInvoice, presentWhole } from '../invoices/present.ts';
import { sell } from '../invoices/sell.ts';

export const invoices: Handlers<typeof list> = {
  async createInvoice({ body }, { app, owner, request }) {
    const row = await sell(app, owner, body, { id: request.resource_id, request_id: request.id });
    app.log.info({ request_id: request.id, invoice_id: row.id }, INVOICE_CREATED);
    return presentOwnInvoice(row, app.config.public_url);
  },

  async listInvoices({ query }, { app, owner }) {
    const { rows, has_more, ...total } = await invoicePage(app, owner, query);
    return {
      data: rows.map((row) => presentOwnInvoice(row, app.config.public_url)),
      has_more,
      next: has_more ? (rows.at(-1)?.id ?? null) : null,
      ...total,
    };
  },

  async getInvoice({ params }, { app, owner }) {
    const row = await ownedInvoice(app, owner, params.invoice_id);
    return presentWhole(app.db.query, row, app.config.public_url);
  },

  async checkInvoice({ params }, { app, owner }) {
    const row = await checkInvoice(app, owner, params.invoice_id);
    return presentWhole(app.db.query, row, app.config.public_url);
  },

  async simulateInvoice({ params }, { app, owner }) {
    return presentOwnInvoice(await simulateInvoice(app, owner, params.invoice_id), app.config.public_url);
  },

  listClaims: ({ query }, { app, owner }) =>
    claimPage(app, { ...query, owner_id: ownerId(owner) }, presentClaim),

  explain: ({ query }, { app, ...who }) => explainAny(app, query, scopeOf(who, query.own)),

  remarkOwnPayment: ({ params, body }, { app, ...who }) =>
    remarkOwn(app, params.payment_id, body, scopeOf(who, true) ?? null),

  listInbox: (_, { app, ...who }) => inboxOf(app, scopeOf(who, true) ?? null),
};
