// Wallets that the browser of our own pages has: finds them, hands them the payment, and says what became of it.

/** What the page says of it: `confirm` while the wallet asks, `again` before it asks once more, the rest when it has answered. */
type Outcome = 'confirm' | 'again' | 'sent' | 'declined' | 'network' | 'cannot' | 'failed' | 'later';

/** What the server has written into the page. */
interface Setup {
  protocol: 'standard' | 'bridge';
  network: string;
  /** Of `standard`: the feature that signs and sends. */
  sends: string;
  /** Of `bridge`: where it is, and what it is asked for. */
  property: string;
  asks: string[];
  say: Record<Outcome | 'pay', string>;
}

/** What the server makes of an account; with a `code`, why not. */
interface Composed {
  code?: string;
  transaction: string;
  valid_seconds: number;
  network: string;
  valid_until: number;
  messages: unknown[];
}

interface Account {
  address: string;
  chains: readonly string[];
  features: readonly string[];
}

/** Wallet Standard, as far as it is used. */
interface StandardWallet {
  name: string;
  icon?: string;
  chains: readonly string[];
  features: Record<string, Record<string, (input?: unknown) => Promise<unknown>>>;
}

interface BridgeAnswer {
  event?: string;
  payload?: { code?: number; items?: { name: string; address: string; network: string }[] };
  error?: { code?: number };
}

/** What wallets put into the page. */
interface Bridge {
  protocolVersion: number;
  walletInfo?: { name?: string; image?: string };
  connect(version: number, request: unknown): Promise<BridgeAnswer>;
  send(request: unknown): Promise<BridgeAnswer>;
}

/** A wallet as it is offered. Its name and icon are its own words, read once. */
interface Offer {
  name: string;
  icon: string | null;
  /** Tells what happens before it has an outcome. */
  pay(tell: Tell): Promise<Outcome>;
}

type Tell = (outcome: Outcome) => void;

/** What became of a payment, and in which state of the invoice. */
interface Shown {
  outcome: Outcome;
  name: string;
  state: string | undefined;
  /** In milliseconds. */
  at: number;
}

const BRIDGE_VERSION = 2;
/** What both protocols call a person's no. */
const REFUSED_CODES: unknown[] = [300, 4001];
const REFUSED = /reject|cancel|declin|denied/i;
const MAX_NAME = 40;
/** Nothing but a picture that is in the address itself; the policy of the page loads no other. */
const ICON = /^data:image\/(?:png|svg\+xml|webp|jpeg|gif)[;,]/;
const MAX_ICON = 100_000;
/** How long what was sent may take to be seen: twice as long as any wallet takes it for valid. Then it may be tried again. */
const SENT_MS = 600_000;
/** A wallet whose payment has lapsed is asked once more after so long: by then, what it may have sent all the same is seen … */
const AGAIN_MS = 8_000;
/** … and so often in all. */
const MOST_ASKED = 3;
/** What this tab stores of an invoice, so that a reload does not offer to pay again. */
const SENT_KEY = 'gatewayd:sent:';

