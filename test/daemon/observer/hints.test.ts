// Hints: what a provider pushes brings a reading forward, and nothing that it sends, or leaves unsent, costs more than a bounded number.
import { createServer, type Socket } from 'node:net';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import { createForward, UNFINISHED_MS, WATCHED_MS } from '../../../daemon/observer/hints/forward.ts';
import { openHints } from '../../../daemon/observer/hints/hints.ts';
import {
  createSchedule,
  HINTED_AT_ONCE,
  HINTED_EACH_MS,
  HINTED_SHARE,
} from '../../../daemon/observer/hints/schedule.ts';
import { MAX_MESSAGE_BYTES, openHintSocket } from '../../../daemon/observer/hints/socket.ts';
import { hintSourceOf } from '../../../daemon/observer/hints/source.ts';
import { openWatched } from '../../../daemon/observer/hints/watched.ts';
import type { ReadOutcome } from '../../../daemon/observer/reader.ts';
import type { HintListener, OpenHintSocket } from '../../../daemon/process/network.ts';
import { type Runtime, systemRuntime } from '../../../daemon/process/runtime.ts';
import type { Blockchain } from '../../../src/chains/catalogue.ts';
import type { Hint, HintFeed } from '../../../src/chains/family.ts';
import { blockchains, findBlockchain } from '../../../src/chains/gateways.ts';
import { unasked_provider } from '../../helpers/reading.ts';
import { until } from '../../helpers/until.ts';
import { verifies } from '../../requirements.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Time that a test lets pass: all timers, and the monotonic one with them. */
function fakeTime(): void {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
  afterEach(() => void vi.useRealTimers());
}
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe('the schedule of a blockchain', () => {
  fakeTime();
  const INTERVAL_MS = 10 * MINUTE_MS;

  /** Reads again and again until the test ends. */
  function open({
    requests = 1,
    requests_per_second = 50,
    finds = (): boolean => true,
    interval_ms = INTERVAL_MS,
  } = {}) {
    const begun: number[] = [];
    const stopping = new AbortController();
    onTestFinished(() => stopping.abort());
    let forward = 0;
    const schedule = createSchedule({
      runtime: systemRuntime,
      cost: () => ({ requests, requests_per_second }),
      onForward: () => forward++,
    });
    const loop = async () => {
      while (!stopping.signal.aborted) {
        begun.push(performance.now());
        schedule.read(finds(), null);
        await schedule.sleep(interval_ms, stopping.signal);
      }
    };
    void loop();
    return { schedule, begun, forward: () => forward, stop: () => stopping.abort() };
  }

  test('brings a reading forward for a hint, and waits its pause after it', async () => {
    verifies('hints-forward');
    const { schedule, begun } = open();
    await pass(INTERVAL_MS / 2);
    schedule.hint('moved');
    await pass(1);
    expect(begun).toHaveLength(2);
    await pass(INTERVAL_MS - 2);
    expect(begun).toHaveLength(2);
    await pass(2);
    expect(begun).toHaveLength(3);
  });

  test('reads again for a hint that comes while a reading is under way', async () => {
    verifies('hints-forward');
    let readings = 0;
    const { schedule, begun } = open({
      finds: () => {
        if (++readings === 2) schedule.hint('block');
        return true;
      },
    });
    await pass(INTERVAL_MS);
    await pass(1);
    expect(begun).toHaveLength(3);
  });

  test('reads again, twice at most, where it found nothing of what moved', async () => {
    verifies('hints-forward');
    let finds = false;
    const { schedule, begun } = open({ finds: () => finds });
    schedule.hint('moved');
    await pass(MINUTE_MS);
    expect(begun).toHaveLength(4);
    schedule.hint('block');
    await pass(MINUTE_MS);
    expect(begun).toHaveLength(5);
    finds = true;
    schedule.hint('moved');
    await pass(MINUTE_MS);
    expect(begun).toHaveLength(6);
  });

  test.each(['moved', 'block'] satisfies Hint[])(
    'costs at most so many readings a minute in a flood of hints (%s)',
    async (kind) => {
      verifies('hints-bounded');
      const { schedule, begun, forward } = open({ finds: () => false });
      const minutes = 5;
      for (let ms = 0; ms < minutes * MINUTE_MS; ms += 20) {
        schedule.hint(kind);
        await pass(20);
      }
      const most = HINTED_AT_ONCE + (minutes * MINUTE_MS) / HINTED_EACH_MS;
      expect(begun.length).toBeLessThanOrEqual(1 + most);
      expect(forward()).toBeGreaterThan(most / 2);
    },
  );

  test('leaves a provider that takes little the larger part of what it takes', async () => {
    verifies('hints-bounded');
    const { schedule, begun } = open({ requests: 6, requests_per_second: 4 });
    for (let ms = 0; ms < 5 * MINUTE_MS; ms += 100) {
      schedule.hint('moved');
      await pass(100);
    }
    const asked = (begun.length - 1 - HINTED_AT_ONCE) * 6;
    expect(asked).toBeLessThanOrEqual(5 * 60 * 4 * HINTED_SHARE);
  });

  test('reads when what it found is due, and ends at once where it is stopped', async () => {
    verifies('hints-forward');
    const stopping = new AbortController();
    const schedule = createSchedule({
      runtime: systemRuntime,
      cost: () => ({ requests: 1, requests_per_second: 10 }),
      onForward: () => {},
    });
    schedule.read(true, 5_000);
    let ended = 0;
    void schedule.sleep(INTERVAL_MS, stopping.signal).then(() => ended++);
    await pass(4_900);
    expect(ended).toBe(0);
    await pass(200);
    expect(ended).toBe(1);
    void schedule.sleep(INTERVAL_MS, stopping.signal).then(() => ended++);
    stopping.abort();
    await pass(0);
    expect(ended).toBe(2);
  });
});

