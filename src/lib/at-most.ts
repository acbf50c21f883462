const one = (): number => 1;

/**
 * Returns options that limit an `LRUCache` and let it take memory as it fills. `max` would reserve all of it at once:
 * megabytes for each of many merchants.
 */
export const lruLimit = (entries: number): { maxSize: number; sizeCalculation: () => number } => ({
  maxSize: entries,
  sizeCalculation: one,
});
