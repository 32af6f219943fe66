// Wakes what waits for work of others, in this daemon and in those that share its database, so that no one waits for a poll.
import type { Logger } from 'pino';
import { sendMessage } from '../../data/channel.ts';
import type { Db } from '../../data/db/open.ts';
import type { Runtime } from './runtime.ts';

/**
 * `events`: written for a merchant. `deliveries`: there is one that its daemon cannot send now. `daemons`: one is asked to
 * drain. `watched`: somebody waits for a payment on a blockchain. `schema`: it was changed.
 */
const TOPICS = ['events', 'deliveries', 'daemons', 'watched', 'schema'] as const;
export type Topic = (typeof TOPICS)[number];

/** What is announced within this time is one message. */
const GATHER_MS = 25;
/** A message names so many; of more it says that anyone may be meant. */
const NAMED_MOST = 100;
const ANYONE = '*';
/** Own messages are heard within this time, or this way to the server carries none. */
const PROVED_MS = 2_000;

/** Something that waits. */
export interface Watch {
  /** Resolves at once where something was announced since the last call; else when it is, after so long, or at the signal. */
  changed(ms: number, signal: AbortSignal): Promise<void>;
  close(): void;
}

export interface Signals {
  /** To be called when what it says is durable. `about` narrows it, to a merchant's id or a blockchain. */
  announce(topic: Topic, about?: string): void;
  /** Calls `listener` for what other daemons announce, with what it is about, as far as that is known. Returns how to call it off. */
  onOthers(topic: Topic, listener: (about: readonly string[]) => void): () => void;
  watch(topic: Topic, about: string): Watch;
  /** Whether all announcements arrive: polls are a net then, and may be slow. */
  areHeard(): boolean;
  start(): void;
  stop(): Promise<void>;
}

export interface SignalsOptions {
  db: Pick<Db, 'dialect' | 'query' | 'channel'>;
  log: Logger;
  runtime: Pick<Runtime, 'uuid' | 'after' | 'sleep'>;
}

interface Waiting {
  topic: Topic;
  about: string;
  wake(): void;
}

export function openSignals({ db, log, runtime }: SignalsOptions): Signals {
  const { channel } = db;
  const own = runtime.uuid();
  const waiting = new Set<Waiting>();
  const listeners: { topic: Topic; listener: (about: readonly string[]) => void }[] = [];
  let pending = new Map<Topic, Set<string>>();
  let callOff: (() => void) | undefined;
  let listening: { close(): Promise<void> } | undefined;
  let heard = false;
  let warned = false;

  const wakeHere = (topic: Topic, about: string) => {
    for (const one of waiting)
      if (one.topic === topic && (about === ANYONE || one.about === about)) one.wake();
  };
  const wakeAll = () => {
    for (const topic of TOPICS) wakeHere(topic, ANYONE);
    for (const { listener } of listeners) listener([]);
  };

  /** A message that does not get through is made up for by the polls. */
  const send = (topics: Message['topics']) =>
    void sendTopics(db, own, topics).catch((error: unknown) =>
      log.debug({ err: error }, 'other daemons could not be woken; they poll'),
    );
  const flush = () => {
    callOff = undefined;
    const topics = [...pending].map(([topic, about]): [string, string[]] => [
      topic,
      about.size > NAMED_MOST ? [ANYONE] : [...about],
    ]);
    pending = new Map();
    send(Object.fromEntries(topics));
  };

  const receive = (payload: string) => {
    const { from, topics } = messageOf(payload);
    if (from === own) {
      heard = true;
      return;
    }
    for (const topic of TOPICS) {
      const about = topics[topic] ?? [];
      for (const one of about) wakeHere(topic, one);
      if (about.length > 0) for (const each of listeners) if (each.topic === topic) each.listener(about);
    }
  };

  return {
    announce(topic, about = ANYONE) {
      wakeHere(topic, about);
      if (!listening) return;
      const gathered = pending.get(topic) ?? new Set();
      pending.set(topic, gathered.add(about));
      callOff ??= runtime.after(GATHER_MS, flush);
    },
    onOthers(topic, listener) {
      const entry = { topic, listener };
      listeners.push(entry);
      return () => void listeners.splice(listeners.indexOf(entry), 1);
    },
    watch: (topic, about) => openWatch(waiting, runtime, topic, about),
    // A SQLite file has one daemon, which hears itself.
    areHeard: () => db.dialect === 'sqlite' || heard,
    start() {
      listening ??= channel?.listen({
        onMessage: receive,
        onConnect() {
          // What others announced meanwhile is lost: everyone reads once.
          wakeAll();
          // Through some poolers nothing arrives though listening succeeds.
          send({});
          runtime.after(PROVED_MS, () => {
            if (!heard && listening) log.info('no notifications arrive from PostgreSQL; daemons poll');
          });
        },
        onLost() {
          heard = false;
        },
        onPooled() {
          if (!warned)
            log.warn(
              'database_url leads through a pooler, which carries no notifications: daemons poll; set database_listen_url to PostgreSQL itself',
            );
          warned = true;
        },
      });
    },
    async stop() {
      callOff?.();
      if (callOff) flush();
      const closing = listening?.close();
      listening = undefined;
      heard = false;
      await closing;
    },
  };
}

function openWatch(
  waiting: Set<Waiting>,
  runtime: Pick<Runtime, 'sleep'>,
  topic: Topic,
  about: string,
): Watch {
  let is_changed = false;
  let woken = new AbortController();
  const entry: Waiting = {
    topic,
    about,
    wake() {
      is_changed = true;
      woken.abort();
    },
  };
  waiting.add(entry);
  return {
    async changed(ms, signal) {
      if (!is_changed && !signal.aborted) {
        const end = () => woken.abort();
        signal.addEventListener('abort', end, { once: true });
        await runtime.sleep(ms, woken.signal);
        signal.removeEventListener('abort', end);
      }
      is_changed = false;
      woken = new AbortController();
    },
    close: () => void waiting.delete(entry),
  };
}

interface Message {
  from: string;
  topics: Partial<Record<Topic, string[]>>;
}

async function sendTopics(
  { query, channel }: Pick<Db, 'query' | 'channel'>,
  from: string,
  topics: Message['topics'],
): Promise<void> {
  if (channel) await sendMessage(query, channel, JSON.stringify({ from, topics }));
}

/** Says so to all daemons of a database that listen, by one that does not itself. */
export const announceOnce = (db: Pick<Db, 'query' | 'channel'>, topic: Topic): Promise<void> =>
  sendTopics(db, '', { [topic]: [ANYONE] });

/** What another version may send is taken for nothing. */
function messageOf(payload: string): Message {
  try {
    const { from, topics } = JSON.parse(payload) as { from?: unknown; topics?: Record<string, unknown> };
    const known = TOPICS.map((topic): [Topic, string[]] => {
      const about = topics?.[topic];
      return [topic, Array.isArray(about) ? about.map(String) : []];
    });
    return { from: String(from), topics: Object.fromEntries(known) };
  } catch {
    return { from: '', topics: {} };
  }
}
