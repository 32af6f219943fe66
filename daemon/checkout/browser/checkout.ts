// On our own pages: says before the first paint that scripts run, then follows the invoice of the page.
import { followInvoice } from './follow-invoice.ts';
import { offerFound } from './found-wallets.ts';
import { offerLast, storeLast } from './last-wallet.ts';
import { tellHeight, tellHost } from './tell-host.ts';

/** As long as without scripts. */
const LEAD_MS = 5_000;

/** Leads back to the shop where the page says so, unless its reader wants to stay. */
function leadBack(root: HTMLElement): () => void {
  let timer = 0;
  let stays = false;
  root.addEventListener('click', (event) => {
    if (!(event.target as Element).closest('[data-stay]')) return;
    stays = true;
    clearTimeout(timer);
    root.querySelector('[data-leading]')?.remove();
  });
  return () => {
    clearTimeout(timer);
    const link = root.querySelector<HTMLAnchorElement>('a[data-lead=true]');
    // Going back must not lead here again.
    if (link && !stays) timer = window.setTimeout(() => location.replace(link.href), LEAD_MS);
  };
}

function start(): void {
  tellHeight();
  const root = document.querySelector<HTMLElement>('.gw[data-invoice]');
  const { unit } = document.querySelector<HTMLElement>('.gw[data-unit]')?.dataset ?? {};
  if (unit) tellHost({ type: 'gatewayd:ready', unit_id: unit });
  if (!root) {
    // A receipt: it stays as it is.
    document.querySelector('[data-print]')?.addEventListener('click', () => window.print());
    return;
  }
  tellHost({ type: 'gatewayd:ready', invoice_id: root.dataset.invoice || '' });
  root.classList.add('js');
  const stopRefreshing = (): void => {
    if (root.dataset.status !== 'created') document.querySelector('meta[http-equiv=refresh]')?.remove();
  };
  const lead = leadBack(root);
  lead();
  offerLast(root);
  root.addEventListener('click', storeLast);
  const base = document.body.dataset.base || '';
  const showFound = offerFound(root, base);
  followInvoice(root, {
    source: location.href,
    base,
    onStatus(status) {
      document.dispatchEvent(new CustomEvent('gatewayd:status', { detail: status }));
      tellHost({ type: 'gatewayd:status', ...status });
      stopRefreshing();
    },
    onPut() {
      offerLast(root);
      showFound();
    },
    onShown() {
      document.title = root.dataset.title || '';
      // A frame leaves the page around it where it is.
      if (window.parent === window) root.querySelector('.state')?.scrollIntoView({ block: 'nearest' });
      stopRefreshing();
      lead();
    },
    onAgain: null,
  });
}

if (document.readyState === 'loading') {
  const observer = new MutationObserver(() => {
    const root = document.querySelector('.gw');
    if (!root) return;
    root.classList.add('js');
    observer.disconnect();
  });
  observer.observe(document.documentElement, { childList: true, subtree: true });
  document.addEventListener('DOMContentLoaded', start);
} else start();
