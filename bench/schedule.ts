/**
 * Computes deadlines for several parts within a total time. Time that a part saves or exceeds is divided among the rest.
 *
 * @param begin start time, in milliseconds
 * @param budget in seconds
 */
export function deadlines(
  begin: number,
  budget: number,
  parts: number,
  now = () => performance.now(),
): () => number {
  let done = 0;
  return () => {
    const left = begin + budget * 1000 - now();
    const share = Math.max(left, 0) / Math.max(parts - done, 1);
    done++;
    return now() + share;
  };
}