const plain: HintFeed = {
  most_addresses: 10,
  urlFor: () => null,
  subscribe: ({ added }) => [{ subscribe: [...added] }],
  hintIn: (message) => ((message as { hint?: Hint }).hint ?? null) as Hint | null,
};

/** Hints over a connection that the test plays. */
function openPlayed(feed: HintFeed = plain) {
  const listeners: HintListener[] = [];
  const sent: unknown[] = [];
  const hints_given: Hint[] = [];
  let closed = 0;
  const toHints: OpenHintSocket = (_url, _options, listener) => {
    listeners.push(listener);
    return {
      send: (text) => void sent.push(JSON.parse(text)),
      ping: () => void sent.push('ping'),
      close: () => void closed++,
    };
  };
  const counted: string[] = [];
  const runtime = {
    ...systemRuntime,
    random: () => 0,
    network: { toHints } as unknown as Runtime['network'],
  };
  const hints = openHints({
    blockchain: 'chain',
    feed,
    source: { label: 'hints at host', url: new URL('ws://host/'), headers: {}, redact: (text) => text },
    network: 'testnet',
    clock: { ms: () => performance.now() },
    runtime,
    log: pino({ level: 'silent' }),
    metrics: { hints: { add: ([, event = '']) => void counted.push(event) } },
    onHint: (hint) => void hints_given.push(hint),
  });
  onTestFinished(() => hints.close());
  const last = () => listeners.at(-1) as HintListener;
  return { hints, listeners, last, sent, hints_given, counted, closed: () => closed };
}

