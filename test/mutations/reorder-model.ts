/** Terms at which a supplier sells a product. */
export interface Terms {
  supplier: string;
  min: number;
  steps: number;
  days: number | null;
  isDefault: boolean;
}

interface Rule {
  reorderPoint: number;
  target: number | null;
  safetyStock: number;
}

/** What happened with a product. */
class Facts {
  readonly reorderPoint: number | null;
  readonly target: number | null;
  readonly terms: Terms[] = [];
  /** By warehouse, as the units below. */
  readonly rules = new Map<string, Rule>();
  readonly stock = new Map<string, number>();
  readonly held = new Map<string, number>();
  /** Open units of orders and reservations, and those of them that a warehouse, or another company if null, has promised. */
  readonly promises: { units: number; assigned: number; warehouse: string | null }[] = [];
  readonly onOrder: { warehouse: string | null; quantity: number }[] = [];
  readonly shipped: { warehouse: string; quantity: number; daysAgo: number }[] = [];

  constructor(reorderPoint: number | null, target: number | null) {
    this.reorderPoint = reorderPoint;
    this.target = target;
  }

  promisedAt(warehouse: string): number {
    return sum(this.promises.filter((one) => one.warehouse === warehouse).map(({ assigned }) => assigned));
  }

  keptBackAt(warehouse: string): number {
    return this.rules.get(warehouse)?.safetyStock ?? 0;
  }
}

export interface Surroundings {
  selling: string[];
  /** The default warehouses. */
  shipping: string;
  receiving: string;
  /** The active suppliers, with their lead times. */
  suppliers: Map<string, number | null>;
}

/** The shop as the model knows it. */
export class World {
  readonly surroundings: Surroundings;
  readonly products = new Map<string, Facts>();

  constructor(surroundings: Surroundings) {
    this.surroundings = surroundings;
  }

  product(name: string, rule?: { reorderPoint: number | null; target: number | null }): Facts {
    if (rule) this.products.set(name, new Facts(rule.reorderPoint, rule.target));
    return this.products.get(name)!;
  }
}

const sum = (list: readonly number[]): number => list.reduce((total, units) => total + units, 0);
const dayAfter = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

/** A proposal of the model. */
export interface Proposed {
  product: string;
  warehouse: string;
  reason: string;
  quantity: number;
  position: number;
  stock: number;
  held: number;
  promised: number;
  safety: number;
  onOrder: number;
  fillUpTo: number;
  supplier: string | null;
  shipped: number;
  runsOutOn: string | null;
  orderUntil: string | null;
}

/** Proposes what the guide says, by product and warehouse. */
export function propose(world: World, days: number): Proposed[] {
  const { selling, shipping, receiving } = world.surroundings;
  return [...world.products.entries()]
    .flatMap(([product, facts]) => {
      const places = new Set([...facts.stock.keys(), ...facts.rules.keys()]);
      const isRuled = [...facts.rules.values()].some((rule) => rule.reorderPoint > 0 || rule.target !== null);
      const rows = isRuled
        ? [...places].map((place) => {
            const rule = facts.rules.get(place);
            const counts = rule !== undefined && (rule.reorderPoint > 0 || rule.target !== null);
            return {
              place,
              of: [place],
              point: counts ? rule.reorderPoint : null,
              target: rule?.target ?? null,
            };
          })
        : [{ place: receiving, of: selling, point: facts.reorderPoint, target: facts.target }];
      return rows.map((row) => judge(world, product, facts, row, days, isRuled ? shipping : receiving));
    })
    .filter((proposed) => proposed !== null)
    .toSorted((a, b) => (a.product + a.warehouse < b.product + b.warehouse ? -1 : 1));
}

interface Row {
  place: string;
  /** The warehouses that the row is about. */
  of: string[];
  point: number | null;
  target: number | null;
}

function judge(
  { surroundings }: World,
  product: string,
  facts: Facts,
  { place, of, point, target }: Row,
  days: number,
  unassignedAt: string,
): Proposed | null {
  const total = (units: Map<string, number>) => sum(of.map((warehouse) => units.get(warehouse) ?? 0));
  const unassigned =
    place === unassignedAt ? sum(facts.promises.map(({ units, assigned }) => units - assigned)) : 0;
  const figures = {
    stock: total(facts.stock),
    held: total(facts.held),
    promised: sum(of.map((warehouse) => facts.promisedAt(warehouse))) + unassigned,
    safety: sum(of.map((warehouse) => facts.keptBackAt(warehouse))),
    onOrder: sum(
      facts.onOrder
        .filter(({ warehouse }) => of.includes(warehouse ?? surroundings.receiving))
        .map(({ quantity }) => quantity),
    ),
  };
  const position = figures.stock - figures.held - figures.promised - figures.safety + figures.onOrder;
  if (point === null ? position >= 0 : position > point) return null;
  const fastest = (terms: Terms) => terms.days ?? surroundings.suppliers.get(terms.supplier) ?? Infinity;
  const [terms] = facts.terms
    .filter(({ supplier }) => surroundings.suppliers.has(supplier))
    .toSorted(
      (a, b) =>
        Number(b.isDefault) - Number(a.isDefault) ||
        (fastest(a) === fastest(b) ? (a.supplier < b.supplier ? -1 : 1) : fastest(a) - fastest(b)),
    );
  const lead = terms && Number.isFinite(fastest(terms)) ? fastest(terms) : null;
  const isCounted = (warehouse: string) => of.length > 1 || of[0] === warehouse;
  const shipped = sum(
    facts.shipped
      .filter((one) => one.daysAgo < days && isCounted(one.warehouse))
      .map(({ quantity }) => quantity),
  );
  const fillUpTo = Math.max(
    target ?? (point ?? 0) + Math.ceil((shipped * (lead ?? 0)) / days),
    (point ?? -1) + 1,
  );
  const least = Math.max(fillUpTo - position, terms?.min ?? 1, 1);
  const steps = terms?.steps ?? 1;
  const lasts = shipped === 0 ? null : Math.min(Math.floor((Math.max(position, 0) * days) / shipped), 36_500);
  return {
    ...{ product, warehouse: place, reason: position < 0 ? "shortage" : "reorder_point" },
    ...{ quantity: Math.ceil(least / steps) * steps, position, ...figures, fillUpTo },
    ...{ supplier: terms?.supplier ?? null, shipped },
    runsOutOn: lasts === null ? null : dayAfter(lasts),
    orderUntil: lasts === null || lead === null ? null : dayAfter(lasts - lead),
  };
}
