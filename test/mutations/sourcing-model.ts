import type { Random } from "../lib/random.ts";

/** A location as the rules see it. */
export interface Place {
  code: string;
  country: string | null;
  isDefault: boolean;
  /** Units that can be promised, by product. */
  stock: Map<string, number>;
  /** Whether it ships something of the order already. */
  ships: boolean;
  /** Lines whose shipping was called off there. */
  calledOff: ReadonlySet<number>;
}

export interface Line {
  product: string;
  quantity: number;
}

export interface Rule {
  kind: string;
  /** The code of the location of a priority. */
  code?: string;
}

/** The units by `line/code` of a place. */
export type Plan = Map<string, number>;

const kinds = ["same_country", "fullest", "do_not_split", "split_least"];

/** Returns rules in a random order; priority at one place of it, with some codes. */
export function randomRules(random: Random, codes: readonly string[]): Rule[] {
  const order = random.rounds([...kinds, "priority"]);
  return Array.from({ length: random.below(4) }, () => order.next().value).flatMap((kind): Rule[] => {
    if (kind !== "priority") return [{ kind }];
    const places = random.rounds(codes);
    return Array.from({ length: 1 + random.below(codes.length) }, () => ({
      kind,
      code: places.next().value,
    }));
  });
}

/** Returns what a place can give of each line that is left, earlier lines first. */
function offer({ stock, calledOff }: Place, lines: readonly Line[], left: readonly number[]): number[] {
  const free = new Map(stock);
  return lines.map(({ product }, n) => {
    if (calledOff.has(n)) return 0;
    const units = Math.min(left[n]!, free.get(product) ?? 0);
    free.set(product, (free.get(product) ?? 0) - units);
    return units;
  });
}

const sum = (list: readonly number[]): number => list.reduce((total, units) => total + units, 0);

/** Sources lines by rules, in plain words: what sourcing.plan must do. */
export function source(
  lines: readonly Line[],
  places: readonly Place[],
  rules: readonly Rule[],
  country: string | null,
): Plan {
  const plan: Plan = new Map();
  if (rules.length === 0) return plan;
  // Those that fulfillment orders have already don't count
  const products = new Set(lines.filter(({ quantity }) => quantity > 0).map(({ product }) => product));
  const left = lines.map(({ quantity }) => quantity);
  const unused = new Set(places);
  for (;;) {
    const offers = [...unused]
      .map((place) => ({ place, units: offer(place, lines, left) }))
      .filter(({ units }) => sum(units) > 0)
      .filter(({ units }) => !rules.some(({ kind }) => kind === "do_not_split") || sum(units) === sum(left));
    const rank = ({ place, units }: (typeof offers)[number]): number[] => [
      ...rules.map(({ kind, code }) => {
        if (kind === "priority") return Number(place.code === code);
        if (kind === "same_country") return Number(country !== null && place.country === country);
        if (kind === "fullest") return sum([...products].map((product) => place.stock.get(product) ?? 0));
        return kind === "split_least" ? sum(units) : 0;
      }),
      Number(place.ships),
      Number(place.isDefault),
    ];
    const [best] = offers.sort((one, other) => {
      const [a, b] = [rank(one), rank(other)];
      const n = a.findIndex((value, index) => value !== b[index]);
      return n < 0 ? (one.place.code < other.place.code ? -1 : 1) : b[n]! - a[n]!;
    });
    if (best === undefined) return plan;
    unused.delete(best.place);
    best.units.forEach((units, n) => {
      if (units > 0) plan.set(`${n}/${best.place.code}`, units);
      left[n]! -= units;
    });
  }
}
