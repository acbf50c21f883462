import type {} from "postgraphile";
import type { PgResource } from "postgraphile/@dataplan/pg";
import type { FieldArgs, FieldInfo, Step } from "postgraphile/grafast";
import { constant, lambda } from "postgraphile/grafast";
import type { GraphQLOutputType } from "postgraphile/graphql";
import {
  getNamedType,
  getNullableType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLString,
} from "postgraphile/graphql";
import { defaultPageSize } from "../src/graphql/page-size.ts";
import { followedOf } from "./lib/followed.ts";
import type { EdgeOfRows } from "./lib/page.ts";
import type { RowsStep } from "./lib/page-rows.ts";
import { cursorOf, PageInfoOfRows, PageOfRows } from "./lib/page.ts";
import type { Key } from "../src/reads/keys.ts";
import { keyOfResource } from "./lib/keys.ts";
import { preservesSource } from "../src/reads/field-source.ts";
import type { PagedList, RawPage } from "../src/reads/page-request.ts";
import { readPage } from "../src/reads/page-request.ts";

const nonNull = (type: GraphQLOutputType) => new GraphQLNonNull(getNullableType(type));

/** The primary key of a view, which orders its lists. */
function keyOf(resource: PgResource): Key {
  const key = keyOfResource(resource);
  if (!key) throw new Error(`${resource.name} can't be listed: it has no @primaryKey`);
  return key;
}

/** The page that the arguments of a list request. */
function planPage($rows: RowsStep, list: PagedList, args: FieldArgs): PageOfRows {
  const raw = (name: keyof RawPage) =>
    list.orders || name === "first" || name === "after" ? args.getRaw(name) : constant(undefined);
  const [$first, $last, $after, $before, $orderBy] = [
    ...[raw("first"), raw("last"), raw("after"), raw("before"), raw("orderBy")],
  ] as [Step, Step, Step, Step, Step];
  const $page = lambda(
    [$first, $last, $after, $before, $orderBy] as const,
    ([first, last, after, before, orderBy]: readonly unknown[]) =>
      readPage(list, { first, last, after, before, orderBy } as RawPage),
  );
  const $raw = { first: $first, last: $last, after: $after, before: $before, orderBy: $orderBy };
  return new PageOfRows($rows, list, { $raw, $page });
}

/**
 * Relay connections: `edges` and `pageInfo`, `first` and `after`. WiderListsPlugin adds the other direction, orders and
 * counts.
 *
 * Lists are ordered by primary key. Keys grow with time, so the oldest rows come first, and rows that are added while a
 * client reads pages come after the last page. Rows of followed lists may also come late (src/reads/followed.ts).
 */
export const ConnectionsPlugin: GraphileConfig.Plugin = {
  name: "ConnectionsPlugin",
  description:
    "Shapes connections: edges and pageInfo, first and after, cursors, exact hasNextPage and hasPreviousPage",
  version: "1.0.0",
  schema: {
    hooks: {
      GraphQLObjectType_fields(fields, _build, { scope }) {
        if (!scope.isConnectionType) return fields;
        const shown = { ...fields };
        delete shown.nodes;
        return shown;
      },
      GraphQLObjectType_fields_field(field, build, { Self, scope }) {
        const { fieldName } = scope;
        if (scope.isPgFieldConnection) {
          const { plan } = field;
          const resource = scope.pgFieldResource as PgResource;
          const list = `${Self.name}.${fieldName}`;
          // A function may leave out what came late
          const followed = scope.readFunction ? undefined : followedOf(resource);
          const details = {
            ...{ list, key: keyOf(resource), followed },
            orders: build.listOrders?.get(resource.codec),
          };
          field.type = nonNull(field.type);
          field.plan = preservesSource(plan, ($parent: Step, args: FieldArgs, info: FieldInfo) => {
            const $connection = plan!($parent, args, info) as Pick<PageOfRows, "getSubplan">;
            return planPage($connection.getSubplan(), details, args);
          });
        }
        if (scope.isConnectionType && fieldName === "edges") {
          field.type = nonNull(new GraphQLList(nonNull(getNamedType(field.type))));
        }
        if (scope.isConnectionType && fieldName === "pageInfo") {
          field.plan = preservesSource(field.plan, ($page: PageOfRows) => new PageInfoOfRows($page));
        }
        if (scope.isConnectionEdgeType && fieldName === "node") field.type = nonNull(field.type);
        if (scope.isCursorField) {
          field.type = nonNull(GraphQLString);
          field.plan = preservesSource(field.plan, ($edge: EdgeOfRows) => cursorOf($edge.node()));
        }
        if (scope.isPageInfoStartCursorField || scope.isPageInfoEndCursorField) field.type = GraphQLString;
        return field;
      },
      GraphQLObjectType_fields_field_args(args, build, { Self, scope }) {
        if (!scope.isPgFieldConnection || !scope.pgFieldResource) return args;
        return build.extend(
          args,
          { first: { type: GraphQLInt, defaultValue: defaultPageSize }, after: { type: GraphQLString } },
          `Adding the page arguments to ${Self.name}.${scope.fieldName}`,
        );
      },
    },
  },
};
