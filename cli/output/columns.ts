// What a person is shown of each reply, and the examples that say more than the description's own.
import type { CallReply } from '../../src/api/client/call.ts';
import type { EndpointId } from '../../src/api/endpoints/api.ts';
import type { getInvoicePayment } from '../../src/api/endpoints/buyer.ts';
import type { getBalances } from '../../src/api/endpoints/merchant.ts';
import type { Account } from './account-card.ts';
import type { Card } from './card.ts';
import type { Explanation } from './explain-card.ts';
import type { Invoice } from './invoice-card.ts';
import type { PaymentDetail } from './payment-card.ts';
import type { View } from './view.ts';

export interface Presented extends View {
  /** In place of those made of the description's example. */
  examples?: readonly string[];
}

const invoice = ['id', 'status', 'chain', 'amount', 'amount_usd', 'external_ref', 'created_at'];
const deployment_wallet = ['blockchain', 'address', 'network', 'note', 'updated_at'];

/** Loaded where it is shown. */
const paymentDetailCard = async (detail: PaymentDetail, now_s: number) =>
  (await import('./payment-card.ts')).paymentCard(detail, now_s);

export const invoiceView = async (one: Invoice, now_s: number) =>
  (await import('./invoice-card.ts')).invoiceCard(one, now_s);

const accountView = async (account: Account, now_s: number) =>
  (await import('./account-card.ts')).accountCard(account, now_s);

/** The first balance is what is prepaid; the others are what sales brought in. */
async function balanceCard([prepaid, ...income]: CallReply<typeof getBalances>): Promise<Card> {
  const { coins, dollars } = await import('./money.ts');
  return {
    headline: `${dollars(prepaid?.amount ?? '0')} prepaid`,
    status: '',
    sections: [
      { title: 'income', rows: income.map(({ currency, amount }) => ['', coins(amount, currency)]) },
    ],
  };
}

