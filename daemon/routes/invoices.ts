// Invoices, for the holder of a key: create, list, read, look at the chain, simulate.
import * as data from '../../data/invoices.ts';
import { deploymentWallet, deploymentWallets, getMerchant, getWallet } from '../../data/merchants.ts';
import type { InvoiceRow } from '../../data/schema/tables.ts';
import type { invoices as list } from '../../src/api/endpoints/invoices.ts';
import { nextCall } from '../../src/api/project/remedies.ts';
import { type Gateway, ProviderError } from '../../src/chains/family.ts';
import { Refusal } from '../../src/errors.ts';
import type { InvoiceStatus } from '../../src/invoice.ts';
import { limitOf, missingPrepaid } from '../../src/ledger.ts';
import { formatUsd } from '../../src/money.ts';
import { whyNoWallet } from '../accounts/wallet-check.ts';
import type { App } from '../context.ts';
import type { Handlers, Owner } from '../http/handler.ts';
import { createInvoice } from '../invoices/create.ts';
import { enabledGateways, findGateway } from '../invoices/gateways.ts';
import { presentInvoice } from '../invoices/present.ts';
import { apply, type Outcome } from '../settle/settle.ts';
import { checkWebhookUrl } from '../webhooks/egress.ts';

/** Longest label that wallets are handed. */
const MAX_LABEL = 64;

export const invoices: Handlers<typeof list> = {
  async createInvoice({ body }, { app, owner, request }) {
    if (body.callback_url)
      checkWebhookUrl(body.callback_url, { allow_private: app.config.webhook_allow_private });
    const gateway = gatewayFor(app, owner, body.chain);
    const row = await createInvoice(app, {
      id: request.resource_id,
      owner_id: ownerId(owner),
      kind: 'sale',
      gateway,
      amount: body.amount,
      amount_unit: body.amount_unit,
      wallet: await walletFor(app, ownerId(owner), gateway),
      ttl_seconds: gateway.payment_ttl_seconds,
      external_ref: body.external_ref ?? null,
      callback_url: body.callback_url ?? null,
      unit_id: null,
      caller: null,
      label: (owner.kind === 'merchant' ? owner.merchant.slug : 'gatewayd').slice(0, MAX_LABEL),
    });
    return present(app, row);
  },

  async listInvoices({ query }, { app, owner }) {
    const { limit, after, external_ref } = query;
    const status = query.status === 'settled' ? 'confirmed' : query.status;
    if (after !== undefined) await owned(app, owner, after);
    const owner_id = ownerId(owner);
    const rows = await data.listInvoices(app.db.query, {
      owner_id,
      status,
      external_ref,
      after,
      limit: limit + 1,
    });
    const page = rows.slice(0, limit);
    const has_more = rows.length > limit;
    return {
      data: page.map((row) => present(app, row)),
      has_more,
      next: has_more ? (page.at(-1)?.id ?? null) : null,
    };
  },

  async getInvoice({ params }, { app, owner }) {
    return present(app, await owned(app, owner, params.invoice_id));
  },

  async checkInvoice({ params }, { app, owner }) {
    const invoice = await owned(app, owner, params.invoice_id);
    if (invoice.status !== 'created') return present(app, invoice);
    await app.observer.poll(invoice.blockchain, [invoice]).catch(async (error: unknown) => {
      // A short limit is the caller's to mend, and is told also while the chain cannot be reached.
      // Read anew: it may have been booked in the meantime.
      if (error instanceof ProviderError)
        await refuseShortLimit(app, await owned(app, owner, params.invoice_id));
      throw error;
    });
    const outcome = await apply(app, invoice.id, { fact: { kind: 'evaluate' }, actor: 'merchant' });
    if (!outcome) throw new Refusal('invoice_not_found');
    await refuseShortLimit(app, outcome.invoice);
    return present(app, outcome.invoice);
  },

  async simulateInvoice({ params }, { app, owner }) {
    const invoice = await owned(app, owner, params.invoice_id);
    if (app.config.network !== 'testnet' || !app.config.demo) throw new Refusal('demo_off');
    const outcome = await apply(app, invoice.id, {
      fact: { kind: 'simulate' },
      actor: 'merchant',
      note: 'simulated: no coin moved',
    });
    return present(app, settledAs('confirmed', outcome));
  },
};

const present = (app: App, row: InvoiceRow) => presentInvoice(row, app.config.public_url);

export const ownerId = (owner: Owner): string | null =>
  owner.kind === 'merchant' ? owner.merchant.id : null;

