import { LRUCache } from "lru-cache";

/** Caches a function of a header, because clients send the same header with every request. */
export function cacheByHeader<Result>(compute: (header: string) => Result): (header: string) => Result {
  const known = new LRUCache<string, { result: Result }>({ max: 500 });
  return (header) => {
    let found = known.get(header);
    if (!found) {
      found = { result: compute(header) };
      if (header.length < 500) known.set(header, found);
    }
    return found.result;
  };
}
