// Chance that a seed decides: the same seed gives the same numbers, and each named part its own stream of them.

/** A stream of numbers; equal seeds and names give equal streams. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;
  readonly #seed: string;

  constructor(seed: string) {
    this.#seed = seed;
    [this.#a, this.#b, this.#c] = [hash(seed, 1), hash(seed, 2), hash(seed, 3)];
    for (let round = 0; round < 12; round++) this.#next();
  }

  /** A stream of its own: what is drawn from it changes nothing here. */
  fork(name: string): Random {
    return new Random(`${this.#seed}/${name}`);
  }

  /** sfc32: 32 bits, period above 2^64. */
  #next(): number {
    const sum = (this.#a + this.#b + this.#counter++) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    return sum >>> 0;
  }

  /** From 0 up to and without 1. */
  unit(): number {
    return this.#next() / 2 ** 32;
  }

  /** A whole number from `least` to `most`, both included. */
  int(least: number, most: number): number {
    return least + Math.floor(this.unit() * (most - least + 1));
  }

  chance(probability: number): boolean {
    // Drawn also where it cannot be, so that turning one fault off leaves the others where they were.
    return this.unit() < probability;
  }

  pick<T>(from: readonly T[]): T {
    const one = from[this.int(0, from.length - 1)];
    if (one === undefined && from.length === 0) throw new Error('nothing to pick from');
    return one as T;
  }

  /** One of the keys, as often as its weight says. */
  weighted<K extends string>(weights: Readonly<Partial<Record<K, number>>>): K {
    const entries = Object.entries(weights) as [K, number][];
    let at = this.unit() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of entries) {
      at -= weight;
      if (at < 0) return key;
    }
    return (entries.findLast(([, weight]) => weight > 0) as [K, number])[0];
  }

  /** Waiting time of events that come at random, with this mean. */
  exponential(mean: number): number {
    return -Math.log(1 - this.unit()) * mean;
  }

  bytes(length: number): Uint8Array {
    const bytes = new Uint8Array(length);
    for (let at = 0; at < length; at += 4) {
      const word = this.#next();
      for (let byte = 0; byte < 4 && at + byte < length; byte++) bytes[at + byte] = word >>> (8 * byte);
    }
    return bytes;
  }

  hex(bytes: number): string {
    return Buffer.from(this.bytes(bytes)).toString('hex');
  }

  uuid(): string {
    const text = this.hex(16);
    const variant = (8 + (Number.parseInt(text.charAt(16), 16) % 4)).toString(16);
    return `${text.slice(0, 8)}-${text.slice(8, 12)}-4${text.slice(13, 16)}-${variant}${text.slice(17, 20)}-${text.slice(20)}`;
  }
}

/** FNV-1a with a salt, mixed at the end so that similar texts differ in every bit. */
function hash(text: string, salt: number): number {
  let value = 0x811c9dc5 ^ (salt * 0x9e3779b9);
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return value ^ (value >>> 16);
}
