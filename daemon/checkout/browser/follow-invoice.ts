// Brings the checkout of an invoice to life: time left, copying, live status, cancelling. The same on our pages and in foreign ones.
import type { LiveStatus, StatusMessage } from '../status.ts';
import { holdClaim, sendClaim, showClaim } from './claim.ts';
import { readMarkup } from './markup.ts';

const TICK_MS = 500;
/** A broken stream is replaced after so long, and the markup fetched meanwhile. */
const POLL_MS = 4_000;
/** The server sends the time every 10 s: longer silence is a dead connection. */
const SILENCE_MS = 35_000;
/** The day is written with the hour where so much time is left. */
const DATED_SECONDS = 12 * 3_600;
/** When the time left stands out, as on the server; and when it is announced to those who cannot see it. */
const SOON_SECONDS = 120;
const LAST_SECONDS = 60;
const COPIED_MS = 2_000;
/** A stream that the server refuses is asked for again after so long; meanwhile the markup is fetched. */
const REFUSED_MS = 30_000;
/** Failures in a row until the page says that there is no connection. */
const FAILURES_SHOWN = 2;

export interface Follow {
  /** The address that the markup is fetched from again. */
  source: string;
  /** What other addresses begin with. */
  base: string;
  /** Called with each new status. */
  onStatus(status: LiveStatus): void;
  /** Called when other markup is on screen. */
  onPut(): void;
  /** Called when another state is on screen. */
  onShown(): void;
  /** Starts a new payment in place; null where the link on the page does. */
  onAgain: (() => void) | null;
}