/** Offers them from now on; what is returned puts them into markup that has come since. */
export function offerFound(root: HTMLElement, base: string): () => void {
  const registered: StandardWallet[] = [];
  let busy = false;
  const key = `${SENT_KEY}${root.dataset.invoice}`;
  let shown = storedSent(key);

  /** The payment for an account, or what went wrong. */
  async function compose(account: string): Promise<Composed | Outcome> {
    const url = `${base}/v1/invoices/${root.dataset.invoice}/transaction`;
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ account });
    try {
      const response = await fetch(url, { method: 'POST', credentials: 'omit', headers, body });
      const composed: Composed = await response.json();
      if (response.ok) return composed;
      if (composed.code === 'payment_detected') return 'sent';
      return composed.code === 'payer_cannot_pay' ? 'cannot' : 'later';
    } catch {
      return 'later';
    }
  }

  async function payStandard(
    { features }: StandardWallet,
    { network, sends }: Setup,
    tell: Tell,
  ): Promise<Outcome> {
    const answer = await features['standard:connect']?.connect?.();
    const { accounts } = answer as { accounts: Account[] };
    const account = accounts.find((one) => one.chains.includes(network) && one.features.includes(sends));
    if (!account) return 'network';
    for (let asked = 1; ; asked++) {
      tell('confirm');
      const composed = await compose(account.address);
      if (typeof composed === 'string') return composed;
      const transaction = Uint8Array.from(atob(composed.transaction), (each) => each.charCodeAt(0));
      const lapses_at = performance.now() + composed.valid_seconds * 1000;
      try {
        await features[sends]?.[sends.split(':')[1] || '']?.({ account, transaction, chain: network });
        return 'sent';
      } catch (error) {
        const outcome = readRefusal(error as Refused);
        // What fails in time may have been sent; what fails later can be taken no more.
        if (outcome !== 'failed' || performance.now() < lapses_at || asked === MOST_ASKED) return outcome;
      }
      tell('again');
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }

  async function payBridge(bridge: Bridge, { network, asks }: Setup): Promise<Outcome> {
    const manifestUrl = new URL(`${base}/wallet-manifest.json`, location.href).href;
    const items = asks.map((name) => ({ name }));
    const { event, payload } = await bridge.connect(BRIDGE_VERSION, { manifestUrl, items });
    const account = payload?.items?.find(({ name }) => name === asks[0]);
    if (event !== 'connect' || !account) return refusedOr(payload?.code);
    if (account.network !== network) return 'network';
    const composed = await compose(account.address);
    if (typeof composed === 'string') return composed;
    const { valid_until, messages } = composed;
    const order = { valid_until, network, from: account.address, messages };
    const id = String(Date.now());
    const request = { method: 'sendTransaction', params: [JSON.stringify(order)], id };
    const { error } = await bridge.send(request);
    return error ? refusedOr(error.code) : 'sent';
  }

  function offersOf(setup: Setup): Offer[] {
    const makers =
      setup.protocol === 'bridge'
        ? bridgesIn(setup.property).map(([name, bridge]) => () => ({
            name: nameOf(bridge.walletInfo?.name || name),
            icon: iconOf(bridge.walletInfo?.image),
            pay: () => payBridge(bridge, setup),
          }))
        : registered.map((wallet) => () => ({
            name: fits(wallet, setup) ? nameOf(wallet.name) : '',
            icon: iconOf(wallet.icon),
            pay: (tell: Tell) => payStandard(wallet, setup, tell),
          }));
    return makers.flatMap((make) => readOffer(make)).filter(({ name }) => name);
  }

  async function pay({ name, pay: ask }: Offer, button: string): Promise<void> {
    const { state } = root.dataset;
    const tell: Tell = (outcome) => {
      shown = { outcome, name, state, at: Date.now() };
      show();
    };
    busy = true;
    tell('confirm');
    const outcome = await ask(tell).catch(readRefusal);
    busy = false;
    shown = { outcome, name, state, at: Date.now() };
    if (outcome === 'sent') storeSent(key, shown);
    show();
    root.querySelector<HTMLElement>(button)?.focus();
  }

  function show(): void {
    const place = root.querySelector<HTMLElement>('[data-found]');
    const words = place?.querySelector('[data-outcome]');
    if (!place || !words || !window.isSecureContext) return;
    const setup: Setup = JSON.parse(place.dataset.found || '');
    const say = (what: Outcome | 'pay', name: string): string =>
      setup.say[what].split('{wallet}').join(`\u2068${name}\u2069`);
    // What is shown in another state is over; what was sent in this one must not be sent again.
    const now = shown && (busy || (shown.state === root.dataset.state && !isOld(shown))) ? shown : null;
    const buttons = offersOf(setup).map((offer, at) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.className = `btn found-${at}${at ? '' : ' first'}`;
      button.disabled = busy || now?.outcome === 'sent';
      button.textContent = say('pay', offer.name);
      if (offer.icon) button.prepend(drawn(offer.icon));
      button.onclick = () => void pay(offer, `.found-${at}`);
      return button;
    });
    for (const old of Array.from(place.querySelectorAll('button'))) old.remove();
    words.before(...buttons);
    const text = now ? say(now.outcome, now.name) : '';
    if (words.textContent !== text) words.textContent = text;
    place.hidden = buttons.length === 0 && !text;
  }

  const api = Object.freeze({
    register(...wallets: StandardWallet[]) {
      registered.push(...wallets);
      show();
      return () => {
        for (const wallet of wallets) registered.splice(registered.indexOf(wallet) >>> 0, 1);
        show();
      };
    },
  });
  addEventListener('wallet-standard:register-wallet', (event) => (event as CustomEvent).detail(api));
  dispatchEvent(new CustomEvent('wallet-standard:app-ready', { detail: api }));
  // What wallets put into the page may come with its last part.
  addEventListener('load', show);
  show();
  return show;
}

const refusedOr = (code: unknown, message = ''): Outcome =>
  REFUSED_CODES.includes(code) || REFUSED.test(message) ? 'declined' : 'failed';

type Refused = { code?: unknown; message?: unknown } | undefined;

/** What was thrown may be anything, too. */
function readRefusal(error: Refused): Outcome {
  try {
    return refusedOr(error?.code, String(error?.message));
  } catch {
    return 'failed';
  }
}

/** A stranger's object may be anything: what cannot be read is not offered. */
function readOffer(make: () => Offer): Offer[] {
  try {
    return [make()];
  } catch {
    return [];
  }
}

const fits = ({ chains, features }: StandardWallet, { network, sends }: Setup): boolean =>
  chains.includes(network) && !!features['standard:connect'] && !!features[sends];

const isOld = ({ outcome, at }: Shown): boolean => outcome === 'sent' && Date.now() - at > SENT_MS;

function storeSent(key: string, sent: Shown): void {
  try {
    sessionStorage.setItem(key, JSON.stringify(sent));
  } catch {
    // Storage may be forbidden.
  }
}

function storedSent(key: string): Shown | null {
  try {
    return JSON.parse(sessionStorage.getItem(key) || 'null');
  } catch {
    return null;
  }
}

/** Those that are plain values: nothing is run to find them. Several names may be of one. */
function bridgesIn(property: string): [string, Bridge][] {
  const found = new Map<Bridge, string>();
  for (const key of Object.getOwnPropertyNames(window))
    try {
      const bridge: Bridge | undefined = Object.getOwnPropertyDescriptor(window, key)?.value?.[property];
      if (bridge && bridge.protocolVersion >= BRIDGE_VERSION && !found.has(bridge)) found.set(bridge, key);
    } catch {
      // A frame of another origin, or an object that answers no question.
    }
  return Array.from(found, ([bridge, key]) => [key, bridge]);
}

const nameOf = (name: unknown): string => String(name).trim().slice(0, MAX_NAME);

const iconOf = (address: unknown): string | null =>
  typeof address === 'string' && address.length <= MAX_ICON && ICON.test(address) ? address : null;

function drawn(address: string): HTMLImageElement {
  const image = document.createElement('img');
  image.className = 'logo';
  image.alt = '';
  image.src = address;
  return image;
}
