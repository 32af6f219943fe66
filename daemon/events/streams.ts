// How many streams of events are open, by merchant.
import { Refusal } from '../../src/errors.ts';

/** Streams of one merchant: more would be connections that no one reads. */
const MAX_STREAMS = 20;
const RETRY_AFTER_SECONDS = 10;

export interface EventStreams {
  /** Counts a stream in; the function returned counts it out. Refuses with `too_many_streams`. */
  enter(merchant_id: string): () => void;
}

export function openEventStreams(): EventStreams {
  const counts = new Map<string, number>();
  return {
    enter(merchant_id) {
      const count = counts.get(merchant_id) ?? 0;
      if (count >= MAX_STREAMS)
        throw new Refusal('too_many_streams', {
          detail: `At most ${MAX_STREAMS} streams of events may be open at once`,
          retry_after: RETRY_AFTER_SECONDS,
        });
      counts.set(merchant_id, count + 1);
      return () => {
        const left = (counts.get(merchant_id) ?? 1) - 1;
        if (left > 0) counts.set(merchant_id, left);
        else counts.delete(merchant_id);
      };
    },
  };
}