describe('a connection for hints', () => {
  fakeTime();

  test('is opened while an invoice is open, asks for what is new, and ends with the last of them', async () => {
    verifies('hints-forward');
    const { hints, listeners, last, sent, hints_given, closed } = openPlayed();
    hints.follow([], []);
    expect(listeners).toHaveLength(0);
    hints.follow(['a', 'b'], []);
    last().onOpen();
    expect(sent).toEqual([{ subscribe: ['a', 'b'] }]);
    // What moved before it stood is read once.
    expect(hints_given).toEqual(['block']);
    hints.follow(['b', 'c'], []);
    expect(sent.slice(1)).toEqual([{ subscribe: ['c'] }]);
    last().onText('{"hint":"moved"}');
    expect(hints_given).toEqual(['block', 'moved']);
    expect(hints.status()).toMatchObject({ connected_since: expect.any(Number) });
    hints.follow([], []);
    expect(closed()).toBe(1);
    expect(hints.isConnected()).toBe(false);
    await pass(HOUR_MS);
    expect(listeners).toHaveLength(1);
  });

  test('that never comes, or ends at once, is tried ever more seldom', async () => {
    verifies('hints-bounded');
    const { hints, listeners, last } = openPlayed();
    hints.follow(['a'], []);
    for (let ms = 0; ms < HOUR_MS; ms += 1_000) {
      // Each reading asks for it again.
      hints.follow(['a'], []);
      await pass(1_000);
    }
    expect(listeners.length).toBeLessThan(40);
    expect(listeners.length).toBeGreaterThan(10);
    const before = listeners.length;
    last().onOpen();
    for (let minutes = 0; minutes < 60; minutes++) {
      last().onEnd('closed');
      await pass(MINUTE_MS);
    }
    expect(listeners.length - before).toBeLessThan(40);
  });

  test('that stood is opened again within seconds', async () => {
    verifies('hints-forward');
    const { hints, listeners, last, hints_given } = openPlayed();
    hints.follow(['a'], []);
    last().onOpen();
    for (let ms = 0; ms < 2 * MINUTE_MS; ms += 10_000) {
      await pass(10_000);
      last().onSign();
    }
    last().onEnd('closed');
    expect(hints.isConnected()).toBe(false);
    await pass(1_000);
    expect(listeners).toHaveLength(2);
    last().onOpen();
    expect(hints_given).toEqual(['block', 'block']);
  });

  test('that gives no sign of life is left, and one that does stays', async () => {
    verifies('hints-bounded');
    const { hints, last, sent, counted } = openPlayed({ ...plain, keep_alive: 'here' });
    hints.follow(['a'], []);
    last().onOpen();
    for (let ms = 0; ms < 10 * MINUTE_MS; ms += 10_000) {
      last().onSign();
      await pass(10_000);
    }
    expect(counted).toEqual(['connected']);
    expect(sent.filter((each) => each === 'ping').length).toBeGreaterThan(30);
    expect(sent.filter((each) => each === 'here').length).toBeGreaterThan(30);
    await pass(MINUTE_MS);
    expect(counted).toContain('lost');
  });

  test('that sends too much is left alone for minutes', async () => {
    verifies('hints-bounded');
    const { hints, listeners, last, hints_given } = openPlayed();
    hints.follow(['a'], []);
    for (let flood = 1; flood <= 2; flood++) {
      last().onOpen();
      const flooding = last();
      for (let each = 0; each < 100_000; each++) flooding.onText('{"hint":"block"}');
      expect(hints_given.length).toBeLessThanOrEqual(flood * 7_000);
      await pass(2 * MINUTE_MS);
      expect(listeners).toHaveLength(flood);
      await pass(35_000);
      expect(listeners).toHaveLength(flood + 1);
    }
  });

  test('takes nothing for a hint that is none', () => {
    verifies('hints-bounded');
    const texts = ['', 'null', '[]', '7', '"hint"', '{', '\0', '{"hint":null}', `${'['.repeat(30_000)}`];
    texts.push(`${'[{"method":'.repeat(5_000)}1${'}]'.repeat(5_000)}`, '{"method":{},"params":7,"type":[]}');
    texts.push('{"method":"eth_subscription"}', '{"type":"pong"}', '{"__proto__":{"method":"x"}}');
    for (const { family } of blockchains) {
      if (!family.hints) continue;
      const { hints, last, hints_given } = openPlayed(family.hints);
      hints.follow(['0x00'], []);
      for (const text of texts) last().onText(text);
      expect(hints_given.filter((hint) => hint === 'moved')).toEqual([]);
    }
  });

  test('that was asked for too many addresses is opened again for those of now, once a minute at most', async () => {
    verifies('hints-bounded');
    const { hints, listeners, last, sent } = openPlayed();
    const round = (at: number) => Array.from({ length: 10 }, (_, each) => `${at} ${each}`);
    hints.follow(round(0), []);
    last().onOpen();
    for (let at = 1; at <= 40; at++) {
      await pass(5_000);
      last().onSign();
      const before = listeners.length;
      hints.follow(round(at), []);
      if (listeners.length > before) last().onOpen();
    }
    expect(listeners.length).toBeGreaterThan(2);
    expect(listeners.length).toBeLessThanOrEqual(5);
    for (const each of sent)
      if (each !== 'ping') expect((each as { subscribe: string[] }).subscribe.length).toBeLessThanOrEqual(10);
  });
});

