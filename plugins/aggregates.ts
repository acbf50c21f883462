import { PgAggregatesPreset } from "@graphile/pg-aggregates";
import type { PgCodec, PgResource, PgSelectQueryBuilder } from "postgraphile/@dataplan/pg";
import { PgSelectSingleStep, TYPES } from "postgraphile/@dataplan/pg";
import type { FieldArg, FieldArgs, FieldInfo, Step } from "postgraphile/grafast";
import { each, lambda } from "postgraphile/grafast";
import type { GraphQLString } from "postgraphile/graphql";
import { getNamedType, GraphQLInt, GraphQLList, GraphQLNonNull } from "postgraphile/graphql";
import { sql } from "postgraphile/pg-sql2";
import { maxAggregated, maxGroups, buildSizeCheck } from "../src/reads/aggregation.ts";
import { withSource } from "../src/reads/field-source.ts";
import {
  aggregatedColumns,
  groupColumns,
  groupSpecs,
  readGroups,
  isAggregated,
  adaptSpecs,
} from "./lib/aggregate-specs.ts";
import type { RowsStep, RowStep } from "./lib/list-page.ts";
import { fieldNameOf, findKeyedView } from "./lib/views.ts";

/** The library's plugins that we use. Conditions on groups, and sorting and filtering by aggregates, aren't offered. */
const offeredPlugins = new Set([
  "PgAggregatesInflectorsPlugin",
  "PgAggregatesSpecsPlugin",
  "PgAggregatesAddGroupByAggregateEnumsPlugin",
  "PgAggregatesAddGroupByAggregateEnumValuesForAttributesPlugin",
  "PgAggregatesAddAggregateTypesPlugin",
  "PgAggregatesAddConnectionAggregatesPlugin",
  "PgAggregatesAddConnectionGroupedAggregatesPlugin",
]);

const addBehavior = (behavior: GraphileBuild.BehaviorString, more: string) => [
  behavior,
  more as GraphileBuild.BehaviorString,
];

/** Returns the behavior of a column: `@aggregates` names columns to aggregate, `@groupBy` columns to count and group by. */
function columnBehavior(codec: PgCodec, name: string): string {
  if (!isAggregated(codec)) return "-aggregate -groupBy";
  const [isWanted, isKey] = [aggregatedColumns(codec).includes(name), groupColumns(codec).includes(name)];
  return [
    isWanted ? "aggregate" : "-aggregate",
    isKey
      ? "distinctCount:attribute:aggregate attribute:groupBy orderBy"
      : "-distinctCount:attribute:aggregate -groupBy",
  ].join(" ");
}

const describer = (what: string, others: string) => (field: string | null) =>
  field === null ? `${what} of each field${others}.` : `${what} of \`${field}\`${others}.`;

/** Descriptions of aggregates, by the id of the library's spec. */
const descriptions: Partial<Record<string, ReturnType<typeof describer>>> = {
  sum: describer("The sum", "; 0 if there are no values"),
  average: describer("The mean", ", rounded to six decimals; null if there are no values"),
  min: describer("The minimum", "; null if there are no values"),
  max: describer("The maximum", "; null if there are no values"),
  distinctCount: describer("The number of distinct values", ", without null"),
};

/** Plans the keys of a group, as texts. */
function planGroupKeys($row: RowStep): Step {
  return lambda([$row.getClassStep().getGroupDetails(), $row] as const, ([details, row]) => {
    const { indicies } = details as GroupDetails;
    return indicies.length === 0 || !row ? null : indicies.map((key) => keyText(key, row as Row));
  });
}

interface GroupDetails {
  indicies: readonly { index: number; codec: PgCodec }[];
}
type Row = readonly (string | null)[];

function keyText({ index, codec }: GroupDetails["indicies"][number], row: Row): string | null {
  const text = row[index] ?? null;
  return text !== null && codec.extensions?.globalIdOf !== undefined ? (codec.fromPg(text) as string) : text;
}

/** Compares texts by their code points; nulls come last. */
const compareKeys = (one: string | null, other: string | null): number =>
  one === null || other === null
    ? Number(one === null) - Number(other === null)
    : Buffer.compare(Buffer.from(one), Buffer.from(other));

// The library applies arguments to the step that a plan returns
const groupsBySortedStep = new WeakMap<Step, RowsStep>();

function sortGroups($groups: RowsStep): Step {
  const $rows = lambda([$groups.items(), $groups.getGroupDetails()] as const, ([rows, details]) => {
    const { indicies } = details as GroupDetails;
    const keys = (row: Row) => indicies.map((key) => keyText(key, row));
    return (rows as unknown as Row[])
      .map((row) => ({ row, keys: keys(row) }))
      .sort((one, other) => one.keys.reduce((found, key, n) => found || compareKeys(key, other.keys[n]!), 0))
      .map(({ row }) => row);
  });
  const $sorted = each($rows, ($row) => new PgSelectSingleStep($groups, $row as never));
  groupsBySortedStep.set($sorted, $groups);
  return $sorted;
}

/** Makes a query fail if it aggregates more entries or groups than allowed. */
const limitAggregates = (isGrouped: boolean) => (rows: PgSelectQueryBuilder) =>
  void rows.selectAndReturnIndex(
    isGrouped
      ? buildSizeCheck(sql`sum(count(*)) over ()`, sql`count(*) over ()`)
      : buildSizeCheck(sql`count(*)`, sql`0`),
  );

