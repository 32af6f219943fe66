// A bounded memory of this process: beyond its size, what was unused for longest is forgotten.

export interface Cache<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
}

/** At most `most` values. */
export function openCache<Value extends NonNullable<unknown>>(most: number): Cache<Value> {
  // A map iterates in the order in which keys were set: each use sets a key again.
  const values = new Map<string, Value>();
  const set = (key: string, value: Value): void => {
    values.delete(key);
    values.set(key, value);
    for (const oldest of values.keys()) {
      if (values.size <= most) return;
      values.delete(oldest);
    }
  };
  return {
    set,
    get(key) {
      const value = values.get(key);
      if (value !== undefined) set(key, value);
      return value;
    },
  };
}
