interface Known<Key, Value> {
  get(key: Key): Value | undefined;
  has(key: Key): boolean;
  set(key: Key, value: Value): unknown;
}

/** Returns the value of a key in a map, or makes it the first time. */
export function getOrMake<Key, Value>(known: Known<Key, Value>, key: Key, make: (key: Key) => Value): Value {
  const value = known.get(key);
  if (value !== undefined || known.has(key)) return value as Value;
  const made = make(key);
  known.set(key, made);
  return made;
}

/** Returns a function that makes a value for an object once, and keeps it as long as the object lives. */
export function memoizeByObject<Key extends object, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const known = new WeakMap<Key, Value>();
  return (key) => getOrMake(known, key, make);
}
