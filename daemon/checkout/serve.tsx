/** @jsxImportSource preact */
// Answers with pages: finds what they show, in the language and on the surface that the call asks for.

import { getUser } from '../../data/users.ts';
import type { CheckoutRow } from '../../data/views/checkout.ts';
import type { Raw } from '../../src/api/describe/endpoint.ts';
import type { Gateway } from '../../src/chains/family.ts';
import { Refusal } from '../../src/errors.ts';
import { formatUsd } from '../../src/money.ts';
import { pictureAddress } from '../../src/picture.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';
import type { PublicContext } from '../http/handler.ts';
import { selectGateways } from '../invoices/gateways.ts';
import { coinsOf, mayBeSwitched } from '../invoices/switch.ts';
import { isWithheldNow, withheldRefusal } from '../invoices/withheld.ts';
import { type FoundUnit, findUnit, requireUnit, type UnitName } from '../units/find.ts';
import { payableGateways } from '../units/present.ts';
import { choicesOf } from './choices.ts';
import { chooseLanguage, type Language, languageOf } from './language.ts';
import { basePath, dressed, fragmentTemplate, LOOK_QUERY, pageTemplate } from './page.tsx';
import { Pay } from './pay.tsx';
import { Receipt } from './receipt.tsx';
import { Short } from './short.tsx';
import type { Template } from './template.ts';
import type { Texts } from './texts/texts.ts';
import type { Theme } from './theme.ts';
import { Unit, type UnitNotice } from './unit.tsx';
import { type ClaimAnswer, type PayView, payView, pictureOf, type Surface, shopName } from './view.ts';
import { Ways, type WaysView } from './ways.tsx';

/** What “in a minute” is true of, in seconds. */
const IN_A_MINUTE = 60;

export interface PageOptions {
  mode: Surface['mode'];
  size: string;
  width?: number | undefined;
  lang?: string | undefined;
  theme?: Theme['scheme'] | undefined;
  accent?: string | undefined;
  radius?: number | undefined;
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
  if (isWithheldNow(app, row)) return withheld(app, request.headers, options, row);
  const lang = chooseLanguage({ lang: options.lang, unit: row.unit_language, accept });
  const is_phone = isPhone(request.headers);
  const asked = { lang, options, is_phone };
  const look = lookOf(options);
  if (options.answer) return dressed(await showInvoice(app, row, asked), look, request.headers);
  const { mode, size, framed } = options;
  const since = app.blindness.of(row.blockchain);
  const key = [row.id, lang.code, mode, size, framed, since, is_phone].join(' ');
  const template = await app.checkout.pages.page(key, row, () => {
    app.checkout.mayMake(request.ip);
    return showInvoice(app, row, asked);
  });
  const page = dressed(template, look, request.headers);
  const isSame = app.checkout.pages.again(row);
  return { ...page, again: isSame && (() => isSame() && app.blindness.of(row.blockchain) === since) };
}

interface Asked {
  lang: Language;
  options: PageOptions;
  is_phone: boolean;
}

/** What a browser says of its device: a hint, by which less is unfolded. What stands where is up to the style. */
function isPhone(headers: Headers): boolean {
  const hint = headers.get('sec-ch-ua-mobile');
  return hint === null ? /\bMobi|\biPhone\b/.test(headers.get('user-agent') ?? '') : hint === '?1';
}

async function showInvoice(
  app: App,
  row: CheckoutRow,
  { lang, options, is_phone }: Asked,
): Promise<Template> {
  const surface = surfaceOf(app, options);
  const view: PayView = {
    ...(await payView(app, row, { lang, surface, is_phone })),
    answer: options.answer,
  };
  const content = <Pay view={view} />;
  if (surface.mode === 'fragment') return fragmentTemplate(content);
  return pageTemplate({
    lang,
    ...surface,
    title: `${lang.say(view.state)} · ${lang.apart(view.title)}`,
    content,
    // Who reads an answer, and types the next question, is not interrupted.
    refresh: row.status === 'created' && !options.answer,
    leads: view.back?.automatic && !options.framed && !options.answer ? view.back.href : undefined,
    framed: options.framed,
  });
}

/** The receipt of a paid invoice; what is not paid has none. */
export async function receiptPage(
  { app, request: { headers, ip } }: PublicContext,
  invoice_id: string,
  lang_asked: string | undefined,
): Promise<Raw> {
  const options: PageOptions = { mode: 'page', size: 'md', framed: false, lang: lang_asked };
  const row = await app.checkout.pages.row(invoice_id);
  if (row?.status !== 'confirmed') return missing(app, headers, options, 'invoice_not_found');
  if (isWithheldNow(app, row)) return withheld(app, headers, options, row);
  const accept = headers.get('accept-language');
  const lang = chooseLanguage({ lang: lang_asked, unit: row.unit_language, accept });
  const template = await app.checkout.pages.page(`${row.id} ${lang.code} receipt`, row, async () => {
    app.checkout.mayMake(ip);
    const surface = surfaceOf(app, options);
    const view = await payView(app, row, { lang, surface, is_phone: false });
    const title = lang.say('receipt_from', { merchant: view.merchant });
    return pageTemplate({ lang, ...surface, title, content: <Receipt view={view} />, refresh: false });
  });
  return dressed(template, lookOf(options), headers);
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
  query: FrameQuery,
  refusal: Refusal,
): Promise<Raw> {
  const found = await findUnit(context.app, name);
  if (!found) throw refusal;
  const framed = query.size !== undefined;
  const options: PageOptions = { ...query, mode: 'page', size: query.size ?? 'site', framed };
  const page = await showUnit(context, found, {
    options,
    notice: noticeOf(refusal),
    status: refusal.status,
  });
  if (refusal.retry_after !== undefined)
    page.headers = { ...page.headers, 'retry-after': String(refusal.retry_after) };
  return page;
}