/** Adapts the library's aggregates: which views and columns have them, how much they may read, and their descriptions. */
const AggregatesPlugin: GraphileConfig.Plugin = {
  name: "AggregatesPlugin",
  description: "Limits aggregates, and offers them for views with the tag @aggregates",
  after: [...offeredPlugins],
  schema: {
    behaviorRegistry: {
      add: {
        // The library looks it up even without its plugin for conditions on groups
        ["resource:groupedAggregates:having" as never]: {
          description: "Conditions on groups, which aren't offered",
          entities: ["pgResource"],
        },
      },
    },
    entityBehavior: {
      pgResource: {
        override: (behavior, { codec, parameters }) =>
          addBehavior(
            behavior,
            !parameters && isAggregated(codec as PgCodec)
              ? "aggregates aggregate groupedAggregates order"
              : "-aggregates -aggregate -groupedAggregates",
          ),
      },
      pgCodecAttribute: {
        override: (behavior, [codec, name]) => addBehavior(behavior, columnBehavior(codec as PgCodec, name)),
      },
    },
    hooks: {
      build(build) {
        // Changes the library's own arrays, because it reads them later
        const { pgAggregateSpecs: specs, pgAggregateGroupBySpecs: others } = build as GraphileBuild.Build;
        specs.splice(0, Infinity, ...adaptSpecs(specs));
        others.splice(0, Infinity, ...groupSpecs);
        return build;
      },
      GraphQLObjectType(config, _build, { scope }) {
        if (scope.isPgAggregateContainerType) config.description = "Aggregates of several entries.";
        if (scope.isPgAggregateType) config.description = descriptions[scope.pgAggregateSpec!.id]!(null);
        return config;
      },
      GraphQLEnumType(config, build, { scope }) {
        if (!scope.isPgAggregateGroupEnum) return config;
        const { codec } = scope.pgTypeResource as PgResource;
        return {
          ...config,
          description: `Fields by which entries of type ${build.inflection.tableType(codec)} can be grouped.`,
        };
      },
      GraphQLObjectType_fields(fields, _build, { scope, fieldWithHooks }) {
        if (!scope.isPgAggregateContainerType) return fields;
        const { keys, ...others } = fields;
        return {
          keys: fieldWithHooks({ fieldName: "keys" }, () =>
            withSource("groupKeys", {
              description:
                "Values that the entries of the group have in common, as strings, in the order of `groupBy`.",
              type: keys!.type as GraphQLList<typeof GraphQLString>,
              plan: ($row: Step) => planGroupKeys($row as RowStep),
            }),
          ),
          count: fieldWithHooks({ fieldName: "count" }, () =>
            withSource("entryCount", {
              description: "The number of entries.",
              type: new GraphQLNonNull(GraphQLInt),
              plan: ($row: Step) => ($row as RowStep).select(sql`count(*)::int`, TYPES.int, true),
            }),
          ),
          ...others,
        };
      },
      GraphQLObjectType_fields_field(field, build, { scope }) {
        const { fieldName, isConnectionType, pgCodec, pgAggregateSpec } = scope;
        if (scope.isPgAggregateField || scope.isPgConnectionAggregateField)
          field.description = descriptions[pgAggregateSpec!.id]!(
            scope.isPgConnectionAggregateField ? fieldName : null,
          );
        if (!isConnectionType || !pgCodec || !isAggregated(pgCodec as PgCodec)) return field;
        const { plan } = field;
        const resource = findKeyedView(build, pgCodec as PgCodec)?.resource;
        if (fieldName === "aggregates")
          return withSource(resource && "aggregates", {
            ...field,
            description: `Aggregates of all entries, on all pages. More than ${maxAggregated} entries are refused.`,
            plan($page: Step, args: FieldArgs, info: FieldInfo) {
              const $row = plan!($page, args, info) as RowStep;
              $row.getClassStep().apply(lambda(null, () => limitAggregates(false)));
              return $row;
            },
          });
        if (fieldName === "groupedAggregates") {
          const groups = resource && readGroups(build, resource);
          return withSource(groups && { kind: fieldName, groups }, {
            ...field,
            type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(getNamedType(field.type)))),
            description:
              "Aggregates of groups of entries, sorted by their keys as strings. " +
              `More than ${maxGroups} groups, or ${maxAggregated} entries, are refused.`,
            plan($page: Step, args: FieldArgs, info: FieldInfo) {
              const $groups = plan!($page, args, info) as RowsStep;
              $groups.apply(lambda(null, () => limitAggregates(true)));
              return sortGroups($groups);
            },
          });
        }
        return field;
      },
      GraphQLObjectType_fields_field_args(args, _build, { scope }) {
        const { groupBy } = args;
        if (!scope.isConnectionType || scope.fieldName !== "groupedAggregates" || !groupBy) return args;
        groupBy.description = "Fields whose values the entries of a group have in common. Times are in UTC.";
        groupBy.applyPlan = (_$parent: Step, $sorted: Step, argument: FieldArg) => {
          argument.apply(groupsBySortedStep.get($sorted)!);
        };
        return args;
      },
      GraphQLEnumType_values(values, build, { scope }) {
        const resource = scope.pgTypeResource as PgResource | undefined;
        if (!scope.isPgAggregateGroupEnum || !resource) return values;
        for (const [name, { column }] of readGroups(build, resource)) {
          const field = fieldNameOf(build, resource.codec, column);
          const part = /_TRUNCATED_TO_(HOUR|DAY|MONTH)$/.exec(name)?.[1];
          const value = values[name];
          if (!value) throw new Error(`${resource.name} can't be grouped by ${column}`);
          value.description = part
            ? `The ${part.toLowerCase()} of \`${field}\`, in UTC.`
            : `The value of \`${field}\`.`;
        }
        return values;
      },
    },
  },
};

export const aggregatesPreset: GraphileConfig.Preset = {
  plugins: [...PgAggregatesPreset.plugins!.filter(({ name }) => offeredPlugins.has(name)), AggregatesPlugin],
};
