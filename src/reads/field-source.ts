import type {} from "postgraphile";
import type { PgCodecAttribute, PgResource } from "postgraphile/@dataplan/pg";
import type { FilterColumns } from "./filter-conditions.ts";
import type { Followed } from "./followed.ts";
import type { GraphQLField, GraphQLObjectType } from "postgraphile/graphql";

/** Two columns that must be equal: of a row at hand, and of the row that is looked for. */
export interface Match {
  local: string;
  remote: string;
}

/** From one view to the next. */
export interface Hop {
  to: PgResource;
  on: readonly Match[];
}

/** What a field stands for in SQL. */
export type FieldSource =
  | { kind: "column"; name: string; attribute: PgCodecAttribute }
  /** The one row that a column points at. */
  | { kind: "related"; hop: Hop }
  /** A page of rows: all of a view, or those that hops lead to. `list` is the name in its cursors. */
  | {
      kind: "list";
      resource: PgResource;
      key: string;
      list: string;
      hops: readonly Hop[];
      filterColumns: FilterColumns | undefined;
      followed: Followed | undefined;
    }
  /** The row with a global id, of the field's type. */
  | { kind: "row" }
  /** The row with a global id, of any type. */
  | { kind: "node" }
  /** Parts of a page. */
  | { kind: "edges" | "pageInfo" | "entry" | "cursor" }
  | { kind: "hasNextPage" | "hasPreviousPage" | "startCursor" | "endCursor" };

/** A view with its key column. */
export interface Rows {
  resource: PgResource;
  key: string;
}

declare module "postgraphile/graphql" {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** What the field stands for in SQL, if that is known. */
    source?: FieldSource;
  }
  interface GraphQLObjectTypeExtensions<_TSource, _TContext> {
    /** The view that the type's objects are rows of. */
    rows?: Rows;
  }
}

type PlanResolver = ((...args: never[]) => unknown) | undefined;

// A field without a plan of its own reads the property of its name; the library has that built in.
const registered = new WeakSet<NonNullable<PlanResolver>>();
const isRegistered = (plan: PlanResolver): boolean => plan === undefined || registered.has(plan);

/** Registers a plan as one that does what the source of its field says. */
export function register(plan: PlanResolver): void {
  if (plan) registered.add(plan);
}

/**
 * Registers a plan, which takes the place of another, as one that preserves the source of its field. Only for plans whose effect
 * src/reads has an SQL form of: fields with other plans are left to Grafast.
 */
export function preservesSource<T extends NonNullable<PlanResolver>>(before: PlanResolver, plan: T): T {
  if (isRegistered(before)) registered.add(plan);
  return plan;
}

/** What a field stands for, if its plan is still one that does that; otherwise undefined. */
export function sourceOf(field: GraphQLField<unknown, unknown>): FieldSource | undefined {
  const { source, grafast } = field.extensions as typeof field.extensions & {
    grafast?: { plan?: PlanResolver };
  };
  const isUntouched =
    field.resolve === undefined && field.subscribe === undefined && isRegistered(grafast?.plan);
  return isUntouched ? source : undefined;
}

/** The view that a type's objects are rows of. */
export const rowsOf = (type: GraphQLObjectType): Rows | undefined => type.extensions.rows;