/** Follows the invoice that `root` shows until the returned function is called. */
export function followInvoice(
  root: HTMLElement,
  { source, base, onStatus, onPut, onShown, onAgain }: Follow,
): () => void {
  let stream: EventSource | null = null;
  /** When the stream was last heard, in milliseconds. */
  let heard_at = 0;
  /** How far the server's clock is ahead of the browser's, in milliseconds. */
  let skew = 0;
  let refreshing = false;
  let refreshAgain = false;
  let stopped = false;
  let warned = false;
  let over = false;
  let failures = 0;
  let version = '';
  /** When the stream was last asked for, and whether it has ever opened since: one that has not was refused, or there is no connection. */
  let asked_at = 0;
  let opened = false;
  /** Until when the server wants to be left alone. */
  let quiet_until = 0;

  const find = <Found extends HTMLElement>(selector: string) => root.querySelector<Found>(selector);
  const data = (name: string): string => root.getAttribute(`data-${name}`) || '';
  const now = (): number => Date.now() + skew;
  const setClock = (seconds: number): void => {
    skew = seconds * 1000 - Date.now();
  };
  const write = (element: Element | null, text: string): void => {
    if (element && element.textContent !== text) element.textContent = text;
  };
  const announce = (text: string): void => {
    const region = find('[data-live]');
    if (region) region.textContent = text;
  };
  const showOffline = (offline: boolean): void => {
    const notice = find('[data-offline]');
    if (notice) notice.hidden = !offline;
  };
  const connected = (): void => {
    failures = 0;
    showOffline(false);
  };
  const isOpen = (): boolean => stream !== null && stream.readyState === EventSource.OPEN;
  const isClosed = (): boolean => !stream || stream.readyState === EventSource.CLOSED;

  /** The end of the time, which the server writes in UTC, in the time zone of the browser. */
  function showDeadline(): void {
    const time = find<HTMLTimeElement>('[data-before]');
    if (!time) return;
    const hour = { timeStyle: 'short' } as const;
    const dated = { dateStyle: 'medium', timeStyle: 'short' } as const;
    const isFar = +data('expires') - now() / 1000 > DATED_SECONDS;
    try {
      const text = new Date(time.dateTime).toLocaleString(root.lang, isFar ? dated : hour);
      time.textContent = (time.getAttribute('data-before') || '').replace('{time}', text);
    } catch {
      // A browser without these options: UTC stays.
    }
  }

  function digits(value: number, pad: boolean): string {
    try {
      return new Intl.NumberFormat(root.lang, { minimumIntegerDigits: pad ? 2 : 1 }).format(value);
    } catch {
      return (pad && value < 10 ? '0' : '') + value;
    }
  }

  function tick(): void {
    showClaim(root, now() / 1000);
    const left = find('[data-left]');
    if (stopped || !left) return;
    const seconds = Math.max(0, Math.floor(+data('expires') - now() / 1000));
    const hours = Math.floor(seconds / 3600);
    const minutes = Math.floor((seconds % 3600) / 60);
    write(
      left,
      `${hours ? `${digits(hours, false)}:` : ''}${digits(minutes, hours > 0)}:${digits(seconds % 60, true)}`,
    );
    root.classList.toggle('soon', seconds <= SOON_SECONDS);
    if (seconds <= LAST_SECONDS && seconds > 0 && !warned) {
      warned = true;
      announce(data('minute'));
    }
    if (seconds === 0 && !over) {
      over = true;
      void refresh();
    }
  }

  /** Replaces what is shown; the focus stays where it was, and what was unfolded stays so. */
  function show(next: HTMLElement): void {
    const keyOf = (element: Element): string =>
      element.getAttribute('data-copy') || element.getAttribute('data-wallet') || element.textContent || '';
    const focused = (root.getRootNode() as Document | ShadowRoot).activeElement;
    const focus_key = focused && keyOf(focused);
    const folds = () => Array.from(root.querySelectorAll<HTMLDetailsElement>('details'));
    const before = folds();
    const putClaim = holdClaim(root);
    const state = data('state');
    const unseen = find('[data-unseen]')?.textContent;
    for (const { name, value } of Array.from(next.attributes))
      if (name.startsWith('data-')) root.setAttribute(name, value);
    const body = next.querySelector('[data-body]');
    if (body) find('[data-body]')?.replaceWith(body);
    for (const fold of folds()) {
      const same = before.find((one) => one.className === fold.className);
      if (same) fold.open = same.open;
    }
    onPut();
    putClaim();
    if (focus_key)
      Array.from(root.querySelectorAll<HTMLElement>('button,a,summary'))
        .find((element) => keyOf(element) === focus_key)
        ?.focus();
    over = false;
    showDeadline();
    tick();
    const now_unseen = find('[data-unseen]')?.textContent;
    if (now_unseen && now_unseen !== unseen) announce(now_unseen);
    if (state === data('state')) return;
    announce(['.head', '.text'].map((part) => find(part)?.textContent || '').join('. '));
    onShown();
  }

  async function fetchMarkup(): Promise<void> {
    try {
      const headers = { accept: 'text/html' };
      const response = await fetch(source, { credentials: 'omit', cache: 'no-store', headers });
      // The server is there, and says when it has time.
      if (response.status === 429) {
        quiet_until = Date.now() + (+(response.headers.get('retry-after') || 0) || 1) * 1000;
        return connected();
      }
      if (!response.ok) throw response.status;
      const next = readMarkup(await response.text()).root;
      connected();
      if (!next || stopped) return;
      setClock(+(next.dataset.now || 0));
      if (next.dataset.version !== data('version') || next.dataset.state !== data('state')) show(next);
    } catch {
      if (++failures >= FAILURES_SHOWN) showOffline(true);
    }
  }

  /** One at a time; what is asked for meanwhile is fetched once afterwards. */
  async function refresh(): Promise<void> {
    if (stopped) return;
    if (refreshing) {
      refreshAgain = true;
      return;
    }
    refreshing = true;
    await fetchMarkup();
    refreshing = false;
    if (!refreshAgain) return;
    refreshAgain = false;
    void refresh();
  }

  function connect(): void {
    if (stopped || !window.EventSource) return;
    stream?.close();
    heard_at = asked_at = Date.now();
    opened = false;
    stream = new EventSource(`${base}/v1/pay/${data('invoice')}/events`);
    stream.addEventListener('open', () => {
      opened = true;
    });
    stream.addEventListener('status', (event: MessageEvent<string>) => {
      heard_at = Date.now();
      connected();
      const status: StatusMessage = JSON.parse(event.data);
      setClock(status.now);
      if (status.version !== version) {
        version = status.version;
        onStatus(status);
      }
      if (status.version !== data('version')) void refresh();
    });
    stream.addEventListener('time', (event: MessageEvent<string>) => {
      heard_at = Date.now();
      setClock(JSON.parse(event.data).now);
    });
  }

  function wake(event: Event): void {
    if (stopped || document.hidden) return;
    if (event.type === 'pageshow' && !(event as PageTransitionEvent).persisted) return;
    if (isClosed()) connect();
    void refresh();
  }

  function poll(): void {
    if (stopped || document.hidden) return;
    const refused = isClosed() && !opened;
    if (refused ? Date.now() - asked_at > REFUSED_MS : isClosed() || Date.now() - heard_at > SILENCE_MS)
      connect();
    if (!isOpen() && Date.now() >= quiet_until) void refresh();
  }

  function click(event: Event): void {
    const target = (event.target as Element).closest<HTMLElement>('[data-copy],[data-again]');
    if (!target) return;
    if (target.hasAttribute('data-copy')) copy(root, target, announce);
    else if (onAgain) {
      event.preventDefault();
      onAgain();
    }
  }

  function submit(event: Event): void {
    const form = event.target as HTMLFormElement;
    if (form.hasAttribute('data-claim')) {
      event.preventDefault();
      sendClaim(form, () => void refresh());
    }
    if (!form.hasAttribute('data-cancel')) return;
    event.preventDefault();
    const url = `${base}/v1/invoices/${data('invoice')}/cancel`;
    fetch(url, { method: 'POST', credentials: 'omit' }).then(refresh, () => showOffline(true));
  }

  setClock(+data('now'));
  showDeadline();
  tick();
  connect();
  root.addEventListener('click', click);
  root.addEventListener('submit', submit);
  const timers = [setInterval(tick, TICK_MS), setInterval(poll, POLL_MS)];
  document.addEventListener('visibilitychange', wake);
  window.addEventListener('online', wake);
  window.addEventListener('pageshow', wake);
  return () => {
    stopped = true;
    stream?.close();
    timers.forEach(clearInterval);
    document.removeEventListener('visibilitychange', wake);
    window.removeEventListener('online', wake);
    window.removeEventListener('pageshow', wake);
  };
}

