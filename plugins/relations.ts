import type {} from "postgraphile";
import type { PgCodec, PgCodecRelation } from "postgraphile/@dataplan/pg";
import { hasTag, tagLines } from "./lib/tags.ts";

export type FieldScope = GraphileBuild.ScopeObjectFieldsField;

/** The foreign key, seen from the field's type, that a relation field follows; undefined for other fields. */
export function relationOf({ pgRelationDetails }: FieldScope): PgCodecRelation | undefined {
  if (!pgRelationDetails) return undefined;
  const { registry, relationName } = pgRelationDetails;
  const codec = pgRelationDetails.codec as PgCodec;
  return registry.pgRelations[codec.name]?.[relationName];
}

/**
 * Whether the list of a relation takes no filter: the foreign key or the function has the tag @noFilter, or the line of the ref has the
 * word noFilter (`@ref fulfillments to:Fulfillment plural noFilter`).
 */
export function takesNoFilter(scope: FieldScope): boolean {
  if (hasTag(scope.readFunction?.resource ?? relationOf(scope), "noFilter")) return true;
  const { codec, ref } = scope.pgRefDetails ?? {};
  const name = Object.entries(codec?.refs ?? {}).find(([, candidate]) => candidate === ref)?.[0];
  const words = tagLines(codec, "ref").map((line) => line.split(/\s+/));
  return words.some(([refName, ...rest]) => refName === name && rest.includes("noFilter"));
}

/**
 * Foreign keys always give a field forward, but backward only with a declared name: a list that nobody needs would
 * still have to stay fast.
 */
export const RelationsPlugin: GraphileConfig.Plugin = {
  name: "RelationsPlugin",
  description: "Adds a backward relation only where the foreign key has the tag @foreignFieldName",
  version: "1.0.0",
  schema: {
    entityBehavior: {
      pgCodecRelation: {
        inferred(behavior, relation) {
          const named = hasTag(relation, "foreignFieldName") || hasTag(relation, "foreignSingleFieldName");
          return relation.isReferencee && !named ? [behavior, "-*"] : behavior;
        },
      },
    },
  },
};
