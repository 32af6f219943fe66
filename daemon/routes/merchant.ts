// The merchant's account: key, webhook, wallets, prepaid limit, income and events.
import { getEvent } from '../../data/events.ts';
import { balancesOf, listIncome } from '../../data/income.ts';
import * as data from '../../data/merchants.ts';
import type { MerchantRow } from '../../data/schema/tables.ts';
import { unitsOf } from '../../data/units.ts';
import type { merchant as list } from '../../src/api/endpoints/merchant.ts';
import { nextCall } from '../../src/api/project/remedies.ts';
import { type Blockchain, findBlockchain } from '../../src/chains/gateways.ts';
import { Refusal } from '../../src/errors.ts';
import { formatDecimal, formatUsd } from '../../src/money.ts';
import { webhookKey } from '../../src/webhook.ts';
import { readAddress } from '../accounts/address.ts';
import { merchantOf, newKey } from '../accounts/create.ts';
import { presentAccount, presentWallet } from '../accounts/present.ts';
import { refuseNoWallet, whyNoWallet } from '../accounts/wallet-check.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';
import { eventPage, eventStream, presentEvents } from '../events/feed.ts';
import type { Handlers } from '../http/handler.ts';
import { createInvoice } from '../invoices/create.ts';
import { checkEntries, enabledGateways, findGateway } from '../invoices/gateways.ts';
import { presentIncome, presentInvoice } from '../invoices/present.ts';
import { readBefore } from '../invoices/read-before.ts';
import { webhookSecretPurpose } from '../process/secrets.ts';
import { embedPreview, paymentPage } from '../units/embeds.ts';
import { blockchainsOf, payableGateways } from '../units/present.ts';
import { checkWebhookUrl } from '../webhooks/egress.ts';

