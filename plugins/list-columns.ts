import type { PgCodec, PgSelectSingleStep, PgSelectStep } from "postgraphile/@dataplan/pg";
import { TYPES } from "postgraphile/@dataplan/pg";
import type { FieldArgs, FieldInfo, Step } from "postgraphile/grafast";
import { inhibitIf } from "postgraphile/grafast";
import type { GraphQLOutputType } from "postgraphile/graphql";
import { getNamedType, GraphQLList, GraphQLNonNull, isNonNullType } from "postgraphile/graphql";
import { sql } from "postgraphile/pg-sql2";
import { getElementCodec } from "../src/reads/codecs.ts";
import { withSource } from "../src/reads/field-source.ts";
import { hasTag } from "./lib/tags.ts";
import { findColumnSource } from "./reads.ts";

function makeListType(type: GraphQLOutputType, mayHoldNull: boolean) {
  const element = getNamedType(type);
  return new GraphQLList(mayHoldNull ? element : new GraphQLNonNull(element));
}

/**
 * Types columns that are arrays of texts, or of a composite type such as prices: `[Price!]`, or `[String]` with the
 * derived tag @nullElements.
 *
 * The library unnests arrays of composites in SQL, where a null array looks like an empty one. Here null stays null.
 */
export const ListColumnsPlugin: GraphileConfig.Plugin = {
  name: "ListColumnsPlugin",
  description:
    "Types columns that are lists: elements are null only where the table allows it, and null isn't an empty list",
  schema: {
    hooks: {
      GraphQLObjectType_fields_field(field, _build, { scope }) {
        const { pgFieldAttribute: attribute } = scope;
        const element = attribute && getElementCodec(attribute.codec as PgCodec);
        if (!element) return field;
        const isRequired = isNonNullType(field.type);
        const type = makeListType(field.type, hasTag(attribute, "nullElements"));
        field.type = isRequired ? new GraphQLNonNull(type) : type;
        const source = findColumnSource(scope);
        if (isRequired || !element.attributes || !source) return field;
        const { plan } = field;
        return withSource(source, {
          ...field,
          plan($row: PgSelectSingleStep, args: FieldArgs, info: FieldInfo) {
            const $rows = (plan!($row, args, info) as PgSelectStep).items();
            const column = sql`${$row.getClassStep().alias}.${sql.identifier(source.name)}`;
            return inhibitIf($rows as Step, $row.select(sql`${column} is null`, TYPES.boolean, true));
          },
        });
      },
    },
  },
};
