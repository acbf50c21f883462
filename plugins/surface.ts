import type { PgResource } from "postgraphile/@dataplan/pg";
import { hasTag } from "./lib/tags.ts";

/**
 * Decides what a view without tags offers: one root field by id, one root connection, its relations. Lists without
 * pagination, look-ups by other unique columns and writes to views are never offered: functions change data. A schema
 * without views is refused as a mistake.
 *
 * A foreign key always makes a forward field, but a backward one only with a declared name: even a list that nobody needs
 * would have to stay fast.
 */
export const SurfacePlugin: GraphileConfig.Plugin = {
  name: "SurfacePlugin",
  description: "Offers views by id and as connections, and backward relations that have a name",
  gather: {
    hooks: {
      pgRegistry_PgRegistry(info, { registry }) {
        const resources = Object.values(registry.pgResources) as PgResource[];
        if (resources.some(({ uniques }) => uniques.length > 0)) return;
        const names = info.resolvedPreset.pgServices?.flatMap(({ schemas = [] }) => schemas).join(", ");
        throw new Error(`The Postgres schema ${names} has no views. Have the migrations run?`);
      },
    },
  },
  schema: {
    entityBehavior: {
      pgCodecRelation: {
        inferred(behavior, relation) {
          const named = hasTag(relation, "foreignFieldName") || hasTag(relation, "foreignSingleFieldName");
          return relation.isReferencee && !named ? [behavior, "-*"] : behavior;
        },
      },
    },
    globalBehavior: [
      "node",
      "connection",
      "-list",
      "-query:resource:single",
      "-resource:insert",
      "-resource:update",
      "-resource:delete",
    ],
  },
};