export const merchant: Handlers<typeof list> = {
  async getMerchantAccount(_, { app, user }) {
    return presentAccount(app, await merchantOf(app, user));
  },

  async updateMerchantAccount({ body }, { app, user }) {
    const account = await merchantOf(app, user);
    const values = accountValues(app, account, body);
    if (Object.keys(values).length > 0 && !(await data.updateMerchant(app.db.query, account.id, values)))
      throw new Refusal('slug_taken');
    return presentAccount(app, { ...account, ...values });
  },

  async rotateApiKey(_, { app, user, log }) {
    const account = await merchantOf(app, user);
    const values = newKey(app.secrets, account.id);
    await data.updateMerchant(app.db.query, account.id, values);
    log.info({ merchant_id: account.id }, 'merchant key replaced');
    return presentAccount(app, { ...account, ...values });
  },

  async getMerchantWallets(_, { app, user }) {
    const account = await merchantOf(app, user);
    const wallets = await data.walletsOf(app.db.query, account.id);
    const needed = blockchainsOf(enabledGateways(app.gateways, account.enabled_currencies));
    return {
      wallets: wallets.map((wallet) => presentWallet(app, wallet)),
      missing: needed.filter((id) => !wallets.some((wallet) => wallet.blockchain === id)),
    };
  },

  async setMerchantWallet({ body }, { app, user, log }) {
    const account = await merchantOf(app, user);
    const blockchain = findEnabledBlockchain(app, body.blockchain);
    const { address, key } = readAddress(app, blockchain, body.address);
    await refuseNoWallet(app, blockchain, key);
    const wallet = {
      merchant_id: account.id,
      blockchain: blockchain.id,
      address,
      address_key: key,
      updated_at: seconds(app.clock),
    };
    await data.putWallet(app.db.query, wallet);
    log.info({ merchant_id: account.id, blockchain: blockchain.id, address }, 'receive wallet set');
    return presentWallet(app, wallet);
  },

  async getBalances(_, { app, user }) {
    const account = await merchantOf(app, user);
    const income = await balancesOf(app.db.query, account.id);
    return [
      { currency: 'USD', amount: formatUsd(account.prepaid_micros) },
      ...income.map(({ currency, amount_atomic, decimals }) => ({
        currency,
        amount: formatDecimal(BigInt(amount_atomic), decimals),
      })),
    ];
  },

  async listIncome({ query }, { app, user }) {
    const { skip, limit, from_date, to_date } = query;
    const filter = { merchant_id: user.id, skip, limit, from_date, to_date };
    const { rows, count } = await listIncome(app.db, filter);
    return { data: rows.map(presentIncome), count, skip, limit };
  },

  async getRefillWallets(_, { app }) {
    const wallets = await data.deploymentWallets(app.db.query);
    const used = new Set(blockchainsOf(app.gateways));
    return {
      wallets: wallets
        .filter(({ blockchain }) => used.has(blockchain))
        .map((wallet) => presentWallet(app, wallet)),
    };
  },

  async createRefill({ body }, { app, user, request }) {
    const account = await merchantOf(app, user);
    const gateway = findGateway(app.gateways, body.chain);
    const { blockchain, blockchain_name } = gateway;
    const wallet = await data.deploymentWallet(app.db.query, blockchain);
    if (!wallet)
      throw new Refusal('no_wallet', {
        detail: `The operator has set no refill wallet for ${blockchain_name}; GET /api/v1/merchant/refill-wallets lists those there are`,
        extra: {
          hint: 'Refill on a blockchain that has a refill wallet, or ask the operator to set one',
          next: nextCall('getRefillWallets'),
          blockchain,
        },
      });
    const refused = await whyNoWallet(app, wallet);
    if (refused !== null)
      throw new Refusal('no_wallet', {
        detail: `The refill wallet of the operator for ${blockchain_name} cannot be used: ${refused}`,
        extra: {
          hint: 'Refill on another blockchain, or ask the operator to set another wallet',
          next: nextCall('getRefillWallets'),
          blockchain,
        },
      });
    const ttl_seconds = gateway.payment_ttl_seconds;
    // Only money that comes for the refill may pay it, not what is on its way to the operator already.
    await readBefore(app, { gateway, wallet, ttl_seconds });
    const row = await createInvoice(app, {
      id: request.resource_id,
      owner_id: account.id,
      kind: 'refill',
      gateway,
      amount: body.amount ?? body.amount_usd ?? '0',
      amount_unit: body.amount === undefined ? 'usd' : body.amount_unit,
      wallet,
      ttl_seconds,
      external_ref: null,
      callback_url: null,
      unit_id: null,
      caller: null,
      label: 'Refill',
    });
    return presentInvoice(row, app.config.public_url);
  },

  async getPaymentPage(_, { app, user }) {
    const account = await merchantOf(app, user);
    const [units, wallets, payable] = await Promise.all([
      unitsOf(app.db.query, account.id),
      data.walletsOf(app.db.query, account.id),
      payableGateways(app, account),
    ]);
    return paymentPage(app, account, { units, wallets, payable });
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

  async resendEvent({ params }, { app, user }) {
    const event = await getEvent(app.db.query, params.event_id);
    if (event?.merchant_id !== user.id) throw new Refusal('event_not_found');
    await app.webhooks.resend(event.id);
    const [shown] = await presentEvents(app, [event]);
    if (!shown) throw new Refusal('event_not_found');
    return shown;
  },
};

interface AccountUpdate {
  webhook_url?: string | null | undefined;
  webhook_secret?: string | null | undefined;
  webhook_refills?: boolean | null | undefined;
  enabled_currencies?: string[] | null | undefined;
  slug?: string | null | undefined;
}

/** The columns that change. Left out is unchanged; null and an empty text remove, a null slug or flag stays. */
function accountValues(app: App, account: MerchantRow, body: AccountUpdate) {
  const values: data.MerchantChange = {};
  if (body.webhook_url !== undefined) {
    values.webhook_url = body.webhook_url || null;
    if (values.webhook_url !== null)
      checkWebhookUrl(values.webhook_url, { allow_private: app.config.webhook_allow_private });
  }
  if (body.webhook_secret !== undefined) {
    const secret = body.webhook_secret || null;
    if (secret !== null) webhookKey(secret);
    values.webhook_secret_sealed =
      secret === null ? null : app.secrets.seal(secret, webhookSecretPurpose(account.id));
  }
  if (body.webhook_refills != null) values.webhook_refills = body.webhook_refills ? 1 : 0;
  if (body.enabled_currencies !== undefined)
    values.enabled_currencies =
      body.enabled_currencies === null ? null : checkEntries(app.gateways, body.enabled_currencies);
  if (body.slug != null) values.slug = body.slug;
  return values;
}

function findEnabledBlockchain(app: App, text: string): Blockchain {
  const known = blockchainsOf(app.gateways);
  const name = text.trim().toLowerCase();
  // Whoever names a gateway means its blockchain, but a wallet is one per blockchain: they are told.
  const meant = app.gateways.find((gateway) => gateway.chain === name)?.blockchain;
  const blockchain = known.includes(name) ? findBlockchain(name) : undefined;
  if (blockchain) return blockchain;
  throw new Refusal('unknown_chain', {
    detail: meant
      ? `A wallet belongs to a blockchain: use ${meant}`
      : `Unknown or disabled blockchain; use one of ${known.join(', ')}`,
  });
}
