import type { PgCodec, PgSelectQueryBuilder } from "postgraphile/@dataplan/pg";
import type { FieldArg, Step } from "postgraphile/grafast";
import { lambda } from "postgraphile/grafast";
import type {
  FilterColumn,
  FilterFields,
  FilterRelation,
  FilterValue,
} from "../src/reads/filter-conditions.ts";
import { buildCondition, readFilter } from "../src/reads/filter-conditions.ts";
import type { TypedColumn } from "./lib/filter-inputs.ts";
import { readFilterColumns, registerFilterInput, registerScalarFilter } from "./lib/filter-inputs.ts";
import type { PageOfRows } from "./lib/list-page.ts";
import { takesNoFilter, listViews } from "./lib/views.ts";

declare global {
  namespace GraphileBuild {
    interface Build {
      /** The fields of each view's filter. */
      filterFields: Map<PgCodec, Map<string, FilterColumn | FilterRelation>>;
    }
    interface ScopeInputObject {
      /** The view whose rows the input filters. */
      filteredRows?: PgCodec;
    }
  }
}

/**
 * Adds the `filter` argument to connections: one input type per view, with the columns in its tag @filters, and one per
 * scalar, with its operators. src/reads/filter-conditions.ts defines what filters mean.
 */
export const FiltersPlugin: GraphileConfig.Plugin = {
  name: "FiltersPlugin",
  description: "Adds `filter` to connections, driven by the tags @filters and @noFilter",
  schema: {
    hooks: {
      build(build) {
        return build.extend(build, { filterFields: new Map() }, "Adding the fields of filters");
      },
      init: {
        after: ["PgCodecs"],
        callback(_, build) {
          const types = new Map<string, TypedColumn>();
          for (const resource of listViews(build)) {
            const { codec, uniques } = resource;
            if (!uniques.some((unique) => unique.isPrimary)) continue;
            if (!build.behavior.pgResourceMatches(resource, "resource:select")) continue;
            const columns = readFilterColumns(build, resource);
            build.filterFields.set(codec, new Map(columns));
            for (const column of columns.values()) types.set(column.typeName, column);
            registerFilterInput(build, codec, columns);
          }
          for (const type of types.values()) registerScalarFilter(build, type, type.operators);
          return _;
        },
      },
      GraphQLObjectType_fields_field_args(args, build, { Self, scope }) {
        const { fieldName, isPgFieldConnection, pgFieldResource } = scope;
        const codec = pgFieldResource?.codec as PgCodec | undefined;
        const fields = codec && build.filterFields.get(codec);
        if (!isPgFieldConnection || !fields || takesNoFilter(scope)) return args;
        const typeName = build.inflection.tableType(codec);
        return build.extend(
          args,
          {
            filter: {
              description: "Filter for the entries of the list; without it, the list has all.",
              type: build.getInputTypeByName(`${typeName}FilterInput`),
              applyPlan(_$parent: Step, $page: PageOfRows, argument: FieldArg) {
                $page.getSubplan().apply(lambda(argument.getRaw(), filterRows(fields)));
              },
            },
          },
          `Adding the filter argument to ${Self.name}.${fieldName}`,
        );
      },
    },
  },
};

/** Filters rows by a value that is read at run time, so that other values use the same plan. */
const filterRows = (fields: FilterFields) => (filter: FilterValue | null | undefined) => {
  const keepAll = () => {};
  if (filter == null) return keepAll;
  return (rows: PgSelectQueryBuilder) => {
    const condition = buildCondition(readFilter(fields, filter), rows.alias);
    if (condition) rows.where(condition);
  };
};
