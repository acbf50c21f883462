const one = (): number => 1;

/**
 * The limit of an `LRUCache` that takes memory as it fills. `max` reserves all of it at once: megabytes for each of many
 * merchants.
 */
export const atMost = (entries: number): { maxSize: number; sizeCalculation: () => number } => ({
  maxSize: entries,
  sizeCalculation: one,
});
