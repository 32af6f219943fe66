// What screens share: the size of the terminal, and data that is renewed.
import { type Key, useInput, useStdout } from 'ink';
import {
  createContext,
  createElement,
  type ReactNode,
  useContext,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';

const FALLBACK = { columns: 80, rows: 24 };
/** A service that is down is asked less and less often. */
const MAX_BACKOFF = 8;

export interface Size {
  columns: number;
  /** One less than the terminal has: a frame as tall as the terminal would scroll it. */
  rows: number;
}

export function useSize(): Size {
  const { stdout } = useStdout();
  const read = (): Size => ({
    columns: stdout.columns || FALLBACK.columns,
    rows: (stdout.rows || FALLBACK.rows) - 1,
  });
  const [size, setSize] = useState(read);
  useEffect(() => {
    const update = () => setSize({ columns: stdout.columns, rows: stdout.rows - 1 });
    stdout.on('resize', update);
    return () => void stdout.off('resize', update);
  }, [stdout]);
  return size;
}

const SECOND_MS = 1000;

/** Unix seconds, new ones every second. */
export function useNow(): number {
  const [now, setNow] = useState(() => Math.floor(Date.now() / SECOND_MS));
  useEffect(() => {
    const timer = setInterval(() => setNow(Math.floor(Date.now() / SECOND_MS)), SECOND_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

export interface Polled<T> {
  data: T | undefined;
  /** Why the latest try failed; null while the service answers. */
  error: string | null;
  /** Unix seconds of the latest answer. */
  at: number;
  /** Asks now. */
  again(): void;
}

/**
 * Loads now and every `interval_ms` after an answer; failures are shown and tried again, ever more slowly. What belongs to
 * another `subject` is given up.
 */
export function usePoll<T>(load: () => Promise<T>, interval_ms: number, subject = ''): Polled<T> {
  const nothing = { subject, data: undefined as T | undefined, error: null as string | null, at: 0 };
  const [loaded, setState] = useState(nothing);
  const state = loaded.subject === subject ? loaded : nothing;
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new round is what `again` asks for
  useEffect(() => {
    let timer: NodeJS.Timeout | undefined;
    let gone = false;
    let failures = 0;
    const next = async () => {
      try {
        const data = await latest.current();
        failures = 0;
        if (!gone) setState({ subject, data, error: null, at: Math.floor(Date.now() / 1000) });
      } catch (error) {
        failures += 1;
        const message = (error as Error).message;
        if (!gone)
          setState((before) => ({ ...(before.subject === subject ? before : nothing), error: message }));
      }
      if (!gone) timer = setTimeout(next, interval_ms * Math.min(2 ** failures, MAX_BACKOFF));
    };
    void next();
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [interval_ms, round, subject]);
  const { data, error, at } = state;
  return { data, error, at, again: () => setRound((before) => before + 1) };
}

type Handler = (input: string, key: Key) => void;

/** The listeners to keys now, in the order in which they came. */
const Listeners = createContext(new Set<Handler>());

/**
 * Reads the terminal for every `useKeys` inside, for the life of the screen. A terminal sends what was typed quickly
 * as one piece: the keys of it are handed over one by one, each when the frame that the one before it asked for is
 * there, with the listeners of that frame.
 */
export function Keys({ children }: { children: ReactNode }) {
  const [listeners] = useState(() => new Set<Handler>());
  const [handled, setHandled] = useState(0);
  const waiting = useRef<{ input: string; key: Key }[]>([]);
  const busy = useRef(false);
  const next = () => {
    const first = waiting.current.shift();
    busy.current = first !== undefined;
    if (!first) return;
    for (const listen of [...listeners]) listen(first.input, first.key);
    // Belongs to the same frame as what the listeners have just changed.
    setHandled((before) => before + 1);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the frame of a handled key is what it waits for
  useLayoutEffect(() => {
    if (busy.current) setImmediate(next);
  }, [handled]);
  useInput((input, key) => {
    const single = input.length <= 1 || key.ctrl || key.meta || key.escape;
    // What is typed before the terminal hands over each key has its line feed for Enter.
    for (const character of single ? [input] : input)
      waiting.current.push({
        input: character,
        key: { ...key, return: key.return || character === '\r' || character === '\n' },
      });
    if (busy.current) return;
    busy.current = true;
    // Outside of Ink's batch.
    setImmediate(next);
  });
  return createElement(Listeners.Provider, { value: listeners }, children);
}

/** Hands each key to the handler of the latest frame. */
export function useKeys(handler: Handler, isActive = true): void {
  const latest = useRef({ handler, isActive });
  latest.current = { handler, isActive };
  const listeners = useContext(Listeners);
  useLayoutEffect(() => {
    const listen: Handler = (input, key) => {
      if (latest.current.isActive) latest.current.handler(input, key);
    };
    listeners.add(listen);
    return () => void listeners.delete(listen);
  }, [listeners]);
}
