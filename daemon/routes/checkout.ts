// The pages, fragments and images that buyers see.
import type { checkout as list } from '../../src/api/endpoints/checkout.ts';
import { Refusal } from '../../src/errors.ts';
import { builtFile, builtText } from '../checkout/built.ts';
import { buyerOf, numbered } from '../checkout/buyer.ts';
import { walletManifest } from '../checkout/compose.ts';
import { logoFile } from '../checkout/logos.ts';
import {
  coinsPage,
  type PageOptions,
  payPage,
  receiptPage,
  redirectToInvoice,
  renderUnitError,
  unitPage,
} from '../checkout/serve.tsx';
import { claimPayment } from '../claims/claim.ts';
import { presentFinding } from '../claims/present.ts';
import { compressedOnce } from '../http/compress.ts';
import type { Handlers } from '../http/handler.ts';
import { INVOICE_CREATED } from '../invoices/create.ts';
import { findPublicInvoice } from '../invoices/find.ts';
import { switchInvoice } from '../invoices/switch.ts';
import { apply } from '../settle/settle.ts';
import { buyUnit } from '../units/buy.ts';

/** The payload of an invoice changes with its coin and its time: what was drawn before is asked for again. */
const QR_HEADERS = { 'cache-control': 'no-cache' };
/** A newer daemon may draw or say something else. */
const IMAGE_HEADERS = { 'cache-control': 'public, max-age=86400' };
const SCRIPT_HEADERS = {
  'cache-control': 'public, max-age=300',
  'cross-origin-resource-policy': 'cross-origin',
};

const embed = compressedOnce(builtText('embed.js'));
const logo = builtFile('logo.png');
const favicon = builtFile('favicon.png');

export const checkout: Handlers<typeof list> = {
  payShort: ({ params, query }, context) =>
    payPage(context, params.invoice_id, { ...query, mode: 'page', size: 'page', framed: false }),

  payReceipt: ({ params, query }, context) => receiptPage(context, params.invoice_id, query.lang),

  payPage: ({ params, query }, context) =>
    payPage(context, params.invoice_id, { ...query, mode: 'page', framed: true }),

  payDiv: ({ params, query }, context) =>
    payPage(context, params.invoice_id, { ...query, mode: 'fragment', framed: true }),

  async cancelOnPage({ params, query }, { app }) {
    const outcome = await apply(app, params.invoice_id, { fact: { kind: 'cancel' }, actor: 'buyer' });
    if (!outcome) throw new Refusal('invoice_not_found');
    return redirectToInvoice(app, params.invoice_id, query);
  },

  coinsOnPage: ({ params, query }, context) => coinsPage(context, params.invoice_id, { query }),

  async switchOnPage({ params: { invoice_id }, query, body }, context) {
    const { app, log } = context;
    try {
      const { chain } = await switchInvoice(app, invoice_id, body.chain);
      log.info({ invoice_id, chain }, 'invoice switched');
    } catch (error) {
      if (!(error instanceof Refusal) || error.code === 'invoice_not_found') throw error;
      // The page of the invoice says itself what is paid or over.
      if (error.code !== 'payment_detected' && error.code !== 'invoice_ended')
        return coinsPage(context, invoice_id, { query, refusal: error });
    }
    return redirectToInvoice(app, invoice_id, query);
  },

  async claimOnPage({ params: { invoice_id }, query, body }, context) {
    const options: PageOptions = { ...query, mode: 'page', size: 'page', framed: false };
    try {
      const { app, request } = context;
      const claim = { text: body.txid, ip: request.ip };
      const found = presentFinding(app, await claimPayment(app, invoice_id, claim));
      const network = app.gateways.find(({ chain }) => chain === found.chain)?.blockchain_name ?? null;
      return payPage(context, invoice_id, { ...options, answer: { ...found, network } });
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'rate_limited') throw error;
      const page = await payPage(context, invoice_id, { ...options, answer: 'busy' });
      return { ...page, status: error.status };
    }
  },

  async payQrSvg({ params }, { app, request: { ip } }) {
    const { qr_payload } = await findPublicInvoice(app, params.invoice_id);
    return {
      body: await app.checkout.qrSvg(qr_payload, () => app.checkout.mayMake(ip)),
      headers: QR_HEADERS,
    };
  },

  async payQrPng({ params }, { app, request: { ip } }) {
    const { qr_payload } = await findPublicInvoice(app, params.invoice_id);
    return {
      body: await app.checkout.qrPng(qr_payload, () => app.checkout.mayMake(ip)),
      headers: QR_HEADERS,
    };
  },

  payEvents: ({ params }, { app, request }) => app.checkout.follow(params.invoice_id, request),

  unitShort: async ({ params, query }, context) =>
    numbered(
      context,
      await unitPage(context, params, { ...query, mode: 'page', size: 'site', framed: false }),
      false,
    ),

  unitPage: async ({ params, query }, context) =>
    numbered(context, await unitPage(context, params, { ...query, mode: 'page', framed: true }), true),

  unitDiv: ({ params, query }, context) =>
    unitPage(context, params, { ...query, mode: 'fragment', framed: true }),

  async buyOnPage({ params, query, body }, context) {
    const { app, request } = context;
    try {
      const buyer = buyerOf(app, request);
      const purchase = { chain: body.chain, external_ref: null, buyer, request };
      const { id, request_id } = await buyUnit(app, params, purchase);
      if (request_id === request.id) context.log.info({ invoice_id: id }, INVOICE_CREATED);
      return redirectToInvoice(app, id, query);
    } catch (error) {
      if (!(error instanceof Refusal) || error.code === 'unit_not_found') throw error;
      return renderUnitError(context, params, query, error);
    }
  },

  async embedScript(_, { request }) {
    const { body, headers } = await embed(request.headers);
    return { body, headers: { ...headers, ...SCRIPT_HEADERS } };
  },

  currencyLogo({ params }) {
    const body = logoFile(params.file.replace(/\.svg$/, ''));
    if (body === undefined) throw new Refusal('not_found');
    return { body, headers: IMAGE_HEADERS };
  },

  getWalletManifest: (_, { app }) => walletManifest(app),

  logoImage: () => ({ body: logo, headers: IMAGE_HEADERS }),
  faviconImage: () => ({ body: favicon, headers: IMAGE_HEADERS }),
};