/** What a form of a page in a frame sends along, so that the next page may stand in that frame, and looks the same. */
type FrameQuery = Partial<Pick<PageOptions, 'size' | 'lang' | 'theme' | 'accent' | 'radius'>>;

const queryOf = ({ size, lang, theme, accent, radius }: FrameQuery): string => {
  const entries = Object.entries({ size, lang, theme, accent, radius });
  const query = entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, `${value}`]]));
  return query.length > 0 ? `?${new URLSearchParams(query)}` : '';
};

/** Leads to the page of an invoice; the path stays on the origin that the browser came to. */
export const redirectToInvoice = (app: App, id: string, query: FrameQuery): Raw => ({
  status: 303,
  body: '',
  headers: { location: pathOfInvoice(app, id, query) },
});

function pathOfInvoice({ config }: App, id: string, query: FrameQuery): string {
  const { size, lang } = query;
  const path = size === undefined ? `/pay/${id}${queryOf({ lang })}` : `/v1/pay/${id}/page${queryOf(query)}`;
  return `${basePath(config.public_url)}${path}`;
}

/** The other coins of an invoice; where there are none to choose now, its own page. `refusal`: what became of a choice. */
export async function coinsPage(
  context: PublicContext,
  invoice_id: string,
  { query, refusal }: { query: FrameQuery; refusal?: Refusal },
): Promise<Raw> {
  const { app, request } = context;
  const { headers } = request;
  const framed = query.size !== undefined;
  const options: PageOptions = { ...query, mode: 'page', size: query.size ?? 'page', framed };
  const row = await app.checkout.pages.row(invoice_id);
  if (!row) return missing(app, headers, options, 'invoice_not_found');
  const coins = mayBeSwitched(row, seconds(app.clock)) ? await coinsOf(app, row) : [];
  if (coins.length < 2)
    return refusal ? redirectToInvoice(app, invoice_id, query) : payPage(context, invoice_id, options);
  const accept = headers.get('accept-language');
  const lang = chooseLanguage({ lang: options.lang, unit: row.unit_language, accept });
  const asked = { lang, options, is_phone: isPhone(headers) };
  const { size } = options;
  const template = refusal
    ? await showWays(app, row, coins, { ...asked, notice: noticeOf(refusal) })
    : await app.checkout.pages.page([row.id, lang.code, size, framed, 'coins'].join(' '), row, () => {
        app.checkout.mayMake(request.ip);
        return showWays(app, row, coins, { ...asked, notice: null });
      });
  const page = dressed(template, lookOf(options), headers);
  if (refusal?.retry_after !== undefined)
    page.headers = { ...page.headers, 'retry-after': String(refusal.retry_after) };
  return { ...page, status: refusal?.status ?? 200 };
}

async function showWays(
  app: App,
  row: CheckoutRow,
  coins: readonly Gateway[],
  { lang, options, is_phone, notice }: Asked & { notice: UnitNotice | null },
): Promise<Template> {
  const surface = surfaceOf(app, options);
  const others = coins.filter(({ chain }) => chain !== row.chain);
  const choices = choicesOf(app, others, { lang, price_micros: row.amount_usd_micros });
  const pay = await payView(app, row, { lang, surface, is_phone });
  const query = surface.queryIn(lang);
  const here = options.framed ? `/v1/pay/${row.id}/page` : `/pay/${row.id}`;
  const view: WaysView = {
    pay,
    choices,
    notice,
    action: `${surface.base}/pay/${row.id}/coins${query}`,
    back: `${surface.base}${here}${query}`,
  };
  const title = `${lang.say('another_way')} · ${pay.title}`;
  const content = <Ways view={view} />;
  return pageTemplate({ lang, ...surface, title, content, refresh: false, framed: options.framed });
}