describe('over a real socket', () => {
  const servers: (() => void)[] = [];
  afterEach(() => {
    for (const stop of servers.splice(0)) stop();
  });

  async function listen(onConnection: (socket: import('ws').WebSocket) => void): Promise<URL> {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    servers.push(() => {
      for (const client of server.clients) client.terminate();
      server.close();
    });
    await new Promise<void>((resolve) => server.on('listening', resolve));
    server.on('connection', (socket) => onConnection(socket.on('error', () => {})));
    return new URL(`ws://127.0.0.1:${server.address().port}/`);
  }

  /** What comes of a connection until it ends, or until `count` texts came. */
  function gather(url: URL, count = Number.POSITIVE_INFINITY, timeout_ms = 5_000) {
    const texts: string[] = [];
    return new Promise<{ texts: string[]; why: string | null }>((resolve) => {
      const socket = openHintSocket(
        url,
        { headers: {}, timeout_ms },
        {
          onOpen: () => {},
          onSign: () => {},
          onText(text) {
            texts.push(text);
            if (texts.length < count) return;
            socket.close();
            resolve({ texts, why: null });
          },
          onEnd: (why) => resolve({ texts, why }),
        },
      );
    });
  }

  test('short texts come', async () => {
    const url = await listen((socket) => {
      socket.send('one');
      socket.send('two');
    });
    expect(await gather(url, 2)).toEqual({ texts: ['one', 'two'], why: null });
  });

  test.each([
    ['a message of 10 MB', (socket: import('ws').WebSocket) => socket.send('['.repeat(10_000_000))],
    ['one byte too many', (socket: import('ws').WebSocket) => socket.send(' '.repeat(MAX_MESSAGE_BYTES + 1))],
    [
      'bytes',
      (socket: import('ws').WebSocket) => socket.send(Buffer.from('{"hint":"moved"}') as unknown as string),
    ],
  ])('%s ends the connection, unread', async (_, send) => {
    verifies('hints-bounded');
    const { texts, why } = await gather(await listen(send));
    expect(texts).toEqual([]);
    expect(why).not.toBeNull();
  });

  test('a host that takes connections and says nothing, and one that is not there, end it', async () => {
    verifies('hints-bounded');
    const open = new Set<Socket>();
    const mute = createServer((socket) => void open.add(socket.on('error', () => {})));
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    servers.push(() => {
      for (const socket of open) socket.destroy();
      mute.close();
    });
    const { port } = mute.address() as { port: number };
    const silent = await gather(new URL(`ws://127.0.0.1:${port}/`), 1, 200);
    expect(silent.why).toMatch(/timed out/);
    const gone = await gather(new URL('ws://127.0.0.1:1/'));
    expect(gone.why).toMatch(/ECONNREFUSED/);
  });

  test('closing ends it at every stage, and nothing is heard of it afterwards', async () => {
    let connected = 0;
    const url = await listen((socket) => {
      connected++;
      socket.send('text');
    });
    const heard: string[] = [];
    const listener: HintListener = {
      onOpen: () => void heard.push('open'),
      onSign: () => {},
      onText: (text) => void heard.push(text),
      onEnd: (why) => void heard.push(why),
    };
    openHintSocket(url, { headers: {}, timeout_ms: 1_000 }, listener).close();
    const second = openHintSocket(url, { headers: {}, timeout_ms: 1_000 }, listener);
    await until('a text', async () => heard.includes('text') || undefined);
    second.close();
    await until('no client', async () => connected > 0 || undefined);
    expect(heard).toEqual(['open', 'text']);
  });
});

describe('where hints come from', () => {
  const providerAt = (url: string, api_key?: string) => ({
    provider: 'toncenter',
    url,
    ...(api_key === undefined ? {} : { api_key }),
  });
  const familyOf = (id: string) => (findBlockchain(id) as Blockchain).family;
  const at = (id: string, url: string) => hintSourceOf(familyOf(id), undefined, [providerAt(url)])?.url.href;

  test('is known of the hosts that document it, and of no other', () => {
    expect(at('ton', 'https://toncenter.com/api/v3')).toBe('wss://toncenter.com/api/streaming/v2/ws');
    expect(at('ton', 'https://testnet.toncenter.com/api/v3')).toBe(
      'wss://testnet.toncenter.com/api/streaming/v2/ws',
    );
    expect(at('ton', 'https://toncenter.com.example/api/v3')).toBeUndefined();
    expect(at('solana', 'https://api.devnet.solana.com')).toBe('wss://api.devnet.solana.com/');
    expect(at('solana', 'https://x.example/?api-key=1')).toBe('wss://x.example/?api-key=1');
    expect(at('solana', 'http://127.0.0.1:8899')).toBeUndefined();
    expect(at('base', 'https://base-rpc.publicnode.com')).toBe('wss://base-rpc.publicnode.com/');
    expect(at('base', 'https://mainnet.base.org')).toBeUndefined();
    expect(at('tron', 'https://tron-rpc.publicnode.com/jsonrpc')).toBeUndefined();
    expect(at('bitcoin', 'https://mempool.space/api')).toBeUndefined();
  });

  test('is what the settings say; a key goes to the host of its provider alone, and into no message', () => {
    const providers = [providerAt('https://own.example/api/v3', 'sesame-1')];
    const given = (url: string) => hintSourceOf(familyOf('ton'), url, providers);
    expect(given('none')).toBeNull();
    expect(given('wss://own.example/ws')?.headers).toMatchObject({ 'x-api-key': 'sesame-1' });
    expect(given('wss://other.example/ws')?.headers).not.toHaveProperty('x-api-key');
    const secret = given('wss://user:hunter22@other.example/0123456789abcdef0123/ws?key=open-sesame');
    expect(secret?.label).toBe('hints at other.example');
    expect(secret?.url.href).not.toContain('hunter22');
    expect(secret?.redact('hunter22 0123456789abcdef0123 open-sesame')).not.toMatch(
      /hunter22|0123456789abcdef0123|open-sesame/,
    );
  });
});

