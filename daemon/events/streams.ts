// How many streams of events are open, by merchant.
import { Refusal } from '../../src/errors.ts';
import { openPlaces } from '../http/counting.ts';

/** Streams of one merchant: more would be connections that no one reads. */
const MAX_STREAMS = 20;
const RETRY_AFTER_SECONDS = 10;

export interface EventStreams {
  /** Counts a stream in; the function returned counts it out. Refuses with `too_many_streams`. */
  enter(merchant_id: string): () => void;
}

export function openEventStreams(): EventStreams {
  const places = openPlaces();
  return {
    enter(merchant_id) {
      const leave = places(merchant_id, MAX_STREAMS);
      if (leave !== null) return leave;
      throw new Refusal('too_many_streams', {
        detail: `At most ${MAX_STREAMS} streams of events may be open at once`,
        retry_after: RETRY_AFTER_SECONDS,
      });
    },
  };
}
