// What a provider pushes of one blockchain: opened while an invoice is open, opened again where it ends, and never relied on.
import type { Logger } from 'pino';
import type { Gateway, Hint, HintFeed, Json, Network } from '../../../src/chains/family.ts';
import type { Clock } from '../../clock.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import { createCauses } from '../../process/causes.ts';
import type { HintSocket } from '../../process/network.ts';
import type { Runtime } from '../../process/runtime.ts';
import { openHintSocket } from './socket.ts';
import type { HintSource } from './source.ts';

/** From the attempt to the connection. */
const CONNECT_MS = 10_000;
/** A sign of life is asked for so often … */
const PING_MS = 15_000;
/** … and where none came for so long, the connection is dead. */
const SILENT_MS = 45_000;
/** A connection that ends is opened again after this, and after twice as long each time … */
const AGAIN_MS = 1_000;
const AGAIN_MOST_MS = 5 * 60_000;
/** … until one has stood for so long. */
const STABLE_MS = 60_000;
/** What is sent within a minute, at most: a source that sends more is left alone as long as one that failed often. */
const WINDOW_MS = 60_000;
const MESSAGES_PER_WINDOW = 6_000;
const BYTES_PER_WINDOW = 8 * 1024 * 1024;
/** A connection that was asked for too many addresses is opened again for those of now, this often at most. */
const RENEW_MS = 60_000;

/** Times are Unix milliseconds. */
export interface HintStatus {
  /** Its host. */
  source: string;
  /** Since when it stands; null where it does not. */
  connected_since: number | null;
  last_hint_at: number | null;
}

export interface Hints {
  /** Asks to hear of these addresses; where there are none, or no longer any, the connection ends. */
  follow(addresses: readonly string[], gateways: readonly Gateway[]): void;
  isConnected(): boolean;
  status(): HintStatus;
  close(): void;
}

export interface HintsOptions {
  blockchain: string;
  feed: HintFeed;
  source: HintSource;
  network: Network;
  clock: Clock;
  runtime: Runtime;
  log: Logger;
  metrics: Pick<Metrics, 'hints'>;
  onHint(hint: Hint): void;
}

interface Connection {
  socket: HintSocket;
  /** By the monotonic timer; null until it stands. */
  opened_ms: number | null;
  heard_ms: number;
  asked: Set<string>;
  window: { from_ms: number; messages: number; bytes: number };
  callOff(): void;
}

export function openHints(options: HintsOptions): Hints {
  const { blockchain, feed, source, network, clock, runtime, log, metrics, onHint } = options;
  const open = runtime.network ? runtime.network.toHints : openHintSocket;
  const causes = createCauses(log, runtime);
  let wanted: { addresses: readonly string[]; gateways: readonly Gateway[] } = {
    addresses: [],
    gateways: [],
  };
  let connection: Connection | undefined;
  let callOffRetry: (() => void) | undefined;
  let failures = 0;
  let connected_since: number | null = null;
  let last_hint_at: number | null = null;

  function connect(): void {
    callOffRetry = undefined;
    if (!open) return;
    const now = runtime.elapsed_ms();
    const isMine = () => connection === own;
    const own: Connection = {
      socket: { send: () => {}, ping: () => {}, close: () => {} },
      opened_ms: null,
      heard_ms: now,
      asked: new Set(),
      window: { from_ms: now, messages: 0, bytes: 0 },
      callOff: runtime.after(CONNECT_MS, () => isMine() && lose('no connection in time')),
    };
    connection = own;
    own.socket = open(
      source.url,
      { headers: source.headers, timeout_ms: CONNECT_MS, proxyOf: runtime.proxyOf },
      {
        onOpen: () => isMine() && onOpen(own),
        onText: (text) => isMine() && onText(own, text),
        onSign: () => {
          own.heard_ms = runtime.elapsed_ms();
        },
        onEnd: (why) => isMine() && lose(why),
      },
    );
  }

  function onOpen(own: Connection): void {
    own.callOff();
    own.opened_ms = own.heard_ms = runtime.elapsed_ms();
    connected_since = clock.ms();
    metrics.hints.add([blockchain, 'connected']);
    causes.over('hints', { blockchain }, `${source.label}: hints come again`);
    beatLater(own);
    ask(own);
    // What happened before is not heard of.
    onHint('block');
  }

  function beatLater(own: Connection): void {
    own.callOff = runtime.after(PING_MS, () => {
      if (connection !== own) return;
      if (runtime.elapsed_ms() - own.heard_ms >= SILENT_MS) {
        lose('no sign of life');
        return;
      }
      own.socket.ping();
      if (feed.keep_alive !== undefined) send(own, feed.keep_alive);
      beatLater(own);
    });
  }

  const send = ({ socket }: Connection, message: Json) => socket.send(JSON.stringify(message));

  function ask(own: Connection): void {
    const added = wanted.addresses.filter((address) => !own.asked.has(address));
    if (added.length === 0) return;
    if (own.asked.size + added.length > feed.most_addresses) {
      if (runtime.elapsed_ms() - (own.opened_ms ?? 0) >= RENEW_MS) renew();
      return;
    }
    for (const address of added) own.asked.add(address);
    const request = { addresses: [...own.asked], added, gateways: wanted.gateways, network };
    for (const message of feed.subscribe(request)) send(own, message);
  }

  function onText(own: Connection, text: string): void {
    const now = runtime.elapsed_ms();
    own.heard_ms = now;
    if (now - own.window.from_ms >= WINDOW_MS) own.window = { from_ms: now, messages: 0, bytes: 0 };
    own.window.messages++;
    own.window.bytes += text.length;
    if (own.window.messages > MESSAGES_PER_WINDOW || own.window.bytes > BYTES_PER_WINDOW) {
      lose('it sends too much', AGAIN_MOST_MS);
      return;
    }
    const hint = hintOf(text);
    if (hint === null) return;
    metrics.hints.add([blockchain, 'received']);
    last_hint_at = clock.ms();
    onHint(hint);
  }

  function hintOf(text: string): Hint | null {
    try {
      return feed.hintIn(JSON.parse(text));
    } catch {
      return null; // Not what was asked for.
    }
  }

  function end(): void {
    connection?.callOff();
    connection?.socket.close();
    connection = undefined;
    connected_since = null;
  }

  function renew(): void {
    end();
    connect();
  }

  function lose(why: string, least_ms = 0): void {
    const stood_ms = connection?.opened_ms == null ? 0 : runtime.elapsed_ms() - connection.opened_ms;
    end();
    metrics.hints.add([blockchain, 'lost']);
    failures = stood_ms >= STABLE_MS ? 1 : failures + 1;
    const wait_ms = Math.max(least_ms, Math.min(AGAIN_MOST_MS, AGAIN_MS * 2 ** (failures - 1)));
    const message = `${source.label}: no hints: ${source.redact(why)}; payments are found by reading alone`;
    causes.failed('hints', 'warn', { blockchain }, message);
    // Half of it by chance, so that many daemons do not return together.
    callOffRetry = runtime.after(wait_ms * (0.5 + runtime.random() / 2), connect);
  }

  function close(): void {
    callOffRetry?.();
    callOffRetry = undefined;
    end();
  }

  return {
    follow(addresses, gateways) {
      wanted = { addresses: addresses.slice(0, feed.most_addresses), gateways };
      if (wanted.addresses.length === 0) close();
      else if (connection?.opened_ms != null) ask(connection);
      else if (!connection && !callOffRetry) connect();
    },
    isConnected: () => connected_since !== null,
    status: () => ({ source: source.label, connected_since, last_hint_at }),
    close,
  };
}