/** Whether another coin may work, or another time. */
const noticeOf = ({ status, code, retry_after: seconds = 0 }: Refusal): UnitNotice => {
  if (code === 'too_many_unpaid') return { say: 'too_many_open', seconds };
  if (status === 400 || status === 409 || code === 'provider_unavailable') return 'try_another';
  return seconds > IN_A_MINUTE ? { say: 'try_then', seconds } : 'try_later';
};

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
  const choices = choicesOf(app, payable, { lang, price_micros: unit.amount_usd_micros });
  const can_choose = choices.some((choice) => choice.can_choose);
  const { profile, slug } = merchant;
  const seller = shopName(app, {
    profile,
    merchant_name: user?.full_name ?? null,
    merchant_slug: slug,
  });
  const support = { email: profile?.support_email ?? null, url: profile?.support_url ?? null };
  const usd = lang.usd(formatUsd(unit.amount_usd_micros));
  const closed = open ? 'no_coins' : 'inactive';
  const view = {
    id: unit.id,
    merchant: seller,
    picture: pictureOf(surface.base, unit.shop?.picture, merchant.profile?.logo),
    support,
    title: unit.title,
    description: unit.description,
    usd,
    testnet: app.config.network !== 'mainnet',
    notice: can_choose ? notice : closed,
    choices,
    action: `${surface.base}/u/${merchant.slug}/${unit.slug}${surface.queryIn(lang)}`,
  } as const;
  const { mode, size } = surface;
  const { framed } = options;
  const base = app.config.public_url;
  const about = {
    url: `${base}/u/${slug}/${unit.slug}`,
    description: [usd, unit.description?.replace(/\s+/g, ' ').trim() || null, seller]
      .flatMap((part) => (part === null ? [] : [lang.apart(part)]))
      .join(' · '),
    indexed: unit.listed === 1 && open && status === 200 && notice === null,
    ...pictureShared(base, { unit, slug }),
    site: seller,
  };
  const render = (): Template => {
    const content = <Unit view={{ ...view, lang, surface }} />;
    if (mode === 'fragment') return fragmentTemplate(content);
    return pageTemplate({ lang, ...surface, title: unit.title, content, refresh: false, framed, about });
  };
  const name = JSON.stringify(['unit', lang.code, mode, size, framed, view, about]);
  const template = app.checkout.rendered(name, render, () => app.checkout.mayMake(request.ip));
  return { ...dressed(template, lookOf(options), request.headers), status };
}

/** The merchant's own picture of it, or else a card with its code. */
function pictureShared(base: string, { unit, slug }: { unit: FoundUnit['unit']; slug: string }) {
  const own = unit.shop?.picture;
  if (own) return { picture: pictureAddress(base, own), card: false };
  return { picture: `${base}/u/${slug}/${unit.slug}/card.png`, card: true };
}

/** What messengers show of a unit that has no picture of its own. Refuses with `unit_not_found`. */
export async function unitCard(app: App, name: UnitName, ip: string): Promise<Buffer> {
  const { unit, merchant } = await requireUnit(app, name);
  const { profile, slug } = merchant;
  const user = await getUser(app.db.query, merchant.id);
  const base = app.config.public_url;
  const parts = {
    url: `${base}/u/${slug}/${unit.slug}`,
    // Its letters are those of English.
    usd: languageOf('en').usd(formatUsd(unit.amount_usd_micros)),
    title: unit.title,
    shop: shopName(app, { profile, merchant_name: user?.full_name ?? null, merchant_slug: slug }),
    host: new URL(base).host,
  };
  return app.checkout.card(parts, () => app.checkout.mayMake(ip));
}

const missing = (
  app: App,
  headers: Headers,
  options: PageOptions,
  code: 'invoice_not_found' | 'unit_not_found',
): Raw =>
  shortPage(app, headers, options, {
    refusal: new Refusal(code),
    title: 'not_found',
    text: 'not_found_text',
  });

/** Of an order that ended long ago no more than how. */
function withheld(app: App, headers: Headers, options: PageOptions, row: CheckoutRow): Raw {
  const { status } = row;
  const refusal = withheldRefusal(row);
  // What is open has not ended.
  const title = status === 'created' ? 'closing' : status;
  return shortPage(app, headers, options, { refusal, title, text: 'withheld_text' });
}

/** People get a page that says so, programs the refusal. */
function shortPage(
  app: App,
  headers: Headers,
  options: PageOptions,
  { refusal, title, text }: { refusal: Refusal; title: keyof Texts; text: keyof Texts },
): Raw {
  if (options.mode === 'fragment' || !headers.get('accept')?.includes('text/html')) throw refusal;
  const lang = chooseLanguage({ lang: options.lang, accept: headers.get('accept-language') });
  const { size, framed } = options;
  const template = app.checkout.rendered(['short', title, text, lang.code, size, framed].join(' '), () => {
    const surface = surfaceOf(app, options);
    const head = lang.say(title);
    const content = <Short lang={lang} surface={surface} title={head} text={lang.say(text)} />;
    return pageTemplate({ lang, ...surface, title: head, content, refresh: false, framed });
  });
  return { ...dressed(template, lookOf(options), headers), status: refusal.status };
}

const lookOf = ({ width, theme = 'auto', accent, radius }: PageOptions) => ({
  width,
  theme: { scheme: theme, accent, radius },
});

const surfaceOf = (app: App, { mode, size, framed }: PageOptions): Surface => ({
  mode,
  size,
  framed,
  queryIn: ({ code }) =>
    mode === 'page' && framed ? `${queryOf({ size, lang: code })}${LOOK_QUERY}` : queryOf({ lang: code }),
  base: mode === 'page' ? basePath(app.config.public_url) : app.config.public_url,
});
