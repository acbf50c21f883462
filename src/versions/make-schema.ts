import { setImmediate as nextTurn } from "node:timers/promises";
import { makeSchema } from "postgraphile";
import { buildInflection, gather, getBuilder } from "postgraphile/graphile-build";
import type { SchemaBuilder, SchemaResult } from "postgraphile/graphile-build";
import { GraphQLInputObjectType, GraphQLObjectType } from "postgraphile/graphql";

/** Milliseconds of work after which requests get their turn. */
const turnMs = 10;

type FieldsType = GraphQLObjectType | GraphQLInputObjectType;
type NewWithHooks = (build: unknown, klass: unknown, spec: object, scope: object) => FieldsType;

/**
 * Builds the same schema as the library's `makeSchema`, in many short pieces, between which requests are answered. The library
 * computes the fields of a type as soon as the type is used, and so all fields together. Here, each type has its turn later.
 * Relies on internals of graphile-build 5.1.1: docs/internals/upstream.md.
 */
export async function makeSchemaInTurns(preset: GraphileConfig.Preset): Promise<SchemaResult> {
  const { resolvedPreset } = getBuilder(preset);
  const inflection = buildInflection(resolvedPreset);
  const input = await gather(resolvedPreset, { inflection });
  await nextTurn();
  const builder = getBuilder(resolvedPreset, inflection);
  const build = builder.createBuild(input);
  await nextTurn();
  builder.initBuild(build);
  await nextTurn();
  const later = deferFields(builder);
  for (const name of ["Query", "Mutation", "Subscription"]) build.getTypeByName(name);
  let since = performance.now();
  for (const type of later.types) {
    // The library leaves out a type without fields, but this one is in use already
    if (Object.keys(type.getFields()).length === 0) return makeSchema(preset);
    if (performance.now() - since < turnMs) continue;
    await nextTurn();
    since = performance.now();
  }
  later.end();
  // `buildSchema` uses the build from above
  builder.createBuild = () => build;
  return { schema: builder.buildSchema(input), resolvedPreset };
}

/** Defers the fields of new types. `types` grows while it is iterated. */
function deferFields(builder: SchemaBuilder): { types: FieldsType[]; end: () => void } {
  const types: FieldsType[] = [];
  const newWithHooks = builder.newWithHooks as unknown as NewWithHooks;
  const deferring: NewWithHooks = (build, klass, spec, scope) => {
    const type = newWithHooks(build, klass, spec, scope);
    const hasFields = klass === GraphQLObjectType || klass === GraphQLInputObjectType;
    if (hasFields && !mayBeEmpty(scope)) {
      types.push(type);
      defer(type);
    }
    return type;
  };
  const use = (method: NewWithHooks) => Object.assign(builder, { newWithHooks: method });
  use(deferring);
  return { types, end: () => use(newWithHooks) };
}

/** Whether a type may have no fields: types of aggregates have none if there is nothing to aggregate. */
const mayBeEmpty = (scope: object): boolean =>
  Object.keys(scope).some((key) => key.startsWith("isPgAggregate"));

/** Answers the first call of `getFields`, which only checks whether there are any, without computing the fields. */
function defer(type: FieldsType): void {
  const own = type as { getFields?: () => object };
  own.getFields = () => {
    delete own.getFields;
    return { later: true };
  };
}
