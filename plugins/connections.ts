import type { PgResource } from "postgraphile/@dataplan/pg";
import type { FieldArgs, FieldInfo, Step } from "postgraphile/grafast";
import { constant, lambda, object } from "postgraphile/grafast";
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
import type { EdgeOfRows, RowsStep } from "./lib/list-page.ts";
import { planCursor, PageOfRows } from "./lib/list-page.ts";
import type { Key } from "../src/reads/keys.ts";
import { primaryKeyOf } from "./lib/view-keys.ts";
import type { FieldSource } from "../src/reads/field-source.ts";
import { withSource } from "../src/reads/field-source.ts";
import type { PagedList, RawPage } from "../src/reads/page-request.ts";
import { readPage } from "../src/reads/page-request.ts";
import type { FieldScope } from "./lib/views.ts";
import { readFollowedTag, findHops, findKeyedView, findSearchFunction } from "./lib/views.ts";

const nonNull = (type: GraphQLOutputType) => new GraphQLNonNull(getNullableType(type));

const pageInfoFields = ["hasNextPage", "hasPreviousPage", "startCursor", "endCursor"] as const;
const isPageInfoField = (name: string): name is (typeof pageInfoFields)[number] =>
  pageInfoFields.some((one) => one === name);

/** Returns the primary key of a view, by which its lists are sorted. */
function requirePrimaryKey(resource: PgResource): Key {
  const key = primaryKeyOf(resource);
  if (!key) throw new Error(`${resource.name} can't be listed: it has no @primaryKey`);
  return key;
}

/** Returns the SQL source of a list: all rows of a view, the rows at the end of hops, or the rows that a function returns. */
function listSource(
  build: GraphileBuild.Build,
  scope: FieldScope,
  resource: PgResource,
  list: PagedList,
): FieldSource | undefined {
  const { readFunction } = scope;
  const hops = readFunction ? [] : findHops(scope);
  if (!hops || findKeyedView(build, resource.codec)?.resource !== resource) return undefined;
  const target = hops.at(-1)?.to;
  if (target !== undefined && target !== resource) return undefined;
  return {
    kind: "list",
    ...list,
    resource,
    hops,
    call: readFunction?.call,
    filterFields: build.filterFields.get(resource.codec),
    search: scope.isRootQuery && !readFunction ? findSearchFunction(resource) : undefined,
  };
}

/** Plans the page that the arguments of a list request. */
function planPage($rows: RowsStep, list: PagedList, args: FieldArgs): PageOfRows {
  const raw = (name: keyof RawPage): Step =>
    list.orders || name === "first" || name === "after" ? args.getRaw(name) : constant(undefined);
  const [$after, $orderBy] = [raw("after"), raw("orderBy")];
  const $raw = object({
    first: raw("first"),
    last: raw("last"),
    after: $after,
    before: raw("before"),
    orderBy: $orderBy,
  });
  const $page = lambda($raw, (given) => readPage(list, given as RawPage));
  return new PageOfRows($rows, list, { $after, $orderBy, $page });
}

/**
 * Makes Relay connections: `edges` and `pageInfo`, `first` and `after`. WiderListsPlugin adds backward pagination, sort
 * orders and counts.
 *
 * Lists are sorted by primary key. Keys grow with time, so the oldest rows come first, and rows that are added while a
 * client reads pages come after the last page. Rows of followed lists may also appear late (src/reads/followed.ts).
 */
export const ConnectionsPlugin: GraphileConfig.Plugin = {
  name: "ConnectionsPlugin",
  description:
    "Shapes connections: edges and pageInfo, first and after, cursors, exact hasNextPage and hasPreviousPage",
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
          const list: PagedList = {
            list: `${Self.name}.${fieldName}`,
            key: requirePrimaryKey(resource),
            // A function may leave out rows that appeared late
            followed: scope.readFunction ? undefined : readFollowedTag(resource),
            orders: build.listOrders?.get(resource.codec),
          };
          return withSource(listSource(build, scope, resource, list), {
            ...field,
            type: nonNull(field.type),
            plan($parent: Step, args: FieldArgs, info: FieldInfo) {
              const $connection = plan!($parent, args, info) as Pick<PageOfRows, "getSubplan">;
              return planPage($connection.getSubplan(), list, args);
            },
          });
        }
        if (scope.isConnectionType && fieldName === "edges") {
          field.type = nonNull(new GraphQLList(nonNull(getNamedType(field.type))));
        }
        if (scope.isConnectionType && fieldName === "pageInfo") {
          // Its value is the page itself, so each field costs only if it is requested
          return withSource("pageInfo", { ...field, plan: ($page: PageOfRows) => $page });
        }
        if (scope.isConnectionEdgeType && fieldName === "node") field.type = nonNull(field.type);
        if (scope.isCursorField) {
          const plan = ($edge: EdgeOfRows) => planCursor($edge.node());
          return withSource("cursor", { ...field, type: nonNull(GraphQLString), plan });
        }
        if (scope.isPageInfo && isPageInfoField(fieldName)) {
          if (fieldName.endsWith("Cursor")) field.type = GraphQLString;
          return withSource(fieldName, { ...field, plan: ($page: PageOfRows) => $page[fieldName]() });
        }
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
