// The operator's endpoints; what each does stands in daemon/admin.
import type { admin as list } from '../../src/api/endpoints/admin.ts';
import { closeOne, contradictionPage } from '../admin/contradictions.ts';
import { creditMerchant } from '../admin/credit.ts';
import { daemonList, drainOne } from '../admin/daemons.ts';
import { dashboard } from '../admin/dashboard.ts';
import { adminEventPage } from '../admin/events.ts';
import { setHouse } from '../admin/house.ts';
import { merchantDetail, merchantPage } from '../admin/merchants.ts';
import { presentObservers } from '../admin/observers.ts';
import { listPayments, paymentDetail } from '../admin/payments.ts';
import { refillWallets, setRefillWallet } from '../admin/refill-wallets.ts';
import { remarkPayment, resolvePayment } from '../admin/resolve.ts';
import { lookUpTransaction } from '../admin/transaction.ts';
import { adminUnitPage } from '../admin/units.ts';
import { claimPage, presentAdminClaim } from '../claims/present.ts';
import type { Handlers } from '../http/handler.ts';
import { deploymentSecret } from '../process/secrets.ts';

export const admin: Handlers<typeof list> = {
  getAdminDashboard: (_, { app }) => dashboard(app),
  listAdminMerchants: ({ query }, { app }) => merchantPage(app, query),
  getAdminMerchant: ({ params }, { app }) => merchantDetail(app, params.user_id),
  setHouse: ({ params, body }, context) => setHouse(context, params.user_id, body),
  creditMerchant: ({ params, body }, context) => creditMerchant(context, params.user_id, body),
  getAdminRefillWallets: (_, { app }) => refillWallets(app),
  setAdminRefillWallet: ({ body }, context) => setRefillWallet(context, body),
  getWebhookSecret: (_, { app }) => ({ webhook_secret: deploymentSecret(app) }),
  listObservers: (_, { app }) => presentObservers(app),
  listAdminPayments: ({ query }, { app }) => listPayments(app, query),
  getAdminPayment: ({ params }, { app }) => paymentDetail(app, params.invoice_id),
  resolvePayment: ({ params, body }, context) => resolvePayment(context, params.invoice_id, body),
  remarkPayment: ({ params, body }, context) => remarkPayment(context, params.invoice_id, body),
  lookUpTransaction: ({ params }, { app }) => lookUpTransaction(app, params.invoice_id, params.txid),
  listAdminClaims: ({ query }, { app }) => claimPage(app, query, presentAdminClaim),
  listDaemons: (_, { app }) => daemonList(app),
  drainDaemon: ({ params }, context) => drainOne(context, params.daemon_id),
  listAdminEvents: ({ query }, { app }) => adminEventPage(app, query),
  listAdminUnits: ({ query }, { app }) => adminUnitPage(app, query),
  listContradictions: ({ query }, { app }) => contradictionPage(app, query),
  closeContradiction: ({ params, body }, context) => closeOne(context, params.contradiction_id, body.note),
};
