import type { PgResource } from "postgraphile/@dataplan/pg";
import type { Tagged } from "./lib/tags.ts";
import { tagLines } from "./lib/tags.ts";
import { findViewByType } from "./lib/views.ts";

/** A line of the tag: `2026-12-01 Use netPrice.`, or with the name of a part: `price 2026-12-01 Use netPrice.` */
const pattern = /^(?:(\S+)\s+)?(\d{4}-\d\d-\d\d)\s+(\S.*)$/;

/**
 * Returns the reason why something is deprecated, from the tag of a comment.
 *
 * @param names the names that a part may have there; none for the commented object itself
 */
function readReason(thing: Tagged | null | undefined, ...names: string[]): string | undefined {
  for (const line of tagLines(thing, "deprecated")) {
    const [, name, day, reason] = pattern.exec(line) ?? [];
    if (day === undefined)
      throw new Error(`@deprecated ${line}: it needs a day such as 2026-12-01 and a reason`);
    if (name === undefined ? names.length === 0 : names.includes(name))
      return `${reason!.replace(/\.?$/, ".")} Deprecated since ${day}.`;
  }
  return undefined;
}

const toSnakeCase = (name: string) => name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, "_").toLowerCase();

function findFieldReason(
  build: GraphileBuild.Build,
  scope: GraphileBuild.ScopeObjectFieldsField,
): string | undefined {
  const { fieldName, mutationFunction, readFunction, payloadOf, pgCodec, nodeAccessorTypeName } = scope;
  if (mutationFunction ?? readFunction) return readReason(mutationFunction ?? readFunction!.resource);
  if (scope.isRootQuery) {
    const view =
      scope.pgFieldResource ?? (nodeAccessorTypeName && findViewByType(build, nodeAccessorTypeName));
    return readReason((view as PgResource | undefined)?.codec);
  }
  if (payloadOf) return readReason(payloadOf.codec.attributes?.[toSnakeCase(fieldName)]);
  if (!pgCodec || scope.isConnectionType || scope.isConnectionEdgeType) return undefined;
  return (
    readReason(pgCodec, fieldName, toSnakeCase(fieldName)) ??
    readReason(scope.pgFieldAttribute as Tagged | undefined)
  );
}

/**
 * Adds `@deprecated` from comments: `@deprecated 2026-12-01 Use netPrice.` on a view, a function or a column. On a view,
 * the name of a column or relation may come before the day; on an enum type, the name of a value.
 */
export const DeprecationsPlugin: GraphileConfig.Plugin = {
  name: "DeprecationsPlugin",
  description: "Adds @deprecated, with reason and day, from the tag of a comment",
  schema: {
    hooks: {
      // The library reads the tag as well, but knows neither the day nor the names of parts
      GraphQLObjectType_fields_field(field, build, { scope }) {
        field.deprecationReason = findFieldReason(build, scope);
        return field;
      },
      GraphQLInputObjectType_fields_field(field, _build, { scope }) {
        field.deprecationReason = readReason(scope.pgAttribute);
        return field;
      },
      GraphQLEnumType_values_value(config, _build, { scope }) {
        const reason = readReason(scope.pgCodec as Tagged | undefined, String(config.value));
        if (reason !== undefined) config.deprecationReason = reason;
        return config;
      },
    },
  },
};
