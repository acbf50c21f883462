/** An exact fraction, to compute amounts of money before rounding, independently of the tested code. */
export class Exact {
  readonly n: bigint;
  readonly d: bigint;

  constructor(n: bigint, d = 1n) {
    this.n = d < 0n ? -n : n;
    this.d = d < 0n ? -d : d;
  }

  /** Parses a decimal, such as -12.5. */
  static of(value: number | string): Exact {
    const [whole, decimals = ""] = String(value).split(".") as [string, string?];
    return new Exact(BigInt(whole + decimals), 10n ** BigInt(decimals.length));
  }

  static sum(values: Iterable<Exact>): Exact {
    let sum = new Exact(0n);
    for (const value of values) sum = sum.plus(value);
    return sum;
  }

  plus({ n, d }: Exact): Exact {
    return new Exact(this.n * d + n * this.d, this.d * d);
  }

  minus({ n, d }: Exact): Exact {
    return this.plus(new Exact(-n, d));
  }

  times({ n, d }: Exact): Exact {
    return new Exact(this.n * n, this.d * d);
  }

  dividedBy({ n, d }: Exact): Exact {
    return this.times(new Exact(d, n));
  }

  /** Rounds to a number of decimals, half away from zero. */
  round(decimals = 2): Exact {
    const scale = 10n ** BigInt(decimals);
    const doubled = (2n * (this.n < 0n ? -this.n : this.n) * scale + this.d) / (2n * this.d);
    return new Exact(this.n < 0n ? -doubled : doubled, scale);
  }

  get isZero(): boolean {
    return this.n === 0n;
  }

  /** Prints a decimal with this number of decimals. The value must not have more. */
  text(decimals = 2): string {
    const { n, d } = this.round(decimals);
    if (n * this.d !== this.n * d) throw new Error(`${this.n}/${this.d} has more than ${decimals} decimals.`);
    const digits = String(n < 0n ? -n : n).padStart(decimals + 1, "0");
    const at = digits.length - decimals;
    return `${n < 0n ? "-" : ""}${digits.slice(0, at)}${decimals > 0 ? "." : ""}${digits.slice(at)}`;
  }
}
