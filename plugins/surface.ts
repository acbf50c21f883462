import type { PgResource } from "postgraphile/@dataplan/pg";
import { hasTag } from "./lib/tags.ts";

/**
 * What a view without tags offers: one root field by id, one root connection, its relations. Lists without pages,
 * look-ups by other unique columns, and writing to views are never offered: functions change data. A schema without any
 * view is a mistake and not built.
 *
 * Foreign keys always give a field forward, but backward only with a declared name: a list that nobody needs would
 * still have to stay fast.
 */
export const SurfacePlugin: GraphileConfig.Plugin = {
  name: "SurfacePlugin",
  description: "Offers views by id and as connections, and relations back where they have a name",
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
