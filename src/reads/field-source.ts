import type {} from "postgraphile";
import type { PgCodec, PgCodecAttribute, PgResource } from "postgraphile/@dataplan/pg";
import type { Aggregate, Groups } from "./groups.ts";
import type { FilterFields } from "./filter-conditions.ts";
import type { Followed } from "./followed.ts";
import type { FunctionCall } from "./function-call.ts";
import type { Hop } from "./hops.ts";
import type { Key } from "./keys.ts";
import type { Orders } from "./orders.ts";
import type { KeyOf } from "../graphql/global-id.ts";
import type { GraphQLField, GraphQLObjectType } from "postgraphile/graphql";
import type { SQL } from "postgraphile/pg-sql2";

/** The source of a field in SQL. */
export type FieldSource =
  | { kind: "column"; name: string; attribute: PgCodecAttribute }
  /** The row that a column refers to. */
  | { kind: "related"; hop: Hop }
  /** What a function with arguments makes of the row. */
  | { kind: "function"; call: FunctionCall; codec: PgCodec }
  /** The row that a function returns, if it returns one. `present` is a column of it that is never null. */
  | { kind: "returned"; call: FunctionCall; present: string | undefined }
  /**
   * A page of rows: all rows of a view, those at the end of hops, or those that a function returns. `list` is the name in
   * its cursors.
   */
  | {
      kind: "list";
      resource: PgResource;
      key: Key;
      list: string;
      hops: readonly Hop[];
      call: FunctionCall | undefined;
      filterFields: FilterFields | undefined;
      followed: Followed | undefined;
      /** The orders that it offers beside that of its key. */
      orders: Orders | undefined;
      /** The function that searches it, if it can be searched. */
      search: SQL | undefined;
    }
  /** The row with a global id, of the field's type. */
  | { kind: "row" }
  /** The row with a global id, of any type. */
  | { kind: "node" }
  /** Rows with global ids, of any types. */
  | { kind: "nodes" }
  /** A mutation. */
  | { kind: "mutation" }
  /** A column of a mutation's payload with the id of a row, or the ids of rows. */
  | { kind: "entity"; name: string; rows: Rows; isList: boolean }
  /** Another column of a payload. */
  | { kind: "value"; name: string }
  /** Parts of a page. */
  | { kind: "edges" | "pageInfo" | "entry" | "cursor" | "totalCount" | "count" | "precision" }
  /** Aggregates of all rows of a list: together, in groups; and what they show. */
  | { kind: "aggregates" | "aggregate" | "entryCount" | "groupKeys" }
  | { kind: "groupedAggregates"; groups: Groups }
  | { kind: "aggregated"; aggregate: Aggregate }
  | { kind: "hasNextPage" | "hasPreviousPage" | "startCursor" | "endCursor" };

/** A view with its key. */
export interface Rows {
  resource: PgResource;
  key: Key;
}

declare module "postgraphile/graphql" {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** The source of the field in SQL, if known. */
    source?: FieldSource;
  }
  interface GraphQLObjectTypeExtensions<_TSource, _TContext> {
    /** The view of the type's rows. */
    rows?: Rows;
  }
  interface GraphQLSchemaExtensions {
    /** The key columns of types. */
    keyOf?: KeyOf;
  }
}

type PlanResolver = ((...args: never[]) => unknown) | undefined;

// A field without its own plan reads the property of its name; that is built into the library.
const registered = new WeakSet<NonNullable<PlanResolver>>();
const isRegistered = (plan: PlanResolver): boolean => plan === undefined || registered.has(plan);

/** Registers a plan as the one that the source of its field describes. */
export function register(plan: PlanResolver): void {
  if (plan) registered.add(plan);
}

/**
 * Registers a plan that replaces another one, as one that preserves the source of its field. Only for plans whose
 * effect src/reads has an SQL form of: fields with other plans are left to Grafast.
 */
export function preservesSource<T extends NonNullable<PlanResolver>>(before: PlanResolver, plan: T): T {
  if (isRegistered(before)) registered.add(plan);
  return plan;
}

/** The source of a field, if its plan is still a registered one; otherwise undefined. */
export function sourceOf(field: GraphQLField<unknown, unknown>): FieldSource | undefined {
  const { source, grafast } = field.extensions as typeof field.extensions & {
    grafast?: { plan?: PlanResolver };
  };
  const isUntouched =
    field.resolve === undefined && field.subscribe === undefined && isRegistered(grafast?.plan);
  return isUntouched ? source : undefined;
}

/** The view of a type's rows. */
export const rowsOfType = (type: GraphQLObjectType): Rows | undefined => type.extensions.rows;
