/** @jsxImportSource preact */
// Answers with pages: finds what they show, in the language and place that the call asks for.

import { getUser } from '../../data/users.ts';
import { type CheckoutRow, checkoutRow } from '../../data/views/checkout.ts';
import type { Raw } from '../../src/api/describe/endpoint.ts';
import { Refusal } from '../../src/errors.ts';
import { formatUsd } from '../../src/money.ts';
import type { App } from '../context.ts';
import { accepts, compressed, compressedAfter } from '../http/compress.ts';
import type { PublicContext } from '../http/handler.ts';
import { selectGateways } from '../invoices/gateways.ts';
import { type FoundUnit, findUnit, type UnitName } from '../units/find.ts';
import { payableGateways } from '../units/present.ts';
import { chooseLanguage, type Language } from './language.ts';
import { NotFound } from './not-found.tsx';
import { renderFragment, renderPage } from './page.tsx';
import { keptPage } from './page-cache.ts';
import { Pay } from './pay.tsx';
import { Unit, type UnitNotice } from './unit.tsx';
import { type Place, payView } from './view.ts';

export interface Wish {
  mode: Place['mode'];
  size: string;
  width?: number | undefined;
  lang?: string | undefined;
  /** Whether other sites may show the page in a frame. */
  framed: boolean;
}

export async function payPage({ app, request }: PublicContext, invoice_id: string, wish: Wish): Promise<Raw> {
  const accept = request.headers.get('accept-language');
  const row = await checkoutRow(app.db, invoice_id);
  if (!row) return missing(app, request.headers, wish, 'invoice_not_found');
  const lang = chooseLanguage({ lang: wish.lang, unit: row.unit_language, accept });
  const { mode, size, width, framed } = wish;
  const key = [row.id, lang.code, mode, size, width, framed, accepts(request.headers, 'gzip')].join(' ');
  return keptPage(app, key, row, () => showInvoice(app, row, { lang, wish, asked: request.headers }));
}

async function showInvoice(
  app: App,
  row: CheckoutRow,
  { lang, wish, asked }: { lang: Language; wish: Wish; asked: Headers },
): Promise<Raw> {
  const place = placeOf(app, wish);
  const view = await payView(app, row, { lang, place });
  const content = <Pay view={view} />;
  if (place.mode === 'fragment') return fragment(asked, renderFragment(place, content));
  const { opening, html, headers } = renderPage({
    lang,
    place,
    title: `${lang.say(view.state)} · ${view.title}`,
    content,
    refresh: row.status === 'created',
    framed: wish.framed,
  });
  return compressedAfter(opening, { body: html, headers }, asked);
}

export async function unitPage(context: PublicContext, name: UnitName, wish: Wish): Promise<Raw> {
  const { app, request } = context;
  const found = await findUnit(app, name);
  if (!found) return missing(app, request.headers, wish, 'unit_not_found');
  return showUnit(context, found, { wish, notice: null, status: 200 });
}

/** The chooser once more, with why the choice did not work. */
export async function choiceRefused(
  context: PublicContext,
  name: UnitName,
  lang: string | undefined,
  refusal: Refusal,
): Promise<Raw> {
  const found = await findUnit(context.app, name);
  if (!found) throw refusal;
  const wish: Wish = { mode: 'page', size: 'site', framed: false, lang };
  const notice = refusal.status === 400 || refusal.status === 409 ? 'try_another' : 'try_later';
  const page = await showUnit(context, found, { wish, notice, status: refusal.status });
  if (refusal.retry_after !== undefined)
    page.headers = { ...page.headers, 'retry-after': String(refusal.retry_after) };
  return page;
}

/** Leads to another page of ours; the path stays on the origin that the browser came to. */
export function sentBack(app: App, path: string, lang: string | undefined): Raw {
  const query = lang === undefined ? '' : `?lang=${encodeURIComponent(lang)}`;
  return { status: 303, body: '', headers: { location: `${basePath(app)}${path}${query}` } };
}

interface Showing {
  wish: Wish;
  notice: UnitNotice | null;
  status: number;
}

async function showUnit(
  { app, request }: PublicContext,
  { unit, merchant }: FoundUnit,
  { wish, notice, status }: Showing,
): Promise<Raw> {
  const accept = request.headers.get('accept-language');
  const lang = chooseLanguage({ lang: wish.lang, unit: unit.language, accept });
  const place = placeOf(app, wish);
  const user = await getUser(app.db.query, merchant.id);
  const open = unit.active === 1 && user?.is_active === 1;
  const gateways = open ? selectGateways(await payableGateways(app, merchant), unit.currencies) : [];
  const closed = open ? 'no_coins' : 'inactive';
  const content = (
    <Unit
      view={{
        lang,
        place,
        id: unit.id,
        merchant: user?.full_name?.trim() || merchant.slug,
        title: unit.title,
        description: unit.description,
        usd: lang.usd(formatUsd(unit.amount_usd_micros)),
        testnet: app.config.network !== 'mainnet',
        notice: gateways.length === 0 ? closed : notice,
        gateways,
        action: `${place.base}/u/${merchant.slug}/${unit.slug}?lang=${lang.code}`,
      }}
    />
  );
  if (place.mode === 'fragment') return fragment(request.headers, renderFragment(place, content));
  const { opening, html, headers } = renderPage({
    lang,
    place,
    title: unit.title,
    content,
    refresh: false,
    framed: wish.framed,
  });
  return compressedAfter(opening, { body: html, headers, status }, request.headers);
}

/** Who reads gets a page that says so; who parses gets the refusal. */
function missing(app: App, asked: Headers, wish: Wish, code: 'invoice_not_found' | 'unit_not_found'): Raw {
  if (wish.mode === 'fragment' || !asked.get('accept')?.includes('text/html')) throw new Refusal(code);
  const lang: Language = chooseLanguage({ lang: wish.lang, accept: asked.get('accept-language') });
  const place = placeOf(app, wish);
  const { opening, html, headers } = renderPage({
    lang,
    place,
    title: lang.say('not_found'),
    content: <NotFound lang={lang} place={place} />,
    refresh: false,
    framed: wish.framed,
  });
  return compressedAfter(opening, { body: html, headers, status: 404 }, asked);
}

const fragment = (headers: Headers, body: string): Raw => compressed({ body }, headers);

const placeOf = (app: App, { mode, size, width }: Wish): Place => ({
  mode,
  size,
  width,
  base: mode === 'page' ? basePath(app) : app.config.public_url,
});

/** The path that the public URL begins with; empty where it has none. */
const basePath = (app: App): string => new URL(app.config.public_url).pathname.replace(/\/+$/, '');
