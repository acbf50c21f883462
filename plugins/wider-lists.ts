import type { PgCodec } from "postgraphile/@dataplan/pg";
import type { Step } from "postgraphile/grafast";
import { lambda } from "postgraphile/grafast";
import { GraphQLInt, GraphQLNonNull, GraphQLString } from "postgraphile/graphql";
import { maxCount } from "../src/reads/lists.ts";
import { withSource } from "../src/reads/field-source.ts";
import type { Orders } from "../src/reads/orders.ts";
import type { PageOfRows } from "./lib/list-page.ts";
import { readOrders, registerOrderEnum } from "./lib/order-enums.ts";
import { listViews } from "./lib/views.ts";

declare global {
  namespace GraphileBuild {
    interface Build {
      /** Sort orders of each view's lists. In versions without it, lists have one order and direction. */
      listOrders?: Map<PgCodec, Orders>;
    }
  }
}

const exact = "EXACT";
const atLeast = "AT_LEAST";

/** Makes the types of `totalCount`. */
function registerCount(build: GraphileBuild.Build): void {
  build.registerEnumType(
    "CountPrecision",
    {},
    () => ({
      description: "Precision of a count.",
      values: {
        [exact]: { description: "The count is exact." },
        [atLeast]: { description: `There are more entries: counting stops at ${maxCount}.` },
      },
    }),
    "WiderListsPlugin",
  );
  const planFromCount =
    <Value>(work: (count: number) => Value) =>
    ($count: Step) =>
      lambda($count, (count) => work(Number(count)));
  build.registerObjectType(
    "TotalCount",
    {},
    () => ({
      description: "Number of entries of a list, on all of its pages.",
      fields: ({ fieldWithHooks }) => ({
        count: fieldWithHooks({ fieldName: "count" }, () =>
          withSource("count", {
            description: `The number of entries, ${maxCount} at most.`,
            type: new GraphQLNonNull(GraphQLInt),
            plan: planFromCount((count) => Math.min(count, maxCount)),
          }),
        ),
        precision: fieldWithHooks({ fieldName: "precision" }, () =>
          withSource("precision", {
            description: "Whether `count` is exact, or there are more entries.",
            type: new GraphQLNonNull(build.getOutputTypeByName("CountPrecision")),
            plan: planFromCount((count) => (count > maxCount ? atLeast : exact)),
          }),
        ),
      }),
    }),
    "WiderListsPlugin",
  );
}

/**
 * Adds backward pagination (`last`, `before`), sort orders (`orderBy`) and the number of entries (`totalCount`) to lists.
 */
export const WiderListsPlugin: GraphileConfig.Plugin = {
  name: "WiderListsPlugin",
  description: "Adds last, before and orderBy to connections, and totalCount",
  after: ["ConnectionsPlugin"],
  schema: {
    hooks: {
      build(build) {
        return build.extend(build, { listOrders: new Map() }, "Adding the orders of lists");
      },
      init: {
        after: ["PgCodecs", "FiltersPlugin"],
        callback(_, build) {
          registerCount(build);
          for (const resource of listViews(build)) {
            // Only views that have a filter
            if (!build.filterFields.has(resource.codec)) continue;
            const orders = readOrders(build, resource);
            build.listOrders!.set(resource.codec, orders);
            registerOrderEnum(build, resource.codec, orders);
          }
          return _;
        },
      },
      GraphQLObjectType_fields(fields, build, { Self, scope, fieldWithHooks }) {
        if (!scope.isConnectionType || !build.listOrders!.has(scope.pgCodec as PgCodec)) return fields;
        const totalCount = fieldWithHooks({ fieldName: "totalCount" }, () =>
          withSource("totalCount", {
            description: `Number of entries of the list, on all pages, with its filter. Counting stops at ${maxCount}.`,
            type: new GraphQLNonNull(build.getOutputTypeByName("TotalCount")),
            plan: ($page: Step) => ($page as PageOfRows).totalCount(),
          }),
        );
        return build.extend(fields, { totalCount }, `Adding totalCount to ${Self.name}`);
      },
      GraphQLObjectType_fields_field_args(args, build, { Self, scope }) {
        const codec = scope.pgFieldResource?.codec as PgCodec | undefined;
        if (!scope.isPgFieldConnection || !codec || !build.listOrders!.has(codec)) return args;
        const name = `${build.inflection.tableType(codec)}OrderBy`;
        const wider = build.extend(
          args,
          {
            last: { type: GraphQLInt },
            before: { type: GraphQLString },
            orderBy: { type: build.getInputTypeByName(name) },
          },
          `Adding the other page arguments to ${Self.name}.${scope.fieldName}`,
        );
        // No default, because `last` excludes `first`
        return { ...wider, first: { ...wider.first!, defaultValue: undefined } };
      },
    },
  },
};