export const presented: Partial<Record<EndpointId, Presented>> = {
  listGateways: {
    columns: [
      'chain',
      'currency',
      'name',
      'network',
      'min_confirmations',
      'payment_ttl_seconds',
      'supports_memo',
      'available',
    ],
    examples: ['gw gateways', 'gw gateways --json chain,currency,min_confirmations'],
  },
  listInvoices: {
    columns: invoice,
    empty: 'make one: gw invoice create --chain CHAIN --amount USD',
    since: 'created_at',
    examples: [
      'gw invoice list --status created',
      'gw invoice list --search order-1001',
      'gw invoices --all --json id,status,amount',
      'gw invoices --all --csv > invoices.csv',
      `gw invoices --jq '.data[] | select(.status == "confirmed") | .id'`,
      "gw invoices --template '{{.external_ref}} {{.amount}} {{.currency}}'",
      'gw invoice list --external-ref order-1001 --json',
    ],
  },
  getInvoice: {
    card: invoiceView,
    examples: ['gw invoice get INVOICE_ID', 'gw invoice get INVOICE_ID --json status,txid'],
  },
  checkInvoice: {
    card: invoiceView,
    examples: ['gw invoice check INVOICE_ID', 'gw invoice check INVOICE_ID --json status,confirmations'],
  },
  simulateInvoice: { card: invoiceView, columns: ['id', 'status', 'amount', 'currency', 'txid', 'paid_at'] },
  cancelInvoice: { card: invoiceView, columns: ['id', 'status', 'amount', 'currency', 'external_ref'] },
  getPublicInvoice: { card: invoiceView },
  getInvoicePayment: {
    card: async (reply: CallReply<typeof getInvoicePayment>, now_s: number) =>
      (await import('./invoice-card.ts')).receivedCard(reply, now_s),
    columns: [
      'payment.status',
      'payment.received_amount',
      'payment.currency',
      'payment.amount_match',
      'payment.confirmations',
      'payment.min_confirmations',
      'payment.txid',
      'payment.updated_at',
    ],
  },
  explain: {
    list: 'none',
    card: async (reply: Explanation, now_s: number) =>
      (await import('./explain-card.ts')).explainCard(reply, now_s),
    columns: ['query', 'story.summary', 'story.moments', 'matches', 'story.next', 'next'],
    lines: {
      'story.moments': ['at', 'kind', 'text'],
      matches: ['kind', 'id', 'status', 'amount', 'currency', 'about'],
      'story.next': ['command', 'why'],
      next: ['command', 'why'],
    },
    examples: ['gw explain order-1001', 'gw explain 1a2b3c4d', 'gw explain MEMO --json story'],
  },
  getUnit: { examples: ['gw unit get UNIT_ID', 'gw unit get UNIT_ID --json chains'] },
  checkoutUnit: {
    examples: ['gw unit checkout ID --chain CHAIN', 'gw unit checkout ID --chain CHAIN --json id,pay_url'],
  },
  listUnits: {
    columns: ['id', 'title', 'amount_usd', 'currencies', 'active', 'page_url'],
    empty: 'make one: gw unit create',
    examples: ['gw unit list', 'gw units --json id,title,page_url'],
  },
  createUnit: {
    examples: [
      'gw unit create --title Coffee --amount-usd 4.50 --currencies TON,USDT',
      `echo '{"title":"Tea","amount_usd":"3","currencies":["TON"]}' | gw unit create -f - --json`,
    ],
  },
  updateUnit: {
    examples: [
      'gw unit update UNIT_ID --amount-usd 5.00',
      'gw unit update UNIT_ID --no-active --json active',
      'gw unit update UNIT_ID --unset description',
    ],
  },
  getMerchantAccount: {
    examples: ['gw account get', 'gw account get --json api_key,limit_of_payments'],
    card: accountView,
    secrets: ['api_key', 'webhook_secret'],
  },
  updateMerchantAccount: {
    card: accountView,
    secrets: ['api_key', 'webhook_secret'],
    examples: [
      'gw account update --webhook-url https://shop.example.com/hooks --webhook-secret -',
      'gw account update --enabled-currencies TON,USDT --json',
      'gw account update --unset webhook-url',
    ],
  },
  rotateApiKey: { columns: ['slug', 'api_key'] },
  getPaymentPage: {
    list: 'units',
    columns: ['title', 'amount_usd', 'active', 'chains', 'page_url'],
    examples: ['gw account pages', 'gw account pages --json ready,problems'],
  },
  getEmbedPreview: { list: 'snippets', columns: ['id', 'unit_id', 'html'] },
  getBalances: { card: balanceCard, columns: ['currency', 'amount'] },
  getMerchantWallets: {
    columns: ['blockchain', 'address', 'currencies', 'network', 'updated_at'],
    empty: 'say where you are paid: gw wallet set BLOCKCHAIN ADDRESS',
    examples: ['gw wallet list', 'gw wallet list --json missing'],
  },
  setMerchantWallet: {
    // Its warning goes to stderr, whatever command sets a wallet.
    columns: ['blockchain', 'blockchain_name', 'address', 'network', 'currencies', 'updated_at', 'also'],
    lines: { also: [] },
    examples: [
      'gw wallet set BLOCKCHAIN ADDRESS',
      'gw wallet set --blockchain BLOCKCHAIN --address ADDRESS --json',
    ],
  },
  getRefillWallets: { columns: ['blockchain', 'address', 'currencies', 'network'] },
  listIncome: {
    since: 'created_at',
    empty: 'sales stand here once they are confirmed: gw invoice list',
    columns: ['created_at', 'amount', 'currency', 'chain', 'fee_charged', 'webhook_status', 'invoice_id'],
    examples: ['gw income', 'gw income list --from-date 2026-01-01 --limit 100 --json'],
  },
  listEvents: {
    since: 'timestamp',
    columns: [
      'id',
      'type',
      'timestamp',
      'data.invoice.id',
      'data.invoice.status',
      'data.invoice.external_ref',
    ],
    empty: 'the first comes with the first invoice: gw invoice create',
  },
  resendEvent: {
    columns: ['id', 'type', 'timestamp', 'deliveries'],
    lines: { deliveries: ['finished_at', 'kind', 'status', 'http_status', 'error'] },
  },
  getFigures: {
    list: 'days',
    columns: ['day', 'sales', 'volume_usd'],
    examples: ['gw dashboard', 'gw dashboard --json days'],
  },
  listLedger: {
    since: 'created_at',
    columns: ['created_at', 'kind', 'amount_usd', 'balance_usd', 'invoice_id', 'note', 'owner_slug'],
    examples: ['gw ledger', 'gw ledger list --all --csv > ledger.csv', 'gw ledger --json kind,amount_usd'],
  },
  listAdminEvents: {
    since: 'timestamp',
    columns: ['id', 'type', 'timestamp', 'owner_slug', 'data.invoice.id', 'data.invoice.status'],
    examples: ['gw admin events', 'gw admin events --undelivered --json id,type,deliveries'],
  },
  listAdminUnits: {
    since: 'created_at',
    columns: ['id', 'title', 'owner_slug', 'amount_usd', 'currencies', 'active', 'page_url'],
    examples: ['gw admin units', 'gw admin units --json id,title,owner_slug'],
  },
  detectIdentitySource: {
    examples: ['gw user identity-source ada@example.com', 'gw user identity-source 12345 --json source'],
  },
  recoverPassword: {
    examples: ['gw password recover ada@example.com', 'gw password recover ada@example.com --json'],
  },
  resetPassword: {
    examples: ['gw password reset', 'gw password reset --recovery-token TOKEN --new-password - --json'],
  },
  updateMyPassword: {
    examples: ['gw password change', 'gw password change --current-password - --json'],
  },
  updateMe: {
    examples: ["gw user update-me --full-name 'Ada Lovelace'", 'gw user update-me --unset full-name --json'],
  },
  deleteMe: { examples: ['gw user delete-me', 'gw user delete-me --yes --json'] },
  deleteUnit: { examples: ['gw unit delete UNIT_ID', 'gw unit delete UNIT_ID --yes --json'] },
  deleteUser: { examples: ['gw user delete USER_ID', 'gw user delete USER_ID --yes --json'] },
  updateUser: {
    examples: ['gw user update USER_ID --no-is-active', 'gw user update USER_ID --password - --json'],
  },
  listUsers: {
    columns: ['id', 'email', 'full_name', 'is_active', 'is_superuser', 'source', 'created_at'],
    examples: ['gw user list', 'gw users --limit 10 --json id,email'],
  },
  getResetPage: { examples: ['gw page reset --output reset.html', 'gw page reset --json'] },
  getDocs: { examples: ['gw discovery docs --output docs.html', 'gw discovery docs --json'] },
  getRedoc: { examples: ['gw discovery redoc --output redoc.html', 'gw discovery redoc --json'] },
  getCatalog: {
    columns: ['id', 'kind', 'title', 'summary', 'auth'],
    examples: ['gw catalog --kind flow', 'gw catalog --brief --json id,summary'],
  },
  searchCatalog: {
    columns: ['id', 'kind', 'title', 'snippet'],
    examples: ["gw search 'create an invoice'", "gw search 'refund' --limit 3 --json id,call"],
  },
  getAdminDashboard: {
    list: 'none',
    columns: [
      'network',
      'version',
      'merchants',
      'units',
      'invoices.created',
      'invoices.confirmed',
      'invoices.expired',
      'invoices.cancelled',
      'invoices.failed',
      'volume_usd.day',
      'volume_usd.week',
      'volume_usd.month',
      'volume_usd.total',
      'fees_usd.total',
      'prepaid_usd',
      'attention.held',
      'attention.late',
      'attention.unmatched',
      'attention.orphaned',
      'attention.webhooks_failed',
      'attention.webhooks_unknown',
      'attention.contradictions',
      'attention.accounts_behind',
      'attention.unreadable_assets',
      'shared_addresses',
      'clock.message',
    ],
  },
  listAdminMerchants: {
    columns: [
      'user_id',
      'slug',
      'email',
      'limit_of_payments',
      'confirmed_usd',
      'confirmed_invoices',
      'last_invoice_at',
    ],
    examples: ['gw admin merchants', 'gw admin merchants --q ada --json user_id,limit_of_payments'],
  },
  getAdminMerchant: {
    list: 'none',
    columns: [
      'merchant.slug',
      'merchant.email',
      'merchant.is_active',
      'merchant.house',
      'merchant.prepaid_usd',
      'merchant.limit_of_payments',
      'merchant.confirmed_usd',
      'merchant.fees_usd',
      'merchant.wallets',
      'webhook_url',
      'webhook_refills',
      'enabled_currencies',
    ],
  },
  setHouse: {
    columns: ['slug', 'email', 'house', 'prepaid_usd', 'limit_of_payments', 'fees_usd'],
    examples: ["gw admin house USER_ID --note 'our own shop'", 'gw admin house USER_ID --no-house --json'],
  },
  creditMerchant: {
    columns: ['merchant.slug', 'prepaid_usd', 'limit_of_payments', 'entry.seq', 'entry.note'],
    examples: [
      "gw admin credit USER_ID 25 --note 'welcome credit'",
      'gw admin credit USER_ID 25 --yes --json',
    ],
  },
  getAdminRefillWallets: { columns: deployment_wallet },
  setAdminRefillWallet: {
    columns: deployment_wallet,
    examples: [
      "gw admin refill-wallet set BLOCKCHAIN ADDRESS --note 'cold wallet'",
      "gw admin refill-wallet set BLOCKCHAIN '' --yes --json",
    ],
  },
  listObservers: {
    columns: [
      'blockchain',
      'status',
      'provider',
      'tip_height',
      'cursor_height',
      'lag_seconds',
      'watched_addresses',
      'late_count',
      'unmatched_count',
      'contradictions',
      'last_error',
    ],
  },
  listAdminPayments: {
    since: 'created_at',
    columns: [
      'id',
      'status',
      'payment_status',
      'chain',
      'amount',
      'amount_usd',
      'owner_slug',
      'external_ref',
      'created_at',
    ],
  },
  getAdminPayment: {
    list: 'none',
    card: paymentDetailCard,
    columns: [
      'payment.id',
      'payment.status',
      'payment.payment_status',
      'payment.owner_slug',
      'payment.chain',
      'payment.amount',
      'payment.received_amount',
      'payment.amount_match',
      'payment.txid',
      'payment.confirmations',
      'payment.created_at',
      'payment.expires_at',
      'payment.paid_at',
    ],
  },
  resolvePayment: {
    list: 'none',
    card: paymentDetailCard,
    columns: ['payment.id', 'payment.status', 'payment.payment_status', 'payment.amount', 'payment.txid'],
  },
  remarkPayment: {
    list: 'none',
    card: paymentDetailCard,
    columns: [
      'payment.id',
      'payment.status',
      'payment.txid',
      'payment.dismissed.by',
      'payment.dismissed.note',
    ],
    examples: [
      "gw admin note ID 'sent back by hand' --dismissed",
      "gw admin note ID 'it was no test after all' --no-dismissed",
      "gw admin note ID 'the buyer asked by mail' --json",
    ],
  },
  remarkOwnPayment: {
    list: 'none',
    columns: ['payment.id', 'payment.status', 'payment.txid', 'dismissed.by', 'dismissed.note'],
    examples: [
      "gw payment note ID 'sent back by hand' --dismissed",
      "gw payment note ID 'it was no top-up after all' --no-dismissed",
      "gw payment note ID 'the buyer asked by mail' --json",
    ],
  },
  lookUpTransaction: {
    list: 'none',
    columns: [
      'found',
      'source',
      'received_amount',
      'amount',
      'amount_match',
      'currency',
      'booked_invoice_ids',
    ],
  },
  listContradictions: {
    list: 'data',
    columns: ['id', 'kind', 'blockchain', 'count', 'created_at', 'invoice_id', 'txid', 'details'],
    empty: 'the sources agree',
    examples: ['gw admin contradictions', 'gw admin contradictions --no-open --json id,kind,details'],
  },
  closeContradiction: { columns: ['id', 'kind', 'closed_at', 'closed_by', 'note'] },
  listDaemons: {
    list: 'daemons',
    columns: ['id', 'host', 'status', 'version', 'started_at', 'last_seen_at', 'reads', 'delivering'],
    examples: ['gw admin daemons', 'gw admin daemons --json id,status,reads'],
  },
  drainDaemon: { list: 'none', columns: ['id', 'host', 'status', 'draining_at'] },
  testEmail: {
    examples: ['gw admin test-email operator@example.com', 'gw admin test-email operator@example.com --json'],
  },
};
