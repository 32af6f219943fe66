/** @jsxImportSource preact */
// Answers with pages: finds what they show, in the language and on the surface that the call asks for.

import { getUser } from '../../data/users.ts';
import type { CheckoutRow } from '../../data/views/checkout.ts';
import type { Raw } from '../../src/api/describe/endpoint.ts';
import { Refusal } from '../../src/errors.ts';
import { formatUsd } from '../../src/money.ts';
import type { App } from '../context.ts';
import { accepts, compressed } from '../http/compress.ts';
import type { PublicContext } from '../http/handler.ts';
import { availabilityOf } from '../invoices/availability.ts';
import { selectGateways } from '../invoices/gateways.ts';
import { type FoundUnit, findUnit, type UnitName } from '../units/find.ts';
import { payableGateways } from '../units/present.ts';
import { chooseLanguage, type Language } from './language.ts';
import { NotFound } from './not-found.tsx';
import { basePath, renderFragment, renderPage } from './page.tsx';
import { Pay } from './pay.tsx';
import { Unit, type UnitNotice } from './unit.tsx';
import { type ClaimAnswer, type PayView, payView, type Surface } from './view.ts';

export interface PageOptions {
  mode: Surface['mode'];
  size: string;
  width?: number | undefined;
  lang?: string | undefined;
  /** Whether other sites may show the page in a frame. */
  framed: boolean;
  /** What a claim of the payer has found just now. */
  answer?: ClaimAnswer;
}

export async function payPage(
  { app, request }: PublicContext,
  invoice_id: string,
  options: PageOptions,
): Promise<Raw> {
  const accept = request.headers.get('accept-language');
  const row = await app.checkout.pages.row(invoice_id);
  if (!row) return missing(app, request.headers, options, 'invoice_not_found');
  const lang = chooseLanguage({ lang: options.lang, unit: row.unit_language, accept });
  if (options.answer) return showInvoice(app, row, { lang, options, headers: request.headers });
  const { mode, size, width, framed } = options;
  const since = app.blindness.of(row.blockchain);
  const key = [row.id, lang.code, mode, size, width, framed, accepts(request.headers, 'gzip'), since].join(
    ' ',
  );
  return app.checkout.pages.page(key, row, () =>
    showInvoice(app, row, { lang, options, headers: request.headers }),
  );
}

async function showInvoice(
  app: App,
  row: CheckoutRow,
  { lang, options, headers }: { lang: Language; options: PageOptions; headers: Headers },
): Promise<Raw> {
  const surface = surfaceOf(app, options);
  const view: PayView = { ...(await payView(app, row, { lang, surface })), answer: options.answer };
  const content = <Pay view={view} />;
  if (surface.mode === 'fragment') return compressed(renderFragment(surface, content), headers);
  const page = renderPage({
    lang,
    ...surface,
    title: `${lang.say(view.state)} · ${view.title}`,
    content,
    // Who reads an answer, and types the next question, is not interrupted.
    refresh: row.status === 'created' && !options.answer,
    framed: options.framed,
  });
  return compressed(page, headers);
}

export async function unitPage(context: PublicContext, name: UnitName, options: PageOptions): Promise<Raw> {
  const { app, request } = context;
  const found = await findUnit(app, name);
  if (!found) return missing(app, request.headers, options, 'unit_not_found');
  return showUnit(context, found, { options, notice: null, status: 200 });
}

/** The chooser once more, with why the choice did not work. */
export async function renderUnitError(
  context: PublicContext,
  name: UnitName,
  lang: string | undefined,
  refusal: Refusal,
): Promise<Raw> {
  const found = await findUnit(context.app, name);
  if (!found) throw refusal;
  const options: PageOptions = { mode: 'page', size: 'site', framed: false, lang };
  const is_of_coin =
    refusal.status === 400 || refusal.status === 409 || refusal.code === 'provider_unavailable';
  const notice = is_of_coin ? 'try_another' : 'try_later';
  const page = await showUnit(context, found, { options, notice, status: refusal.status });
  if (refusal.retry_after !== undefined)
    page.headers = { ...page.headers, 'retry-after': String(refusal.retry_after) };
  return page;
}

/** Leads to another page of ours; the path stays on the origin that the browser came to. */
export function redirectTo(app: App, path: string, lang: string | undefined): Raw {
  const query = lang === undefined ? '' : `?lang=${encodeURIComponent(lang)}`;
  return {
    status: 303,
    body: '',
    headers: { location: `${basePath(app.config.public_url)}${path}${query}` },
  };
}

interface Showing {
  options: PageOptions;
  notice: UnitNotice | null;
  status: number;
}

async function showUnit(
  { app, request }: PublicContext,
  { unit, merchant }: FoundUnit,
  { options, notice, status }: Showing,
): Promise<Raw> {
  const accept = request.headers.get('accept-language');
  const lang = chooseLanguage({ lang: options.lang, unit: unit.language, accept });
  const surface = surfaceOf(app, options);
  const user = await getUser(app.db.query, merchant.id);
  const open = unit.active === 1 && user?.is_active === 1;
  const payable = open ? selectGateways(await payableGateways(app, merchant), unit.currencies) : [];
  const gateways = payable.map((gateway) => ({ ...gateway, ...availabilityOf(app, gateway.blockchain) }));
  const can_choose = gateways.some(({ available, simulate_only }) => available || simulate_only);
  const closed = open ? 'no_coins' : 'inactive';
  const content = (
    <Unit
      view={{
        lang,
        surface,
        id: unit.id,
        merchant: user?.full_name?.trim() || merchant.slug,
        title: unit.title,
        description: unit.description,
        usd: lang.usd(formatUsd(unit.amount_usd_micros)),
        testnet: app.config.network !== 'mainnet',
        notice: can_choose ? notice : closed,
        gateways,
        action: `${surface.base}/u/${merchant.slug}/${unit.slug}?lang=${lang.code}`,
      }}
    />
  );
  const { headers } = request;
  if (surface.mode === 'fragment') return compressed(renderFragment(surface, content), headers);
  const { framed } = options;
  const page = renderPage({ lang, ...surface, title: unit.title, content, refresh: false, framed });
  return compressed({ ...page, status }, headers);
}

/** People get a page that says so, programs the refusal. */
function missing(
  app: App,
  headers: Headers,
  options: PageOptions,
  code: 'invoice_not_found' | 'unit_not_found',
): Raw {
  if (options.mode === 'fragment' || !headers.get('accept')?.includes('text/html')) throw new Refusal(code);
  const lang = chooseLanguage({ lang: options.lang, accept: headers.get('accept-language') });
  const surface = surfaceOf(app, options);
  const page = renderPage({
    lang,
    ...surface,
    title: lang.say('not_found'),
    content: <NotFound lang={lang} surface={surface} />,
    refresh: false,
    framed: options.framed,
  });
  return compressed({ ...page, status: 404 }, headers);
}

const surfaceOf = (app: App, { mode, size, width }: PageOptions): Surface => ({
  mode,
  size,
  width,
  base: mode === 'page' ? basePath(app.config.public_url) : app.config.public_url,
});
