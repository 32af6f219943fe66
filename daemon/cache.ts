// Caches that hold so many entries at most, the latest used ones, and take memory as they fill.
import { LRUCache } from 'lru-cache';

/** As a bound on sizes of 1: for a bound on entries the library makes room for all of them at once, used or not. */
export const boundedCache = <K extends {}, V extends {}>(most: number): LRUCache<K, V> =>
  new LRUCache<K, V>({ maxSize: most, sizeCalculation: () => 1 });
