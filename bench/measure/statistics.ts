/** Computes the median. For an even number of values, it is the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Computes the quantile for a share, interpolated between two values. NaN without values. */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) return NaN;
  const sorted = [...values].sort((one, other) => one - other);
  const position = (sorted.length - 1) * share;
  const below = sorted[Math.floor(position)]!;
  const above = sorted[Math.ceil(position)]!;
  return below + (above - below) * (position % 1);
}

/**
 * Compares two contestants: the median of the ratios of each round. Disturbances mostly affect both contestants of a
 * round.
 */
export function ratio(values: readonly number[], base: readonly number[]): number {
  const rounds = values.map((value, round) => value / (base[round] ?? NaN)).filter(Number.isFinite);
  return median(rounds);
}
