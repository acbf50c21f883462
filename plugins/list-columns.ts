import type {} from "postgraphile";
import type { PgSelectSingleStep, PgSelectStep } from "postgraphile/@dataplan/pg";
import { TYPES } from "postgraphile/@dataplan/pg";
import type { FieldArgs, FieldInfo, Step } from "postgraphile/grafast";
import { inhibitIf } from "postgraphile/grafast";
import type { GraphQLOutputType } from "postgraphile/graphql";
import { getNamedType, GraphQLList, GraphQLNonNull, isNonNullType } from "postgraphile/graphql";
import { sql } from "postgraphile/pg-sql2";
import { keepsMeaning } from "../src/reads/field-source.ts";

const listOf = (type: GraphQLOutputType) => new GraphQLList(new GraphQLNonNull(getNamedType(type)));

/**
 * Columns that are arrays, of texts or of a composite type such as prices: `[Price!]`.
 *
 * The library unnests arrays of composites in SQL, where an array that is null has no elements just like an empty
 * one. Here null stays null.
 */
export const ListColumnsPlugin: GraphileConfig.Plugin = {
  name: "ListColumnsPlugin",
  description: "Lists in columns have no null elements, and a list that is null is not an empty one",
  version: "1.0.0",
  schema: {
    hooks: {
      GraphQLObjectType_fields_field(field, _build, { scope }) {
        const { pgFieldAttribute: attribute, pgCodec: codec } = scope;
        if (!attribute?.codec.arrayOfCodec) return field;
        const isRequired = isNonNullType(field.type);
        field.type = isRequired ? new GraphQLNonNull(listOf(field.type)) : listOf(field.type);
        if (isRequired || !attribute.codec.arrayOfCodec.attributes) return field;
        const name = Object.entries(codec!.attributes).find(([, candidate]) => candidate === attribute)![0];
        const { plan } = field;
        field.plan = keepsMeaning(plan, ($row: PgSelectSingleStep, args: FieldArgs, info: FieldInfo) => {
          const $rows = (plan!($row, args, info) as unknown as PgSelectStep).items();
          const column = sql`${$row.getClassStep().alias}.${sql.identifier(name)}`;
          return inhibitIf($rows as Step, $row.select(sql`${column} is null`, TYPES.boolean, true));
        });
        return field;
      },
    },
  },
};
