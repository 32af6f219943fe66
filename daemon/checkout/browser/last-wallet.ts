// On our own pages: the wallet that was opened last comes first the next time, and none is offered inside itself.

/** What this origin stores in the browser: the names of wallets, the last one first. */
const KEY = 'gatewayd:wallets';
/** One for each kind of money, about. */
const MAX_STORED = 6;

function stored(): string[] {
  try {
    return (localStorage.getItem(KEY) || '').split(' ').filter(Boolean);
  } catch {
    return [];
  }
}

/** Stores which wallet a click opens. */
export function storeLast(event: Event): void {
  const name = (event.target as Element).closest('[data-wallet]')?.getAttribute('data-wallet');
  if (!name) return;
  const names = [name, ...stored().filter((other) => other !== name)];
  try {
    localStorage.setItem(KEY, names.slice(0, MAX_STORED).join(' '));
  } catch {
    // Storage may be forbidden.
  }
}

/** Puts the last wallet that is offered in the first place; the others move up behind it. */
export function offerLast(root: Element): void {
  const place = root.querySelector('[data-wallets]');
  if (!place) return;
  const find = (selector: string) => place.querySelector<HTMLElement>(selector);
  const putFirst = (link: HTMLElement | null): void => {
    const first = find('.first');
    if (!link || !first || link === first) return;
    const words = [first, link].map((each) => each.className);
    [first.className, link.className] = [words[1] || '', words[0] || ''];
    const gap = document.createComment('');
    link.replaceWith(gap);
    first.replaceWith(link);
    find('summary')?.after(first);
    gap.remove();
  };
  for (const link of Array.from(place.querySelectorAll<HTMLElement>('[data-browser]'))) {
    if (!navigator.userAgent.includes(link.dataset.browser || '')) continue;
    if (link.matches('.first')) putFirst(find('.others a'));
    link.remove();
  }
  const name = stored().find((each) => find(`[data-wallet="${CSS.escape(each)}"]`));
  if (name) putFirst(find(`[data-wallet="${CSS.escape(name)}"]`));
}