/** An invoice of this owner; another's is answered like an absent one. */
async function owned(app: App, owner: Owner, id: string): Promise<InvoiceRow> {
  const invoice = await data.getInvoice(app.db.query, id);
  if (!invoice || invoice.owner_id !== ownerId(owner)) throw new Refusal('invoice_not_found');
  return invoice;
}

function gatewayFor(app: App, owner: Owner, chain: string): Gateway {
  if (owner.kind === 'platform') return findGateway(app.gateways, chain);
  return findGateway(enabledGateways(app.gateways, owner.merchant.enabled_currencies), chain);
}

/** What whoever asked can do about a missing wallet; hint and next where they are not those of `no_wallet`. */
const walletMends = {
  owner: { mend: 'set it with PUT /api/v1/merchant/wallets' },
  platform: {
    mend: 'the operator sets it with PUT /api/v1/admin/refill-wallets',
    next: nextCall('setAdminRefillWallet'),
  },
  buyer: {
    mend: 'its merchant has to set one',
    hint: 'Take another of the `chains` of the unit, or tell its merchant',
    next: nextCall('getUnit'),
  },
};

/**
 * Where the owner is paid on the gateway's blockchain; null is the deployment. Refuses with `no_wallet`, in words for
 * `asker`, where there is none or the chain knows that it is no wallet.
 */
export async function walletFor(
  app: App,
  owner_id: string | null,
  gateway: Gateway,
  asker: 'owner' | 'buyer' = 'owner',
) {
  const { blockchain, blockchain_name } = gateway;
  const wallet =
    owner_id === null
      ? await deploymentWallet(app.db.query, blockchain)
      : await getWallet(app.db, owner_id, blockchain);
  const refused = wallet ? await whyNoWallet(app, wallet) : null;
  if (wallet && refused === null) return wallet;
  const { mend, ...extra } =
    walletMends[asker === 'buyer' ? 'buyer' : owner_id === null ? 'platform' : 'owner'];
  throw new Refusal('no_wallet', {
    detail: refused
      ? `The receive wallet for ${blockchain_name} cannot be used: ${refused}; ${mend}`
      : `No receive wallet is set for ${blockchain_name}; ${mend}`,
    extra: { ...extra, blockchain },
  });
}

/** The invoice after a fact that may be refused. */
export function settled(outcome: Outcome | undefined): InvoiceRow {
  if (!outcome) throw new Refusal('invoice_not_found');
  const { invoice, verdict } = outcome;
  if (verdict.verdict !== 'refused') return invoice;
  throw verdict.code === 'invoice_ended' ? hasEnded(invoice) : new Refusal(verdict.code);
}

/** The invoice after a wish; refused where payment or clock, which are looked at first, have ended it otherwise. */
export function settledAs(status: InvoiceStatus, outcome: Outcome | undefined): InvoiceRow {
  const invoice = settled(outcome);
  if (invoice.status !== status) throw hasEnded(invoice);
  return invoice;
}

/** `extra` says what whoever asked can do, where that is not to create a new one. */
export const hasEnded = ({ status }: InvoiceRow, extra: Record<string, unknown> = {}): Refusal =>
  new Refusal('invoice_ended', { detail: `The invoice has ended: it is ${status}`, extra });

/** 402 while the owner's remaining limit is below the volume of an open sale. */
async function refuseShortLimit(app: App, invoice: InvoiceRow): Promise<void> {
  if (invoice.status !== 'created' || invoice.kind !== 'sale' || invoice.owner_id === null) return;
  await refuseLimit(app, invoice.owner_id, invoice.amount_usd_micros);
}

/** Throws `limit_exhausted` with what is missing and how to refill, where the balance does not cover the volume (USD micros). */
export async function refuseLimit(app: App, merchant_id: string, volume_micros: bigint): Promise<void> {
  const prepaid_micros = (await getMerchant(app.db.query, merchant_id))?.prepaid_micros ?? 0n;
  const missing = missingPrepaid(prepaid_micros, volume_micros);
  if (missing <= 0n) return;
  const refillable = (await deploymentWallets(app.db.query)).map((wallet) => wallet.blockchain);
  const [required, remaining, amount] = [volume_micros, limitOf(prepaid_micros), missing].map(formatUsd);
  throw new Refusal('limit_exhausted', {
    detail: `The remaining limit of ${remaining} USD is below the volume of ${required} USD; refill at least ${amount} USD`,
    extra: {
      required_usd: required,
      remaining_usd: remaining,
      refill: {
        method: 'POST',
        url: `${app.config.public_url}/api/v1/merchant/refill`,
        chains: app.gateways
          .filter((gateway) => refillable.includes(gateway.blockchain))
          .map((gateway) => gateway.chain),
        amount_usd: amount,
      },
    },
  });
}
