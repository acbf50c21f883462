import DataLoader from "dataloader";
import type { Row, View } from "./rows.ts";
import { columns } from "./rows.ts";
import type { Transaction } from "./transaction.ts";

type ById = DataLoader<string, Row | null>;
/** The first rows of a list for each parent, and one more if there is one. */
type OfParent = DataLoader<{ parent: string; first: number }, Row[], string>;

/** Collects the ids that a request looks for, to query them together. */
export interface Loaders {
  products: ById;
  warehouses: ById;
  bin_locations: ById;
  currencies: ById;
  lineItems: OfParent;
  tags: OfParent;
}

export function createLoaders(transaction: Transaction): Loaders {
  return {
    products: byId(transaction, "products"),
    warehouses: byId(transaction, "warehouses"),
    bin_locations: byId(transaction, "bin_locations"),
    currencies: byId(transaction, "currencies"),
    lineItems: ofParent(
      transaction,
      `select ${columns.order_line_items} from api_unstable.order_line_items
      where order_id = parent.parent_id order by id limit $2`,
    ),
    tags: ofParent(
      transaction,
      `select t.id, t.name from api_unstable.product_tags l join api_unstable.tags t on t.id = l.tag_id
      where l.product_id = parent.parent_id order by t.id limit $2`,
    ),
  };
}

function byId(transaction: Transaction, view: View): ById {
  const text = `select ${columns[view]} from api_unstable.${view} where id = any ($1)`;
  return new DataLoader(async (ids) => {
    const rows = await transaction.query<Row>(text, [ids]);
    const found = new Map(rows.map((row) => [row.id, row]));
    return ids.map((id) => found.get(id) ?? null);
  });
}

function ofParent(transaction: Transaction, list: string): OfParent {
  const text = `select parent.parent_id as "parentId", list.* from unnest($1::uuid[]) as parent (parent_id) cross join lateral (${list}) list`;
  return new DataLoader(
    async (keys) => {
      // All keys of a request have the same number here
      const first = Math.max(...keys.map((key) => key.first));
      const rows = await transaction.query<Row>(text, [keys.map((key) => key.parent), first + 1]);
      const lists = Map.groupBy(rows, (row) => row.parentId as string);
      return keys.map(({ parent }) => lists.get(parent) ?? []);
    },
    { cacheKeyFn: ({ parent, first }) => `${parent} ${first}` },
  );
}
