// In foreign pages: each script tag mounts one checkout, in a shadow root of its own.
import type { EmbedCommand, EmbedMessage, LiveStatus } from '../status.ts';
import { followInvoice } from './follow-invoice.ts';
import { readMarkup } from './markup.ts';

/** How long the element that a tag names may take to appear. */
const TARGET_MS = 15_000;

/** This script runs once for each tag of a page: what it has mounted is marked on the tag. */
type Tag = HTMLScriptElement & { _gatewayd?: boolean };
/** What stands in the page for a tag, marked with it: the tag may be gone when another comes for the same. */
type Place = HTMLElement & { _gatewayd?: { tag: Tag; what: string } };

/** Types of scripts that run; consent managers and optimizers give others to those that must not yet. */
const RUNS = /^$|^module$|javascript$/i;

/** Where the service of a tag is: optimizers add to its address, or put it into an attribute of their own. */
function baseOf({ attributes }: Tag): string | null {
  for (const { name, value } of attributes)
    if (/src$/.test(name)) {
      const base = /^(.*)\/embed\.js$/.exec(new URL(value, document.baseURI).href.replace(/[?#].*/, ''));
      if (base) return base[1] as string;
    }
  return null;
}

/** Calls `then` when the page has changed until it returns true. */
function observePage(then: () => boolean): MutationObserver {
  const observer = new MutationObserver(() => {
    if (then()) observer.disconnect();
  });
  observer.observe(document.documentElement, { childList: true, subtree: true });
  return observer;
}

/** What the tag asks for besides; a colour or a radius that is none is left out. */
function lookOf({ dataset }: HTMLElement): string {
  const rules = {
    lang: /./,
    theme: /^(auto|light|dark)$/,
    accent: /^[0-9a-f]{6}$/i,
    radius: /^(1?\d|2[0-4])$/,
  };
  return Object.entries(rules)
    .map(([name, rule]) => [name, (dataset[name] || '').replace('#', ''), rule] as const)
    .map(([name, value, rule]) => (rule.test(value) ? `&${name}=${encodeURIComponent(value)}` : ''))
    .join('');
}

/** Reports to the page that the script runs in, and to no other. */
function tellPage(message: EmbedMessage): void {
  try {
    window.postMessage(message, location.origin);
  } catch {
    // A page without an origin hears nothing.
  }
}

/** The checkout of `tag`, shown in `host`. */
function openCheckout(tag: HTMLScriptElement, base: string, host: HTMLElement): void {
  const { unit, invoice, size } = tag.dataset;
  const query = `?size=${encodeURIComponent(size || 'mobile')}${lookOf(tag)}`;
  const storage_key = `gatewayd:${unit}`;
  let stop: (() => void) | null = null;
  const shadow = (): ShadowRoot => host.shadowRoot || host.attachShadow({ mode: 'open' });

  /** The invoice of this visit, so that a reload does not begin another. Storage may be forbidden. */
  function saveInvoice(id: string | null): void {
    try {
      if (id) sessionStorage.setItem(storage_key, id);
      else sessionStorage.removeItem(storage_key);
    } catch {}
  }

  function savedInvoice(): string | null {
    try {
      return sessionStorage.getItem(storage_key);
    } catch {
      return null;
    }
  }

  const named = (invoice_id = invoice) => ({
    ...(unit ? { unit_id: unit } : {}),
    ...(invoice_id ? { invoice_id } : {}),
  });

  function emit(status: LiveStatus): void {
    const options = { detail: status, bubbles: true, composed: true };
    host.dispatchEvent(new CustomEvent('gatewayd:status', options));
    tellPage({ type: 'gatewayd:status', ...status });
  }

  let isOpen = false;
  let started = false;
  /** Closed, it follows its invoice all the same. */
  function setOpen(open: boolean): void {
    if (open === isOpen) return;
    isOpen = open;
    host.style.display = open ? '' : 'none';
    tellPage({ type: open ? 'gatewayd:opened' : 'gatewayd:closed', ...named() });
    if (open && !started) {
      started = true;
      begin();
    }
  }

  function addClose(root: HTMLElement): void {
    if (!('closable' in tag.dataset)) return;
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'btn close';
    button.textContent = '✕';
    button.setAttribute('aria-label', root.dataset.close || '');
    button.onclick = () => setOpen(false);
    root.prepend(button);
  }

  function obey({ source, origin, data }: MessageEvent<EmbedCommand | null>): void {
    if (source !== window || origin !== location.origin || !data || typeof data !== 'object') return;
    if (data.for && data.for !== unit && data.for !== invoice) return;
    if (data.type === 'gatewayd:open') setOpen(true);
    else if (data.type === 'gatewayd:close') setOpen(false);
  }

  async function fetchMarkup(path: string): Promise<string> {
    const response = await fetch(base + path + query, { credentials: 'omit', cache: 'no-store' });
    if (!response.ok) throw response.status;
    return response.text();
  }

  /** Puts markup in place of what is shown. */
  function put(markup: string): HTMLElement {
    const { root: parsed, css } = readMarkup(markup);
    if (!parsed) throw 0;
    stop?.();
    stop = null;
    const inside = shadow();
    const root = document.importNode(parsed, true);
    try {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(css);
      inside.adoptedStyleSheets = [sheet];
    } catch {
      const style = document.createElement('style');
      style.textContent = css;
      root.appendChild(style);
    }
    inside.querySelectorAll('.gw').forEach((old) => {
      old.remove();
    });
    root.classList.add('js');
    addClose(root);
    inside.appendChild(root);
    tellPage({ type: 'gatewayd:ready', ...named(root.dataset.invoice) });
    return root;
  }

  async function showInvoice(id: string): Promise<void> {
    const path = `/v1/pay/${id}/div`;
    const markup = await fetchMarkup(path);
    if (!host.isConnected) return;
    const onAgain = (): void => {
      saveInvoice(null);
      void showUnit();
    };
    stop = followInvoice(put(markup), {
      source: base + path + query,
      base,
      onStatus: emit,
      onPut() {},
      onShown() {},
      onAgain: unit ? onAgain : null,
    });
  }

  async function showUnit(): Promise<void> {
    const root = put(await fetchMarkup(`/v1/units/${unit}/div`));
    let busy = false;
    root.addEventListener('submit', async (event) => {
      event.preventDefault();
      const button = event.submitter as HTMLButtonElement | null;
      if (!button || busy) return;
      busy = true;
      let notice = 'later';
      let minutes = 0;
      try {
        const response = await fetch(`${base}/v1/units/${unit}/checkout`, {
          method: 'POST',
          credentials: 'omit',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ chain: button.value }),
        });
        const { status, headers } = response;
        const { id, code } = await response.json();
        if (id) {
          saveInvoice(id);
          return await showInvoice(id);
        }
        minutes = Math.ceil(Number(headers.get('retry-after')) / 60);
        if (code === 'too_many_unpaid') notice = 'open';
        else if (status === 400 || status === 409 || code === 'provider_unavailable') notice = 'another';
      } catch {
        // No connection: reported below.
      }
      busy = false;
      const text = root.querySelector('[data-notice] .text');
      if (!text?.parentElement) return;
      text.parentElement.hidden = false;
      const time = new Intl.RelativeTimeFormat(root.lang).format(minutes, 'minute');
      text.textContent = (root.dataset[notice] || '').replace('{time}', time);
    });
  }

  async function start(): Promise<void> {
    const id = invoice || savedInvoice();
    if (!id) return showUnit();
    try {
      await showInvoice(id);
    } catch (error) {
      if (invoice) throw error;
      saveInvoice(null);
      await showUnit();
    }
  }

  function begin(): void {
    start().catch(() => {
      if (!host.isConnected) return;
      const link = document.createElement('a');
      link.href = `${base}${invoice ? `/v1/pay/${invoice}` : `/v1/units/${unit}`}/page`;
      link.textContent = 'Checkout';
      link.rel = 'noopener';
      shadow().replaceChildren(link);
    });
  }

  window.addEventListener('message', obey);
  if ('closed' in tag.dataset) host.style.display = 'none';
  else setOpen(true);
  observePage(() => {
    if (host.isConnected) return false;
    stop?.();
    window.removeEventListener('message', obey);
    return true;
  });
}

/** Takes out what stands in `parent` for the same as `tag`, and whose own tag is gone. False where one with a tag stays. */
function replaceIn(parent: Element, what: string): boolean {
  for (const place of [...parent.children] as Place[]) {
    const { _gatewayd: mark } = place;
    if (mark?.what !== what) continue;
    if (mark.tag.isConnected) return false;
    place.remove();
  }
  return true;
}

function mount(tag: Tag): void {
  const { unit, invoice, target } = tag.dataset;
  const base = baseOf(tag);
  // One that was taken out before it ran is wanted no longer: React mounts twice in development.
  if (tag._gatewayd || !(unit || invoice) || base === null || !tag.isConnected) return;
  tag._gatewayd = true;
  const what = `${unit} ${invoice} ${target}`;
  const showIn = (parent: Element | null): boolean => {
    if (!parent || !tag.isConnected) return !tag.isConnected;
    if (!replaceIn(parent, what) && target) return true;
    const place: Place = document.createElement('div');
    place._gatewayd = { tag, what };
    const host = target ? place : document.createElement('div');
    if (target) parent.appendChild(place);
    else {
      place.appendChild(host);
      tag.insertAdjacentElement('afterend', place);
    }
    openCheckout(tag, base, host);
    return true;
  };
  if (!target) showIn(tag.parentElement);
  else if (!showIn(document.querySelector(target))) {
    const observer = observePage(() => showIn(document.querySelector(target)));
    setTimeout(() => observer.disconnect(), TARGET_MS);
  }
}

function mountAll(): void {
  for (const tag of document.querySelectorAll<Tag>('script[src]')) if (RUNS.test(tag.type)) mount(tag);
}

const own = document.currentScript as Tag | null;
if (own && (own.dataset.unit || own.dataset.invoice)) mount(own);
else {
  mountAll();
  // A module runs once, however many tags have it and whenever they come.
  if (!own)
    observePage(() => {
      mountAll();
      return false;
    });
}
