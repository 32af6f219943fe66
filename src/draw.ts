// Numbers drawn from random bytes, none of them twice.

/** Bytes of one number: so many more than the numbers drawn from that none of them is noticeably likelier. */
const BYTES = 6;

/** The numbers from 0 up to `count`, each once, in an order that follows from the random bytes alone. */
export function* shuffled(count: number, randomBytes: (length: number) => Uint8Array): Generator<number> {
  // As if all stood in a row and each place were exchanged with one that is left; only what moved is stored.
  const moved = new Map<number, number>();
  for (let place = 0; place < count; place++) {
    const chosen = place + (numberOf(randomBytes(BYTES)) % (count - place));
    yield moved.get(chosen) ?? chosen;
    moved.set(chosen, moved.get(place) ?? place);
    moved.delete(place);
  }
}

const numberOf = (bytes: Uint8Array): number => bytes.reduce((number, byte) => number * 256 + byte, 0);
