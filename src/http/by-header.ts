import { LRUCache } from "lru-cache";

/** Keeps what follows from a header: clients send the same one with every request. */
export function byHeader<Result>(resultOf: (header: string) => Result): (header: string) => Result {
  const known = new LRUCache<string, { result: Result }>({ max: 500 });
  return (header) => {
    let found = known.get(header);
    if (!found) {
      found = { result: resultOf(header) };
      if (header.length < 500) known.set(header, found);
    }
    return found.result;
  };
}
