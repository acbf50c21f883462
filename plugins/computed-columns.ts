import type { PgCodec, PgCodecAttribute, PgRegistry, PgResource } from "postgraphile/@dataplan/pg";
import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import { nameWithoutView } from "./lib/read-functions.ts";
import { hasTag } from "./lib/tags.ts";
import { toExactCodec } from "./lib/text-codecs.ts";

/** Returns the view of a function whose only argument is a row of a view; undefined for other functions. */
function findViewOfRow({ parameters, isMutation, isUnique, codec }: PgResource): PgCodec | undefined {
  const [row, ...others] = parameters ?? [];
  const isOfRow = row?.codec.attributes && row.codec.extensions?.isTableLike !== false;
  const isColumn = others.length === 0 && !isMutation && isUnique && !codec.attributes;
  return isOfRow && isColumn ? row.codec : undefined;
}

/**
 * Makes computed columns of functions over a view's row: `products_margin(product api_unstable.products)` becomes the
 * column `margin`. It works like other columns: in both executors, with scopes by tags, and in filters.
 */
export const ComputedColumnsPlugin: GraphileConfig.Plugin = {
  name: "ComputedColumnsPlugin",
  description: "Shows stable functions over a view's row as fields of its type",
  before: ["IdColumnsPlugin"],
  gather: {
    hooks: {
      pgRegistry_PgRegistry(_info, event) {
        const { pgResources } = event.registry as PgRegistry;
        for (const resource of Object.values(pgResources) as PgResource[]) {
          const view = findViewOfRow(resource);
          if (view) addColumn(view, resource);
        }
      },
    },
  },
};

function addColumn(view: PgCodec, { extensions, codec, description }: PgResource): void {
  const { schemaName, name } = extensions!.pg!;
  const column = nameWithoutView(name, view);
  const attributes = view.attributes as Record<string, PgCodecAttribute>;
  if (attributes[column])
    throw new Error(`The function ${name} clashes with the column ${view.name}.${column}`);
  attributes[column] = {
    codec: toExactCodec(codec),
    notNull: hasTag({ extensions }, "notNull"),
    description,
    expression: (rows: SQL) => sql`${sql.identifier(schemaName, name)}(${rows})`,
    extensions: { tags: extensions?.tags ?? {} },
  } as PgCodecAttribute;
}
