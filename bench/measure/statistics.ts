/** The middle of some numbers; of an even number of them, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value that a share of the numbers does not exceed, between two of them by proportion. NaN when there are none. */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) return NaN;
  const sorted = [...values].sort((one, other) => one - other);
  const position = (sorted.length - 1) * share;
  const below = sorted[Math.floor(position)]!;
  const above = sorted[Math.ceil(position)]!;
  return below + (above - below) * (position % 1);
}

/**
 * How one contestant compares with another: the median of the ratios within each round. What disturbs a round mostly
 * disturbs both.
 */
export function ratio(values: readonly number[], base: readonly number[]): number {
  const rounds = values.map((value, round) => value / (base[round] ?? NaN)).filter(Number.isFinite);
  return median(rounds);
}
