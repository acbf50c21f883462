import type { PgCodec, PgResource } from "postgraphile/@dataplan/pg";
import { defaultOrder } from "../../src/graphql/cursor.ts";
import type { Order, OrderColumn, Orders } from "../../src/reads/orders.ts";
import { listAttributes } from "../../src/reads/codecs.ts";
import { createKeyOrder } from "../../src/reads/orders.ts";
import { readRequirement } from "../scopes.ts";
import { keyColumn, primaryKeyOf } from "./view-keys.ts";
import { tagLines, splitWords } from "./tags.ts";
import { fieldNameOf } from "./views.ts";

type Columns = readonly [OrderColumn, ...OrderColumn[]];

/** Returns the columns of a sort order by their names; null if clients must not see one of them. */
function readOrderColumns(
  build: GraphileBuild.Build,
  { codec }: PgResource,
  names: readonly string[],
): OrderColumn[] | null {
  const columns = names.map((name): OrderColumn | null => {
    const attribute = codec.attributes?.[name];
    if (!attribute) throw new Error(`@orders of ${codec.name}: no column ${name}`);
    const isShown = build.behavior.pgCodecAttributeMatches([codec as never, name], "attribute:select");
    const column = keyColumn(name, attribute);
    // The order would reveal values to other callers; the order of ids means nothing
    if (
      !isShown ||
      readRequirement(attribute) ||
      attribute.codec.extensions?.globalIdOf ||
      column.isComparedAsText
    )
      return null;
    return { ...column, isNullable: !attribute.notNull };
  });
  const known = columns.filter((column) => column !== null);
  const isWhole = known.length === names.length && known.slice(1).every(({ isNullable }) => !isNullable);
  return isWhole ? known : null;
}

const readOrderTags = (codec: PgCodec): string[][] =>
  listAttributes(codec).flatMap(([name, attribute]) =>
    tagLines(attribute, "orders").map((line) => [name, ...splitWords(line)]),
  );

/**
 * Returns the sort orders of a view, each in both directions: by its key, and by each column with the tag @orders. The tag
 * names the columns that follow; the columns of the key come last.
 */
export function readOrders(build: GraphileBuild.Build, resource: PgResource): Orders {
  const { codec } = resource;
  const key = primaryKeyOf(resource)!;
  const orders = new Map<string, Order>();
  const add = (name: string, columns: Columns) => {
    for (const isDescending of [false, true]) {
      const full = `${name}_${isDescending ? "DESC" : "ASC"}`;
      if (full !== defaultOrder) orders.set(full, { name: full, columns, isDescending, isDefault: false });
    }
  };
  orders.set(defaultOrder, createKeyOrder(key));
  add("ID", key);
  for (const names of readOrderTags(codec)) {
    const columns = readOrderColumns(build, resource, names);
    if (!columns) continue;
    const fields = names.map((name) => fieldNameOf(build, codec, name));
    const others = key.filter(({ name }) => !names.includes(name));
    add(fields.map((field) => build.inflection.constantCase(field)).join("_AND_"), [
      ...columns,
      ...others,
    ] as never);
  }
  return orders;
}

const describeOrder = (
  build: GraphileBuild.Build,
  codec: PgCodec,
  { columns, isDescending, isDefault }: Order,
): string => {
  if (isDefault) return "By id, oldest first. This is the default.";
  const fields = columns.map(({ name }) => `\`${fieldNameOf(build, codec, name)}\``);
  const nulls = columns[0].isNullable ? `, nulls ${isDescending ? "first" : "last"}` : "";
  return `By ${fields.join(", then ")}, ${isDescending ? "descending" : "ascending"}${nulls}.`;
};

/** Makes the enum of a view's orders, for example `ProductOrderBy`. */
export function registerOrderEnum(build: GraphileBuild.Build, codec: PgCodec, orders: Orders): void {
  const typeName = build.inflection.tableType(codec);
  build.registerEnumType(
    `${typeName}OrderBy`,
    {},
    () => ({
      description: `Sort orders of lists of type ${typeName}, each backed by an index. Null sorts as greater than all values.`,
      values: Object.fromEntries(
        [...orders.values()].map((order) => [
          order.name,
          { description: describeOrder(build, codec, order) },
        ]),
      ),
    }),
    "WiderListsPlugin",
  );
}
