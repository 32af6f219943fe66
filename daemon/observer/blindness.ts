// Which blockchains are not read at the moment, and since when: one owner of that state, the same at every daemon of a database.
import type { Logger } from 'pino';
import { answersOf, noteAnswers, noteBlind } from '../../data/cursors.ts';
import type { Db } from '../../data/db/open.ts';
import { type SteadyClock, seconds } from '../clock.ts';
import type { DatabaseWatch } from '../process/database-watch.ts';

/** How often it is worked out. */
export const REFRESH_MS = 1_000;
/** What passes between two refreshes counts up to this: while the process stood still, no one could read. */
const COUNTED_MS = 5_000;
/** Pauses between readings without which a blockchain counts as blind, however short the configured time is. */
const PAUSES = 3;
/** Of the time until a blockchain is blind: how often a daemon that reads says so to the others, and how often it asks where nothing is watched. */
const MARK_SHARE = 1 / 6;
const PROBE_SHARE = 1 / 3;

/** A blockchain that this daemon or others should read. */
export interface Watching {
  blockchain: string;
  /** The pause between two readings, milliseconds. */
  interval_ms: number;
  /** Whether this daemon reads it on its own. */
  leads: boolean;
}

export interface BlindnessChange {
  blockchain: string;
  /** Unix seconds since when it is not read; of one that is read again, since when it was not. The same at every daemon. */
  since: number;
  is_blind: boolean;
}

export interface Blindness {
  /** Unix seconds since when a blockchain is not read; null while it is, and while it is given time after a start. */
  of(blockchain: string): number | null;
  /** Whether a provider of it has answered since this daemon started, here or where another reads it. */
  isAnswered(blockchain: string): boolean;
  /** When it was heard that another daemon reads it (monotonic milliseconds); null where it is blind, or was read here since. */
  heardAt(blockchain: string): number | null;
  /** Those that are not read. */
  all(): { blockchain: string; since: number }[];
  /** Calls `listener` when one turns blind, and when it is back; also in daemons that do not read it. Returns how to call it off. */
  onChange(listener: (change: BlindnessChange) => void): () => void;
}

/** What the observer does with it. */
export interface BlindnessKeeper extends Blindness {
  /** Continues what was known before a start: what was blind then is until it is read. */
  resume(): Promise<void>;
  /** To be called whenever a provider gave what a reading needs. */
  answered(blockchain: string): void;
  /** Whether a blockchain of which nothing is watched should be asked, to know that it could be. */
  isProbeDue(blockchain: string): boolean;
  /** Works out the state; to be called each second. Rejects where the database cannot be read, the own state is right then. */
  refresh(watching: readonly Watching[]): Promise<void>;
}

export interface BlindnessOptions {
  config: { blind_after_seconds: number };
  db: Pick<Db, 'query' | 'dialect'>;
  /** While the database cannot be used nothing is read, whatever providers do: of that no blockchain turns blind. */
  database_watch: Pick<DatabaseWatch, 'trouble'>;
  clock: SteadyClock;
  log: Logger;
}

interface State {
  /** How long nothing was read while this process ran, milliseconds. */
  unread_ms: number;
  /** Until it counts as blind. */
  patience_ms: number;
  since: number | null;
  /** Whether this process has read it. */
  was_read: boolean;
  /** Whether another daemon has, since this one started. */
  was_heard: boolean;
  /** When another daemon's reading was heard of, by the monotonic timer, where that was the last one. */
  heard_ms: number | null;
  /** When it was read last, as the database says. */
  answered_at: number | null;
  /** Whether it was read here since the others heard of it. */
  is_news: boolean;
  /** How long ago that was, milliseconds. */
  unmarked_ms: number;
}

const begin = (): State => ({
  unread_ms: 0,
  patience_ms: Number.POSITIVE_INFINITY,
  since: null,
  was_read: false,
  was_heard: false,
  heard_ms: null,
  answered_at: null,
  is_news: false,
  unmarked_ms: Number.POSITIVE_INFINITY,
});

/**
 * Time is counted by the monotonic timer and only while this process runs, so that neither a clock that is set nor a process
 * that stood still blinds anyone. Of a blockchain that another daemon reads, it counts since that one's mark in the database
 * last changed.
 */
