// What providers push over their sockets: late, twice, not at all, for nothing, and what is no hint. Nothing rests on it.
import type { HintListener, OpenHintSocket } from '../../daemon/process/network.ts';
import { isEvm } from './evm-model.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

/** Probabilities, and how bad it is then. */
export interface HintFaults {
  /** Whether there are hints at all. */
  sent: number;
  /** Of a payment: no hint comes, or two, or one that is late. */
  lost: number;
  doubled: number;
  late: number;
  late_ms: number;
  /** Of a minute, for each connection: a hint for nothing, what is none, or the end of the connection. */
  invented: number;
  garbled: number;
  broken: number;
}

export const NO_HINT_FAULTS: HintFaults = {
  sent: 0,
  lost: 0,
  doubled: 0,
  late: 0,
  late_ms: 0,
  invented: 0,
  garbled: 0,
  broken: 0,
};

interface Connection {
  blockchain: string;
  listener: HintListener;
  isOpen(): boolean;
  end(why: string): void;
}

/** Of hints for nothing, so many come at once. */
const MOST_AT_ONCE = 40;
const SOON_MS = 6_000;
const CONNECTS_MS = 300;
const REFUSED = 0.05;
const GARBAGE = [
  '',
  'null',
  '[]',
  '{',
  '{"method":"eth_subscription"}',
  '{"type":7}',
  `[${'['.repeat(5_000)}`,
];

/** How the providers of a blockchain say that an account has changed. */
function movedIn(blockchain: string): string {
  if (blockchain === 'ton') return JSON.stringify({ type: 'account_state_change' });
  if (blockchain === 'solana') return JSON.stringify({ method: 'accountNotification', params: {} });
  if (!isEvm(blockchain)) return JSON.stringify({ block: { height: 1 } });
  return JSON.stringify({ method: 'eth_subscription', params: { result: { topics: [] } } });
}

export class HintHosts {
  readonly #world: World;
  readonly #random: Random;
  #faults: HintFaults;
  #connections: Connection[] = [];
  sent = 0;

  constructor(world: World, random: Random, faults: HintFaults) {
    this.#world = world;
    this.#random = random;
    this.#faults = faults;
  }

  /** Settings that name the hosts. */
  settingsOf(blockchains: readonly string[]): Record<string, string> {
    if (this.#faults.sent === 0) return {};
    return Object.fromEntries(
      blockchains.map((id) => [`blockchains.${id}.hints_url`, `wss://${hostOf(id)}/`] as const),
    );
  }

  /** Sockets as one daemon opens them; nothing reaches one that is dead. */
  openFor(alive: () => boolean): OpenHintSocket {
    return ({ host }, _options, listener) => {
      let is_open = false;
      let is_over = false;
      const isOpen = () => is_open && !is_over && alive();
      const end = (why: string) => {
        if (is_over || !alive()) return;
        is_over = true;
        listener.onEnd(why);
      };
      const connection = { blockchain: host.split('.')[1] ?? '', listener, isOpen, end };
      this.#world.after(this.#random.unit() * CONNECTS_MS, () => {
        if (is_over || !alive()) return;
        if (this.#random.chance(REFUSED)) return end('refused');
        is_open = true;
        this.#connections = [...this.#connections.filter((each) => each.isOpen()), connection];
        listener.onOpen();
        this.#trouble(connection);
      });
      return {
        send: () => {},
        ping: () =>
          void this.#world.after(this.#random.unit() * CONNECTS_MS, () => isOpen() && listener.onSign()),
        close: () => {
          is_over = true;
        },
      };
    };
  }

  /** Somebody pays. */
  paid(blockchain: string): void {
    const { lost, doubled, late, late_ms } = this.#faults;
    for (const connection of this.#connections) {
      if (connection.blockchain !== blockchain || this.#random.chance(lost)) continue;
      const count = this.#random.chance(doubled) ? 2 : 1;
      const most_ms = this.#random.chance(late) ? late_ms : SOON_MS;
      for (let each = 0; each < count; each++)
        this.#say(connection, movedIn(blockchain), this.#random.unit() * most_ms);
    }
  }

  calm(): void {
    this.#faults = { ...NO_HINT_FAULTS, sent: this.#faults.sent };
  }

  #say(connection: Connection, text: string, ms: number): void {
    this.#world.after(ms, () => {
      if (!connection.isOpen()) return;
      this.sent++;
      this.#world.note('hint', () => `hint of ${connection.blockchain}: ${text.slice(0, 80)}`);
      connection.listener.onText(text);
    });
  }

  /** What one connection says for nothing, minute by minute. */
  #trouble(connection: Connection): void {
    this.#world.after(this.#random.exponential(60_000), () => {
      if (!connection.isOpen()) return;
      const { invented, garbled, broken } = this.#faults;
      if (this.#random.chance(invented))
        for (let each = this.#random.int(1, MOST_AT_ONCE); each > 0; each--)
          this.#say(connection, movedIn(connection.blockchain), this.#random.unit() * SOON_MS);
      if (this.#random.chance(garbled)) this.#say(connection, this.#random.pick(GARBAGE), 0);
      if (this.#random.chance(broken)) return connection.end('the connection broke');
      this.#trouble(connection);
    });
  }
}

const hostOf = (blockchain: string): string => `hints.${blockchain}.example`;
