import type {} from "postgraphile";
import type {
  PgCodec,
  PgCodecAnyScalar,
  PgCodecWithAttributes,
  PgResource,
  PgSelectQueryBuilder,
} from "postgraphile/@dataplan/pg";
import { isEnumCodec, TYPES } from "postgraphile/@dataplan/pg";
import type { FieldArg, Step } from "postgraphile/grafast";
import { lambda } from "postgraphile/grafast";
import type { GraphQLInputFieldConfigMap, GraphQLInputType } from "postgraphile/graphql";
import { GraphQLBoolean, GraphQLList, GraphQLNonNull } from "postgraphile/graphql";
import type { FilterColumn, FilterColumns, FilterValue } from "./filter-conditions.ts";
import { filterCondition } from "./filter-conditions.ts";
import type { Operator } from "./filter-operators.ts";
import { enumOperators, operators, operatorsOfScalar } from "./filter-operators.ts";
import type { RowConnection } from "./page.ts";
import { rowsOf } from "./page.ts";
import { takesNoFilter } from "./relations.ts";
import { requirementOf } from "./scopes.ts";
import { tagText } from "./tags.ts";

declare global {
  namespace GraphileBuild {
    interface Build {
      /** What the filter of each view can look at. */
      filterColumns: Map<PgCodec, FilterColumns>;
    }
  }
}

/** Operators for a GraphQL type, or undefined when there is no filter for values of the type. */
function operatorsFor(codec: PgCodec, typeName: string): Record<string, Operator> | undefined {
  const isEnum = isEnumCodec(codec) || codec.extensions?.enumOfText !== undefined;
  const names = isEnum ? enumOperators : operatorsOfScalar[typeName];
  return names && Object.fromEntries(names.map((name) => [name, operators[name]]));
}

/** Name of the scalar or enum that stands for an SQL type; "" for lists and composites. */
function typeNameOf(build: GraphileBuild.Build, codec: PgCodec): string {
  if (codec.arrayOfCodec || codec.attributes) return "";
  return build.getGraphQLTypeNameByPgCodec(codec, "input") ?? "";
}

/** The columns that the tag @filters of a view names. */
function columnsOf(
  build: GraphileBuild.Build,
  codec: PgCodecWithAttributes,
): Map<string, FilterColumn & { typeName: string }> {
  const wanted = tagText(codec, "filters") ?? "";
  const names = wanted.split(/[\s,]+/).filter(Boolean);
  const missing = names.find((name) => name !== "*" && !codec.attributes[name]);
  if (missing) throw new Error(`@filters of ${codec.name}: no column ${missing}`);
  const columns = new Map<string, FilterColumn & { typeName: string }>();
  for (const [name, attribute] of Object.entries(codec.attributes)) {
    const named = name === "id" || names.includes(name);
    if (!named && !names.includes("*")) continue;
    if (!build.behavior.pgCodecAttributeMatches([codec, name], "attribute:select")) continue;
    const typeName = typeNameOf(build, attribute.codec);
    // Who may not read a column must not find out its values by comparing, so one with scopes of its own is left out.
    const offered = requirementOf(attribute) ? undefined : operatorsFor(attribute.codec, typeName);
    if (!offered && named)
      throw new Error(`@filters of ${codec.name}: ${name} has no filter: wrong type, or scopes of its own`);
    if (!offered) continue;
    // A smallint is compared as an integer, so that a larger value is merely not found.
    const operandCodec = (attribute.codec === TYPES.int2 ? TYPES.int : attribute.codec) as PgCodecAnyScalar;
    const fieldName = build.inflection.attribute({ codec, attributeName: name });
    columns.set(fieldName, { name, codec: operandCodec, operators: offered, typeName });
  }
  return columns;
}

/**
 * The `filter` argument of connections: one input type per view, with the columns that its tag @filters names, and
 * one per scalar, with its operators. What a filter means is in filter-conditions.ts.
 */
