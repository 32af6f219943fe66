// The merchant's account: key, webhook, wallets, prepaid limit, income and events.
import { balancesOf, listIncome } from '../../data/income.ts';
import { walletsOf } from '../../data/merchants.ts';
import { unitsOf } from '../../data/units.ts';
import type { merchant as list } from '../../src/api/endpoints/merchant.ts';
import { tellSoon } from '../accounts/changed.ts';
import { merchantOf } from '../accounts/create.ts';
import { exportPage } from '../accounts/export.ts';
import { figuresOf, ledgerPage } from '../accounts/figures.ts';
import { presentAccount, presentBalances, presentWallet } from '../accounts/present.ts';
import { rotateKey, updateAccount } from '../accounts/update.ts';
import { refillWallets, setWallet, walletsAndMissing } from '../accounts/wallets.ts';
import { languageOfRequest } from '../checkout/language.ts';
import { eventPage, eventStream, resendEvent } from '../events/feed.ts';
import { scopeOf } from '../explain/explain.ts';
import type { Handlers } from '../http/handler.ts';
import { INVOICE_CREATED } from '../invoices/create.ts';
import { presentIncome, presentInvoice } from '../invoices/present.ts';
import { refill } from '../invoices/refill.ts';
import { embedPreview, paymentPagePreview } from '../units/embeds.ts';
import { payableGateways } from '../units/present.ts';

export const merchant: Handlers<typeof list> = {
  async getMerchantAccount(_, { app, user }) {
    return presentAccount(app, await merchantOf(app, user));
  },

  async updateMerchantAccount({ body }, { app, user }) {
    return presentAccount(app, await updateAccount(app, await merchantOf(app, user), body));
  },

  async rotateApiKey({ query: { grace = 0 } }, { app, user, log, request }) {
    const account = await rotateKey(app, await merchantOf(app, user), grace);
    log.info({ merchant_id: account.id, grace_seconds: grace }, 'merchant key replaced');
    tellSoon(app, user, { what: 'key', log, lang: languageOfRequest(request.headers) });
    return presentAccount(app, account);
  },

  async getMerchantWallets(_, { app, user }) {
    const { wallets, missing } = await walletsAndMissing(app, await merchantOf(app, user));
    return { wallets: wallets.map((wallet) => presentWallet(app, wallet)), missing };
  },

  async setMerchantWallet({ body }, { app, user, log }) {
    const { wallets, warning } = await setWallet(app, await merchantOf(app, user), body);
    for (const { merchant_id, blockchain, address } of wallets)
      log.info({ merchant_id, blockchain, address }, 'receive wallet set');
    const [wallet, ...also] = wallets;
    return { ...presentWallet(app, wallet), also: also.map(({ blockchain }) => blockchain), warning };
  },

  async getBalances(_, { app, user }) {
    const account = await merchantOf(app, user);
    return presentBalances(account, await balancesOf(app.db.query, account.id));
  },

  async listIncome({ query }, { app, user }) {
    const { skip, limit, from_date, to_date } = query;
    const filter = { merchant_id: user.id, skip, limit, from_date, to_date };
    const { rows, count } = await app.db.readList((on) => listIncome(on, filter));
    return { data: rows.map(presentIncome), count, skip, limit };
  },

  async getRefillWallets(_, { app }) {
    return { wallets: (await refillWallets(app)).map((wallet) => presentWallet(app, wallet)) };
  },

  async createRefill({ body }, { app, user, request, log }) {
    const row = await refill(app, await merchantOf(app, user), {
      id: request.resource_id,
      request_id: request.id,
      chain: body.chain,
      amount: body.amount ?? body.amount_usd ?? '0',
      amount_unit: body.amount === undefined ? 'usd' : body.amount_unit,
    });
    log.info({ invoice_id: row.id }, INVOICE_CREATED);
    return presentInvoice(row, app.config.public_url);
  },

  async getPaymentPage(_, { app, user }) {
    const account = await merchantOf(app, user);
    const [units, wallets, payable] = await Promise.all([
      unitsOf(app.db.query, account.id),
      walletsOf(app.db.query, account.id),
      payableGateways(app, account),
    ]);
    return paymentPagePreview(app, account, { units, wallets, payable });
  },

  async getEmbedPreview(_, { app, user }) {
    return embedPreview(app.config.public_url, await unitsOf(app.db.query, user.id));
  },

  async listEvents({ query }, { app, user, request }) {
    const accept = request.headers.get('accept') ?? '';
    return accept.includes('text/event-stream')
      ? eventStream(app, user, query, request)
      : eventPage(app, user.id, query);
  },

  resendEvent: ({ params }, { app, user }) => resendEvent(app, user, params.event_id),

  exportAccount: ({ query }, { app, user }) => exportPage(app, user, query),

  getFigures: ({ query }, { app, ...who }) => figuresOf(app, scopeOf(who, query.own)),

  listLedger: ({ query }, { app, ...who }) => ledgerPage(app, scopeOf(who, query.own), query),
};
