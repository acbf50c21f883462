import type {} from "postgraphile";
import type { PgCodec, PgCodecAttribute, PgResource } from "postgraphile/@dataplan/pg";
import type { Aggregate, Groups } from "./aggregation.ts";
import type { FilterFields } from "./filter-conditions.ts";
import type { FunctionCall } from "./function-call.ts";
import type { Hop } from "./hops.ts";
import type { Key } from "./keys.ts";
import type { PagedList } from "./page-request.ts";
import type { KeyOf } from "../graphql/global-id.ts";
import type { GraphQLField } from "postgraphile/graphql";
import type { SQL } from "postgraphile/pg-sql2";

/** The source of a field in SQL. */
export type FieldSource =
  | { kind: "column"; name: string; attribute: PgCodecAttribute }
  /** The row that a column refers to. */
  | { kind: "related"; hop: Hop }
  /** The value that a function with arguments returns for the row. */
  | { kind: "function"; call: FunctionCall; codec: PgCodec }
  /** The row that a function returns, if any. `present` is a column of it that is never null. */
  | { kind: "returned"; call: FunctionCall; present: string | undefined }
  | ListSource
  /** A column of a mutation's payload with the id of a row, or the ids of rows. */
  | { kind: "entity"; name: string; rows: Rows; isList: boolean }
  /** Another column of a payload. */
  | { kind: "value"; name: string }
  /** Aggregates of all rows of a list in groups, and a value that aggregates show. */
  | { kind: "groupedAggregates"; groups: Groups }
  | { kind: "aggregated"; aggregate: Aggregate }
  | { kind: SimpleKind };

/** The row with a global id (of the field's type, or of any type); rows with global ids; a mutation. */
type RootKind = "row" | "node" | "nodes" | "mutation";
type PageKind = "edges" | "pageInfo" | "entry" | "cursor" | "totalCount" | "count" | "precision";
type PageInfoKind = "hasNextPage" | "hasPreviousPage" | "startCursor" | "endCursor";
/** Aggregates of all rows of a list, and their fields. */
type AggregateKind = "aggregates" | "aggregate" | "entryCount" | "groupKeys";
/** Kinds of sources without further properties. */
type SimpleKind = RootKind | PageKind | PageInfoKind | AggregateKind;

/** A page of rows: all rows of a view, the rows at the end of hops, or the rows that a function returns. */
export interface ListSource extends PagedList {
  kind: "list";
  resource: PgResource;
  hops: readonly Hop[];
  call: FunctionCall | undefined;
  filterFields: FilterFields | undefined;
  /** The function that searches the list, if it can be searched. */
  search: SQL | undefined;
}

/** A view with its key. */
export interface Rows {
  resource: PgResource;
  key: Key;
}

type PlanResolver = ((...args: never[]) => unknown) | undefined;

declare module "postgraphile/graphql" {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** The source of the field in SQL, and the plan with which Grafast reads the same. */
    described?: { source: FieldSource; plan: PlanResolver };
  }
  interface GraphQLObjectTypeExtensions<_TSource, _TContext> {
    /** The view of the type's rows. */
    rows?: Rows;
  }
  interface GraphQLSchemaExtensions {
    /** Returns the key columns of a type. */
    keyOf?: KeyOf;
  }
}

/**
 * Declares the source of a field in SQL, in addition to its plan; undefined for a field that only Grafast reads. A plan that
 * replaces this one needs its own declaration; without it, Grafast reads the field.
 */
export const withSource = <Field extends { plan?: PlanResolver; extensions?: object | null | undefined }>(
  source: FieldSource | SimpleKind | undefined,
  field: Field,
): Field => {
  if (source === undefined) return field;
  const described = { source: typeof source === "string" ? { kind: source } : source, plan: field.plan };
  return { ...field, extensions: { ...field.extensions, described } };
};

/** Returns the source of a field, if its plan is still the one that was declared with it. */
export function findSource({
  extensions,
  resolve,
  subscribe,
}: GraphQLField<unknown, unknown>): FieldSource | undefined {
  const { described, grafast } = extensions as typeof extensions & { grafast?: { plan?: PlanResolver } };
  const isUnchanged = resolve === undefined && subscribe === undefined && grafast?.plan === described?.plan;
  return isUnchanged ? described?.source : undefined;
}
