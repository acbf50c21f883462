/** The median: of an even number of values, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The quantile for a share, interpolated between two values. NaN without values. */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) return NaN;
  const sorted = [...values].sort((one, other) => one - other);
  const position = (sorted.length - 1) * share;
  const below = sorted[Math.floor(position)]!;
  const above = sorted[Math.ceil(position)]!;
  return below + (above - below) * (position % 1);
}

/**
 * One contestant compared with another: the median of the ratios within each round. Disturbances mostly affect both
 * contestants of a round.
 */
export function ratio(values: readonly number[], base: readonly number[]): number {
  const rounds = values.map((value, round) => value / (base[round] ?? NaN)).filter(Number.isFinite);
  return median(rounds);
}
