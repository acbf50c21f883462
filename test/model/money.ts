/** Decimal arithmetic on whole millionths, as a person does it on paper. */
export type Micro = bigint;

/** @returns the quotient, half rounded away from zero */
export function divide(dividend: bigint, divisor: bigint): bigint {
  const isNegative = dividend < 0n !== divisor < 0n;
  const [over, under] = [dividend < 0n ? -dividend : dividend, divisor < 0n ? -divisor : divisor];
  const quotient = (2n * over + under) / (2n * under);
  return isNegative ? -quotient : quotient;
}

/** Reads a decimal number with at most so many decimals as a whole number of its last one. */
export function scaled(text: string, decimals: number): bigint {
  const [, sign, whole, fraction = ""] = /^(-?)(\d+)(?:\.(\d*))?$/.exec(text) ?? [];
  if (whole === undefined) throw new Error(`${text} is no decimal number`);
  if (/[1-9]/.test(fraction.slice(decimals))) throw new Error(`${text} has more than ${decimals} decimals`);
  const number = BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, "0"));
  return sign ? -number : number;
}
export const micro = (text: string): Micro => scaled(text, 6);

export function shown(amount: Micro): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(7, "0");
  return `${amount < 0n ? "-" : ""}${digits.slice(0, -6)}.${digits.slice(-6)}`;
}

/** The part of a value that some of its units take along: the last ones take the rest, so that nothing is lost. */
export const share = (value: Micro, some: number, all: number): Micro =>
  some === all ? value : divide(value * BigInt(some), BigInt(all));

/** Divides an amount by weights, by largest remainder: what is lost by rounding down goes to those who lost most. */
export function byLargestRemainder(amount: Micro, weights: bigint[]): Micro[] {
  const all = weights.reduce((sum, weight) => sum + weight, 0n);
  if (all === 0n) return weights.map(() => 0n);
  const parts = weights.map((weight, n) => ({
    n,
    part: (amount * weight) / all,
    lost: (amount * weight) % all,
  }));
  let rest = amount - parts.reduce((sum, { part }) => sum + part, 0n);
  const losers = [...parts].sort((one, other) =>
    one.lost === other.lost ? one.n - other.n : one.lost > other.lost ? -1 : 1,
  );
  for (const loser of losers) {
    if (rest <= 0n) break;
    loser.part += 1n;
    rest -= 1n;
  }
  return parts.map(({ part }) => part);
}