export function openBlindness({ config, db, database_watch, clock, log }: BlindnessOptions): BlindnessKeeper {
  const states = new Map<string, State>();
  const listeners = new Set<(change: BlindnessChange) => void>();
  let refreshed_ms: number | null = null;

  const stateOf = (blockchain: string): State => {
    const state = states.get(blockchain) ?? begin();
    states.set(blockchain, state);
    return state;
  };

  function turn(blockchain: string, state: State, since: number | null): void {
    const before = state.since;
    state.since = since;
    if ((before === null) === (since === null)) return;
    const is_blind = since !== null;
    const change = { blockchain, since: since ?? before ?? 0, is_blind };
    if (is_blind) log.error({ alert: 'blind', ...change }, `${blockchain} cannot be read`);
    else log.warn({ alert: 'blind', ...change }, `${blockchain} is read again`);
    for (const listener of listeners) listener(change);
  }

  /** What was counted and heard here. */
  function count(watching: readonly Watching[]): void {
    const now_ms = clock.monotonic_ms();
    const passed_ms = Math.min(COUNTED_MS, Math.max(0, now_ms - (refreshed_ms ?? now_ms)));
    refreshed_ms = now_ms;
    for (const [blockchain] of states)
      if (!watching.some((one) => one.blockchain === blockchain)) states.delete(blockchain);
    const is_database_away = database_watch.trouble() !== null;
    for (const { blockchain, interval_ms, leads } of watching) {
      const state = stateOf(blockchain);
      const patience_ms = Math.max(config.blind_after_seconds * 1000, PAUSES * interval_ms);
      // Who hears of a reading from another daemon hears of it later.
      state.patience_ms = patience_ms * (leads || db.dialect === 'sqlite' ? 1 : 1 + 2 * MARK_SHARE);
      state.unread_ms = is_database_away ? 0 : state.unread_ms + passed_ms;
      state.unmarked_ms += passed_ms;
    }
  }

  /** What others wrote since: a mark that moved is a reading, and what one of them calls blind is. */
  async function hear(): Promise<void> {
    for (const { blockchain, answered_at, blind_since } of await answersOf(db.query)) {
      const state = states.get(blockchain);
      if (!state || state.is_news) continue;
      if (answered_at !== state.answered_at) {
        state.answered_at = answered_at;
        state.was_heard = true;
        state.heard_ms = clock.monotonic_ms();
        state.unread_ms = 0;
        turn(blockchain, state, blind_since);
      } else if (blind_since !== null) turn(blockchain, state, blind_since);
    }
  }

  /** Says to the others what was read here, where they would miss it. */
  async function tell(): Promise<void> {
    const news = [...states].filter(
      ([, { is_news, unmarked_ms, patience_ms }]) => is_news && unmarked_ms >= patience_ms * MARK_SHARE,
    );
    if (news.length === 0) return;
    const now = seconds(clock);
    await noteAnswers(
      db.query,
      news.map(([blockchain]) => blockchain),
      now,
    );
    for (const [, state] of news) Object.assign(state, { is_news: false, unmarked_ms: 0, answered_at: now });
  }

  async function turnBlind({ blockchain, leads }: Watching): Promise<void> {
    const state = stateOf(blockchain);
    if (state.since !== null || state.unread_ms < state.patience_ms) return;
    const since = seconds(clock) - Math.round(state.unread_ms / 1000);
    turn(blockchain, state, since);
    if (leads) await noteBlind(db.query, blockchain, since);
  }

  return {
    of: (blockchain) => states.get(blockchain)?.since ?? null,
    isAnswered(blockchain) {
      const state = states.get(blockchain);
      return state !== undefined && (state.was_read || state.was_heard);
    },
    heardAt(blockchain) {
      const state = states.get(blockchain);
      return state?.since === null ? state.heard_ms : null;
    },
    all: () =>
      [...states].flatMap(([blockchain, { since }]) => (since === null ? [] : { blockchain, since })),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async resume() {
      for (const { blockchain, answered_at, blind_since } of await answersOf(db.query))
        Object.assign(stateOf(blockchain), { answered_at, since: blind_since });
    },
    answered(blockchain) {
      const state = stateOf(blockchain);
      const was_blind = state.since !== null;
      state.unread_ms = 0;
      state.was_read = true;
      state.heard_ms = null;
      // A SQLite file has one daemon: no one else waits for its marks.
      state.is_news ||= was_blind || db.dialect === 'postgres';
      // Of what was blind the others hear at once.
      if (was_blind) state.unmarked_ms = Number.POSITIVE_INFINITY;
      turn(blockchain, state, null);
    },
    isProbeDue(blockchain) {
      const { unread_ms, patience_ms, since, was_read } = stateOf(blockchain);
      return !was_read || since !== null || unread_ms >= patience_ms * PROBE_SHARE;
    },
    async refresh(watching) {
      count(watching);
      try {
        if (db.dialect === 'postgres') await hear();
        await tell();
      } finally {
        for (const each of watching) await turnBlind(each);
      }
    },
  };
}