/** The labels of buttons that say that they have copied, until they say again what they do. */
const copied = new WeakMap<Element, { label: string | null; timer: number }>();

/** Copies what a button carries, or selects it where the browser does not let us. */
function copy(root: HTMLElement, button: HTMLElement, announce: (text: string) => void): void {
  const value = button.getAttribute('data-copy') || '';

  function done(): void {
    const text = root.dataset.copied || '';
    announce(text);
    const before = copied.get(button);
    clearTimeout(before?.timer);
    const label = before ? before.label : button.textContent;
    button.textContent = text;
    button.classList.add('done');
    const timer = setTimeout(() => {
      button.textContent = label;
      button.classList.remove('done');
      copied.delete(button);
    }, COPIED_MS);
    copied.set(button, { label, timer });
  }

  function copyBySelection(): void {
    const area = document.createElement('textarea');
    area.value = value;
    area.readOnly = true;
    area.className = 'sr';
    root.appendChild(area);
    area.select();
    let ok = false;
    try {
      ok = document.execCommand('copy');
    } catch {
      // Forbidden here: the text is selected for the buyer to copy.
    }
    area.remove();
    button.focus();
    if (ok) {
      done();
      return;
    }
    const selection = window.getSelection();
    const shown = button.parentNode?.querySelector('.raw');
    if (selection && shown) selection.selectAllChildren(shown);
    announce(root.dataset.selected || '');
  }

  if (navigator.clipboard && window.isSecureContext)
    navigator.clipboard.writeText(value).then(done, copyBySelection);
  else copyBySelection();
}