export const FiltersPlugin: GraphileConfig.Plugin = {
  name: "FiltersPlugin",
  description: "Adds `filter` to connections, driven by the tags @filters and @noFilter",
  version: "1.0.0",
  schema: {
    hooks: {
      build(build) {
        return build.extend(build, { filterColumns: new Map() }, "Adding what filters can look at");
      },
      init: {
        after: ["PgCodecs"],
        callback(_, build) {
          const scalars = new Map<string, Record<string, Operator>>();
          for (const resource of Object.values(build.pgResources) as PgResource[]) {
            const { codec } = resource;
            if (
              !codec.attributes ||
              resource.parameters ||
              !resource.uniques.some((unique) => unique.isPrimary)
            )
              continue;
            if (!build.behavior.pgResourceMatches(resource, "resource:select")) continue;
            const columns = columnsOf(build, codec as PgCodecWithAttributes);
            build.filterColumns.set(codec, columns);
            for (const column of columns.values()) scalars.set(column.typeName, column.operators);
            registerFilterInput(build, codec, columns);
          }
          for (const [typeName, offered] of scalars) registerScalarFilter(build, typeName, offered);
          return _;
        },
      },
      GraphQLObjectType_fields_field_args(args, build, { Self, scope }) {
        const { fieldName, isPgFieldConnection, pgFieldResource } = scope;
        const columns = pgFieldResource && build.filterColumns.get(pgFieldResource.codec);
        if (!isPgFieldConnection || !columns || takesNoFilter(scope)) return args;
        const typeName = build.inflection.tableType(pgFieldResource.codec);
        return build.extend(
          args,
          {
            filter: {
              description: "Which entries the list has; without it, all.",
              type: build.getInputTypeByName(`${typeName}FilterInput`),
              applyPlan(_$parent: Step, $connection: RowConnection, argument: FieldArg) {
                rowsOf($connection).apply(lambda(argument.getRaw(), filterRows(columns)));
              },
            },
          },
          `Adding the filter argument to ${Self.name}.${fieldName}`,
        );
      },
    },
  },
};

/** The condition is made from the value at run time, so that another value needs no other plan. */
const filterRows = (columns: FilterColumns) => (filter: FilterValue | null | undefined) => {
  const keepAll = () => {};
  if (filter == null) return keepAll;
  return (rows: PgSelectQueryBuilder) => {
    const condition = filterCondition(columns, filter, rows.alias);
    if (condition) rows.where(condition);
  };
};

function registerFilterInput(
  build: GraphileBuild.Build,
  codec: PgCodec,
  columns: ReadonlyMap<string, FilterColumn & { typeName: string }>,
): void {
  const name = `${build.inflection.tableType(codec)}FilterInput`;
  build.registerInputObjectType(
    name,
    { pgCodec: codec },
    () => ({
      description: "Conditions that must all hold. An empty filter holds for everything.",
      fields: () => {
        const self = build.getInputTypeByName(name);
        const list = new GraphQLList(new GraphQLNonNull(self));
        const fields: GraphQLInputFieldConfigMap = {};
        for (const [fieldName, { typeName, name: column }] of columns) {
          const about = codec.attributes?.[column]?.description;
          fields[fieldName] = {
            type: build.getInputTypeByName(`${typeName}Filter`),
            description: `Condition on \`${fieldName}\`${about ? `: ${about}` : "."}`,
          };
        }
        return {
          ...fields,
          AND: { type: list, description: "Filters that must all hold. An empty list holds for everything." },
          OR: {
            type: list,
            description: "Filters of which one must hold. An empty list holds for everything.",
          },
          NOT: {
            type: self,
            description:
              "A filter that must not hold. Where it compares with null it neither holds nor fails, as in SQL.",
          },
        };
      },
    }),
    "FiltersPlugin",
  );
}

function registerScalarFilter(
  build: GraphileBuild.Build,
  typeName: string,
  offered: Record<string, Operator>,
): void {
  build.registerInputObjectType(
    `${typeName}Filter`,
    {},
    () => ({
      description: `Comparisons of a value of type ${typeName}, which must all hold.`,
      fields: () => {
        const type = build.getInputTypeByName(typeName);
        const operandTypes: Record<Operator["operand"], GraphQLInputType> = {
          value: type,
          list: new GraphQLList(new GraphQLNonNull(type)),
          flag: GraphQLBoolean,
        };
        return Object.fromEntries(
          Object.entries(offered).map(([name, { operand, description }]) => [
            name,
            { type: operandTypes[operand], description },
          ]),
        );
      },
    }),
    "FiltersPlugin",
  );
}