describe('a payment that somebody waits for', () => {
  fakeTime();
  const INTERVAL_MS = 20_000;

  function open({ requests = 2, requests_per_second = 50 } = {}) {
    let asked = 0;
    const signals = { announce: vi.fn(), onOthers: vi.fn((_topic, listener) => listener) };
    const watched = openWatched(signals, systemRuntime);
    const forward = createForward({
      app: {
        log: pino({ level: 'silent' }),
        config: { network: 'testnet' },
        clock: { ms: () => performance.now(), monotonic_ms: () => performance.now() },
        metrics: { hints: { add: () => {} } },
        watched,
      },
      blockchain: findBlockchain('bitcoin') as Blockchain,
      runtime: systemRuntime,
      source: {
        use: async () => undefined as never,
        askOther: async () => undefined as never,
        retryAt: () => 0,
        status: () => [{ ...unasked_provider, state: 'ok', requests_per_second, requests: asked }],
        close: async () => {},
      },
      hint_source: null,
      requests_per_second,
      interval_ms: INTERVAL_MS,
    });
    const pauseOf = (outcome: ReadOutcome | null = null) => {
      forward.begins();
      asked += requests;
      return forward.ended(outcome);
    };
    return { watched, signals, pauseOf };
  }

  test('has its blockchain read more often, for as long as somebody waits', async () => {
    verifies('watched-sooner');
    const { watched, pauseOf } = open();
    expect(pauseOf()).toBe(INTERVAL_MS);
    watched.note('bitcoin');
    watched.note('litecoin');
    expect(pauseOf()).toBe(WATCHED_MS);
    await pass(9_000);
    expect(pauseOf()).toBe(WATCHED_MS);
    await pass(2_000);
    expect(pauseOf()).toBe(INTERVAL_MS);
  });

  test('continues at once with what a reading left, for as long as it comes further', () => {
    verifies('pace-cost');
    const { pauseOf } = open();
    const outcome: Omit<ReadOutcome, 'is_unfinished'> = {
      found: false,
      due_seconds: null,
      open: [],
      gateways: [],
    };
    expect(pauseOf({ ...outcome, is_unfinished: true })).toBe(UNFINISHED_MS);
    expect(pauseOf({ ...outcome, is_unfinished: false })).toBe(INTERVAL_MS);
  });

  test('costs at most half of what the provider takes', () => {
    verifies('watched-sooner');
    const { watched, pauseOf } = open({ requests: 6, requests_per_second: 1 });
    watched.note('bitcoin');
    expect(pauseOf()).toBe(12_000);
  });

  test('is made known to the daemon that reads it, now and then', async () => {
    verifies('watched-sooner');
    const { watched, signals, pauseOf } = open();
    for (let ms = 0; ms < 30_000; ms += 250) {
      watched.note('litecoin');
      await pass(250);
    }
    expect(signals.announce.mock.calls.length).toBeLessThanOrEqual(11);
    expect(signals.announce).toHaveBeenCalledWith('watched', 'litecoin');
    expect(pauseOf()).toBe(INTERVAL_MS);
    const [[topic, listener]] = signals.onOthers.mock.calls as unknown as [
      [string, (about: string[]) => void],
    ];
    expect(topic).toBe('watched');
    listener(['bitcoin']);
    expect(pauseOf()).toBe(WATCHED_MS);
  });
});
