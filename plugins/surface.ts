import type {} from "postgraphile";
import type { PgResource } from "postgraphile/@dataplan/pg";

/**
 * What a view without tags offers: one root field by id, one root connection, its relations. Lists without pages,
 * look-ups by other unique columns, and writing to views are never offered: functions change data. A schema without any
 * view is a mistake and not built.
 */
export const SurfacePlugin: GraphileConfig.Plugin = {
  name: "SurfacePlugin",
  description: "Offers views by id and as connections, and nothing else",
  version: "1.0.0",
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
